import { config } from '../config';

/** Formats a mass: “22.5 g”. */
export const grams = (n: number) => `${n.toLocaleString(config.locale, { maximumFractionDigits: n < 100 ? 1 : 0 })} g`;

/** Formats the time of a print in two units: “1 h 24 min”. */
export function printingTime(seconds: number): string {
  const minutes = Math.max(1, Math.round(seconds / 60));
  const parts: [number, string][] = [[Math.floor(minutes / 1440), 'day'], [Math.floor(minutes / 60) % 24, 'hour'], [minutes % 60, 'minute']];
  return parts.filter(([n]) => n > 0).slice(0, 2).map(([n, unit]) => n.toLocaleString(config.locale, { style: 'unit', unit, unitDisplay: 'short' })).join(' ');
}
