// Numbers, sizes and times in the language of the page.
import { config } from './config';

const { locale } = config;

// Creating the first formatter takes as long as rendering the page, so formatters are created on demand.
function once<T>(make: () => T): () => T {
  let made: T | undefined;
  return () => (made ??= make());
}

const exact = once(() => new Intl.NumberFormat(locale));
const compactNumber = once(() => new Intl.NumberFormat(locale, { notation: 'compact', maximumFractionDigits: 1 }));
const day = once(() => new Intl.DateTimeFormat(locale, { dateStyle: 'medium' }));
const relative = once(() => new Intl.RelativeTimeFormat(locale, { numeric: 'auto' }));
const length = once(() => new Intl.NumberFormat(locale, { maximumSignificantDigits: 3 }));

/** Creates the first formatter, so that rendering the page does not have to. */
export const prepare = () => void day();

// Integers below a thousand, which most counts are, look the same in every language of the page.
export const count = (n: number) => (n < 1000 ? String(n) : exact().format(n));
export const compact = (n: number) => (n < 1000 ? String(n) : compactNumber().format(n));
export const date = (time: string) => day().format(new Date(time));
export const clock = (time: number) => new Date(time).toLocaleTimeString(locale);
export const millimeters = (size: { x: number; y: number; z: number }) => `${[size.x, size.y, size.z].map((side) => length().format(side)).join(' × ')} mm`;

const steps: [Intl.RelativeTimeFormatUnit, number][] = [['year', 31_557_600], ['month', 2_629_800], ['week', 604_800], ['day', 86_400], ['hour', 3600], ['minute', 60]];

/** Formats a time as the time since then: “3 days ago”. */
export function ago(time: string): string {
  const seconds = (new Date(time).getTime() - Date.now()) / 1000;
  for (const [unit, size] of steps) if (Math.abs(seconds) >= size) return relative().format(Math.round(seconds / size), unit);
  return relative().format(0, 'second'); // “now”
}

/** Isolates a name that has letters of a right-to-left script or control characters, so that it does not change the order of the text around it. */
export const isolated = (name: string) => (/[\u0590-\u08ff\u200e\u200f\u202a-\u202e\u2066-\u2069\ufb1d-\ufefc]/.test(name) ? `\u2068${name}\u2069` : name);

const units = ['kilobyte', 'megabyte', 'gigabyte', 'terabyte'];

/** Formats a number of bytes: “1.2 MB”. */
export function bytes(n: number): string {
  if (n < 1000) return `${n} B`;
  const step = Math.min(Math.floor(Math.log10(n) / 3), units.length);
  return new Intl.NumberFormat(locale, { style: 'unit', unit: units[step - 1], unitDisplay: 'short', maximumSignificantDigits: 3 }).format(n / 1000 ** step);
}

/** Formats a duration in its largest unit: “5 min”. */
export function duration(seconds: number): string {
  const [unit, size] = seconds < 60 ? ['second', 1] as const : seconds < 3600 ? ['minute', 60] as const : ['hour', 3600] as const;
  return new Intl.NumberFormat(locale, { style: 'unit', unit, unitDisplay: 'short', maximumFractionDigits: 0 }).format(Math.ceil(seconds / size));
}

/** Formats a measured number with at most two decimals. */
export const decimal = (n: number) => n.toLocaleString(locale, { maximumFractionDigits: 2 });

/** Formats the time of a print in two units: “1 h 24 min”. */
export function printingTime(seconds: number): string {
  const minutes = Math.max(1, Math.round(seconds / 60));
  const parts: [number, string][] = [[Math.floor(minutes / 1440), 'day'], [Math.floor(minutes / 60) % 24, 'hour'], [minutes % 60, 'minute']];
  return parts.filter(([n]) => n > 0).slice(0, 2).map(([n, unit]) => n.toLocaleString(locale, { style: 'unit', unit, unitDisplay: 'short' })).join(' ');
}
