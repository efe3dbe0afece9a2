// The language of the page: the one that the reader chose, else the first of the browser's that there is.
import { config } from './config';

export const locales = ['en', 'de'];

const wanted = [localStorage.getItem('language') ?? '', ...navigator.languages.map((language) => language.slice(0, 2)), config.locale];

export const locale = wanted.find((language) => locales.includes(language)) ?? 'en';
