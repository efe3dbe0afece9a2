import { holdFocus } from '../focus';
import { bedOf, lists, ranges, switches, valuesOf, withoutFilters, withParameter, withToggled } from '../filters';
import type { CategoriesData } from '../generated';
import { href } from '../router';
import { t } from '../strings';
import { nameOf, switchNames } from './Facets';
import { Icon } from './Icon';

/** The filters that are set, each as a link that removes it. */
export function FilterChips({ query, tree }: { query: URLSearchParams; tree?: CategoriesData }) {
  const chips: { name: string; to: string }[] = [];
  for (const list of lists) for (const value of valuesOf(query, list)) chips.push({ name: nameOf(list, value, tree), to: withToggled(query, list, value) });
  for (const name of switches) if (query.has(name)) chips.push({ name: switchNames[name], to: withParameter(query, name, '') });
  for (const name of ranges) if (query.has(name)) chips.push({ name: `${name === 'min' ? '≥' : '≤'} ${query.get(name)} mm`, to: withParameter(query, name, '') });
  if (bedOf(query.get('bed'))) chips.push({ name: t.fits(query.get('bed')!.replaceAll('x', ' × ')), to: withParameter(query, 'bed', '') });
  if (chips.length === 0) return null;
  return (
    <ul class="chips" onClick={() => holdFocus()()}>
      {chips.map(({ name, to }) => <li key={name}><a class="chip chosen" href={href(to)} aria-label={t.removeFilter(name)}>{name}<Icon name="close" /></a></li>)}
      {chips.length > 1 && <li><a class="chip" href={href(withoutFilters(query))}>{t.clearFilters}</a></li>}
    </ul>
  );
}
