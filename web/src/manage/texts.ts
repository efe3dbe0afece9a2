// The texts of this script, which are not in the one that every visitor loads.
import { manage } from '#texts';
import { count } from '../format';
import { functions } from '../strings';

const sentences = functions(manage.sentences);
type Counts = Record<keyof typeof manage.counts, (n: number) => string>;

export const m = {
  ...manage.text, ...sentences,
  ...(Object.fromEntries(Object.entries(manage.counts).map(([key, { one, other }]) => [key, (n: number) => (n === 1 ? one : other.replace('%d', count(n)))])) as Counts),
};
