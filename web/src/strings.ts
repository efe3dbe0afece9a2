// The texts of the page in its language.
import { locale } from './locale';
import { de } from './strings/de';
import { en, type Strings } from './strings/en';

const languages: Record<string, Strings> = { en, de };

export const t: Strings = languages[locale] ?? en;
export const languageNames = Object.entries(languages).map(([code, strings]) => ({ code, name: strings.language }));
