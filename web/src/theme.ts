// The color scheme: that of the system, or the user's choice. The style sheet reads the attribute data-theme.
import { base } from './config';

export const themes = ['auto', 'light', 'dark'] as const;
export type Theme = (typeof themes)[number];

export function storedTheme(): Theme {
  const stored = localStorage.getItem('theme');
  return stored === 'light' || stored === 'dark' ? stored : 'auto';
}

export function applyTheme(theme: Theme) {
  // For the HTML of the server, some of which runs no scripts.
  if (theme !== 'auto' || document.cookie.includes('meshyard_theme=')) {
    document.cookie = `meshyard_theme=${theme}; path=${base}/; max-age=${theme === 'auto' ? 0 : 365 * 24 * 3600}; samesite=lax`;
  }
  if (theme === 'auto') delete document.documentElement.dataset.theme;
  else document.documentElement.dataset.theme = theme;
}

export function setTheme(theme: Theme) {
  localStorage.setItem('theme', theme);
  applyTheme(theme);
}
