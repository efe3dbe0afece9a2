// The configuration that the server writes into the element #config of the HTML.

export type Role = 'MEMBER' | 'MODERATOR' | 'ADMINISTRATOR';

type Config = {
  name: string;
  logo: string;
  baseURL: string;
  user: { id: number; username: string; name: string; role: Role; avatar: string } | null;
  anonymousRead: boolean;
  locale: string; // the language of the page
  languages: { code: string; name: string }[];
  registration?: boolean;
  uploadLimit: number; // bytes of the largest file that the server accepts
  welcome?: string;
  legal?: { title: string; path: string }[];
};

const text = document.getElementById('config')?.textContent;

export const config: Config = {
  name: 'Meshyard', logo: '', baseURL: location.origin, user: null, anonymousRead: true, locale: 'en', languages: [], uploadLimit: Infinity,
  ...(text ? (JSON.parse(text) as Partial<Config>) : {}),
};

/** The path of the base URL without a trailing slash, before each path of the server. */
export const base = new URL(config.baseURL, location.origin).pathname.replace(/\/$/, '');

export const me = config.user;
export const isStaff = me !== null && me.role !== 'MEMBER';
