// The query parameters of the search page.
import type { CategoriesData, License, MeshFormat, SearchFilter, SearchSort, SearchType } from './generated';

/** Parameters that can be repeated, with the filters to which their values belong. */
export const lists = ['category', 'license', 'format', 'tag', 'creator'] as const;
export type ListName = (typeof lists)[number];

/** Parameters that are 1 or absent. */
export const switches = ['featured', 'makes', 'watertight', 'nosupports', 'wip'] as const;
export type SwitchName = (typeof switches)[number];

export const ranges = ['min', 'max'] as const;

/** The sides of the bed of a printer in a query or in the browser, such as 220x220x250, or undefined if there is none. */
export function bedOf(text: string | null) {
  const sides = text?.split('x').map(Number) ?? [];
  if (sides.length !== 3 || !sides.every((side) => side > 0 && side <= 100_000)) return undefined;
  const [width, depth, height] = sides as [number, number, number];
  return { width, depth, height };
}

export function categoryOf(slug: string, tree: CategoriesData | undefined) {
  for (const root of tree?.categories ?? []) for (const category of [root, ...root.children]) if (isSame(category.slug, slug)) return category;
  return undefined;
}

/** Whether two values of a list are the same filter: the server ignores case. */
export const isSame = (one: string, other: string) => one.toLowerCase() === other.toLowerCase();

/** The values of a list, each one once. */
export const valuesOf = (query: URLSearchParams, name: ListName) =>
  query.getAll(name).filter((value, at, all) => all.findIndex((one) => isSame(one, value)) === at);

/** Returns the filter for a query. The categories are needed only if the query contains some. */
export function filterOf(query: URLSearchParams, tree: CategoriesData | undefined): SearchFilter | null {
  const filter: SearchFilter = {};
  const some = (name: ListName) => (query.has(name) ? valuesOf(query, name).slice(0, 100) : undefined);
  const number = (name: string) => (Number(query.get(name)) > 0 ? Number(query.get(name)) : undefined);
  filter.categoryIds = some('category')?.map((slug) => categoryOf(slug, tree)?.id ?? '0'); // no category has the id 0
  filter.licenses = some('license')?.map((name) => name.toUpperCase() as License);
  filter.formats = some('format')?.map((name) => name.toUpperCase() as MeshFormat);
  filter.allTags = some('tag');
  filter.creators = some('creator');
  filter.minSize = number('min');
  filter.maxSize = number('max');
  if (query.get('featured')) filter.isFeatured = true;
  if (query.get('makes')) filter.hasMakes = true;
  if (query.get('watertight')) filter.isWatertight = true;
  if (query.get('nosupports')) filter.printsWithoutSupports = true;
  if (query.get('wip')) filter.isWip = true;
  filter.fitsBed = bedOf(query.get('bed'));
  return Object.values(filter).some((value) => value !== undefined) ? filter : null;
}

/** The sort orders that a type supports, the default first. */
export function sortsOf(type: SearchType, words: boolean): SearchSort[] {
  const best: SearchSort[] = words ? ['RELEVANT'] : [];
  switch (type) {
    case 'THINGS': return [...best, 'POPULAR', 'NEWEST', 'LIKES', 'DOWNLOADS', 'MAKES', 'UPDATED', 'NAME'];
    case 'MAKES': return [...best, 'NEWEST', 'LIKES'];
    case 'USERS': return [...best, 'DESIGNS', 'FOLLOWERS', 'NEWEST', 'NAME'];
    case 'COLLECTIONS': return [...best, 'POPULAR', 'NEWEST', 'NAME'];
  }
}

/** The path of the search with one parameter set, or removed if the value is "". */
export function withParameter(query: URLSearchParams, name: string, value: string): string {
  const changed = new URLSearchParams(query);
  if (value) changed.set(name, value);
  else changed.delete(name);
  return pathOf(changed);
}

/** The path of the search with one value of a list added, or removed if it is there. */
export function withToggled(query: URLSearchParams, name: ListName, value: string): string {
  const changed = new URLSearchParams(query);
  const chosen = valuesOf(query, name);
  const others = chosen.filter((one) => !isSame(one, value));
  changed.delete(name);
  for (const one of others.length < chosen.length ? others : [...chosen, value]) changed.append(name, one);
  return pathOf(changed);
}

export function withoutFilters(query: URLSearchParams): string {
  const changed = new URLSearchParams(query);
  for (const name of [...lists, ...switches, ...ranges, 'bed']) changed.delete(name);
  return pathOf(changed);
}

const pathOf = (query: URLSearchParams) => (query.size ? `/explore?${query}` : '/explore');
