// The language of the page: the one that the user chose, otherwise the first supported language of the browser.
import { config } from './config';

export const locales = ['en', 'de'];

const wanted = [localStorage.getItem('language') ?? '', ...navigator.languages.map((language) => language.slice(0, 2)), config.locale];

export const locale = wanted.find((language) => locales.includes(language)) ?? 'en';
