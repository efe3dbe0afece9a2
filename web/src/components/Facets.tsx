import { useEffect, useState } from 'preact/hooks';
import { compact } from '../format';
import { bedOf, categoryOf, isSame, switches, valuesOf, withParameter, withToggled, type ListName, type SwitchName } from '../filters';
import type { CategoriesData, License, MeshFormat, SearchData } from '../generated';
import { href, navigate } from '../router';
import { t } from '../strings';
import { useTurn } from '../turns';
import { Icon } from './Icon';

type Values = NonNullable<NonNullable<SearchData['search']>['facets']>;
type Value = { value: string; name: string; count: number };

export const switchNames: Record<SwitchName, string> = { featured: t.onlyFeatured, makes: t.hasMakes, watertight: t.watertight, nosupports: t.withoutSupports, wip: t.wip };

/** The name of a value of a filter. */
export function nameOf(list: string, value: string, tree?: CategoriesData): string {
  if (list === 'category') return t.categoryName({ slug: value, name: categoryOf(value, tree)?.name ?? value });
  if (list === 'license') return t.licenses[value.toUpperCase() as License] ?? value;
  if (list === 'format') return t.formats[value.toUpperCase() as MeshFormat] ?? value;
  return list === 'tag' ? `#${value}` : value;
}

/** The filters beside the results of a search. On a small screen a button opens them. */
export function Facets({ query, facets, tree }: { query: URLSearchParams; facets?: Values; tree?: CategoriesData }) {
  // The previous facets stay visible while the next results are loaded.
  const [last, setLast] = useState(facets);
  if (facets && facets !== last) setLast(facets);
  const values = facets ?? last;
  const [open, setOpen] = useState(false);
  useEffect(() => setOpen(false), [query.get('q')]); // on a small screen they would cover the results of a new search
  if (!useTurn()) return <aside class="facets" aria-busy="true" />;
  return (
    <aside class={open ? 'facets open' : 'facets'} aria-label={t.filters}>
      <button type="button" class="button facets-button" aria-expanded={open} onClick={() => setOpen(!open)}><Icon name="sliders" />{t.filters}</button>
      <div class="facets-body">
        <fieldset class="facet">
          <legend class="unseen">{t.filters}</legend>
          {switches.map((name) => (
            <label key={name} class="check">
              <input type="checkbox" checked={query.has(name)} onChange={() => navigate(withParameter(query, name, query.has(name) ? '' : '1'))} />
              <span>{switchNames[name]}</span>
            </label>
          ))}
        </fieldset>
        <Facet title={t.category} name="category" query={query} tree={tree} values={values?.categories.map(({ category, count }) => ({ value: category.slug, name: t.categoryName(category), count }))} />
        <Facet title={t.format} name="format" query={query} values={values?.formats.map(({ format, count }) => ({ value: format.toLowerCase(), name: t.formats[format], count }))} />
        <Facet title={t.license} name="license" query={query} values={values?.licenses.map(({ license, count }) => ({ value: license.toLowerCase(), name: t.licenses[license], count }))} />
        <SizeFacet query={query} />
        <BedFacet query={query} />
        <Facet title={t.tag} name="tag" query={query} values={values?.tags.map(({ tag, count }) => ({ value: tag.slug, name: tag.name, count }))} />
        <Facet title={t.creator} name="creator" query={query} values={values?.creators.map(({ creator, count }) => ({ value: creator.username, name: creator.username, count }))} />
      </div>
    </aside>
  );
}

function Facet({ title, name, query, tree, values = [] }: { title: string; name: ListName; query: URLSearchParams; tree?: CategoriesData; values?: Value[] }) {
  const chosen = valuesOf(query, name);
  if (values.length === 0 && chosen.length === 0) return null;
  // A selected value that no result has must stay visible, so that it can be deselected.
  const missing = chosen.filter((value) => !values.some((one) => isSame(one.value, value))).map((value) => ({ value, name: nameOf(name, value, tree), count: 0 }));
  return (
    <fieldset class="facet">
      <legend>{title}</legend>
      {[...missing, ...values].map(({ value, name: text, count }) => (
        <label key={value} class="check">
          <input type="checkbox" checked={chosen.some((one) => isSame(one, value))} onChange={() => navigate(withToggled(query, name, value))} />
          <span>{text}</span>
          <small>{compact(count)}</small>
        </label>
      ))}
    </fieldset>
  );
}

function SizeFacet({ query }: { query: URLSearchParams }) {
  return (
    <form class="facet size-facet" action={href('/explore')} onSubmit={(event) => {
      event.preventDefault();
      const form = new FormData(event.currentTarget);
      const next = new URLSearchParams(query);
      for (const name of ['min', 'max']) {
        const value = String(form.get(name) ?? '');
        if (Number(value) > 0) next.set(name, value);
        else next.delete(name);
      }
      navigate(`/explore?${next}`);
    }}>
      <fieldset>
        <legend>{t.size}</legend>
        <div class="range">
          <input type="number" name="min" min="0" step="any" inputMode="decimal" aria-label={`${t.size} ${t.from}`} placeholder={t.from} defaultValue={query.get('min') ?? ''} key={`min${query.get('min')}`} />
          <input type="number" name="max" min="0" step="any" inputMode="decimal" aria-label={`${t.size} ${t.to}`} placeholder={t.to} defaultValue={query.get('max') ?? ''} key={`max${query.get('max')}`} />
          <button type="submit" class="button">{t.apply}</button>
        </div>
      </fieldset>
    </form>
  );
}

/** Things that fit on the bed of the visitor's printer, whose size is kept in the browser. */
function BedFacet({ query }: { query: URLSearchParams }) {
  const bed = bedOf(query.get('bed') ?? localStorage.getItem('bed'));
  return (
    <form class="facet size-facet" action={href('/explore')} onSubmit={(event) => {
      event.preventDefault();
      const form = new FormData(event.currentTarget);
      const sides = ['width', 'depth', 'height'].map((name) => Number(form.get(name)));
      const value = bedOf(sides.join('x')) ? sides.join('x') : '';
      if (value) localStorage.setItem('bed', value);
      navigate(withParameter(query, 'bed', value));
    }}>
      <fieldset>
        <legend>{t.fitsBed}</legend>
        <div class="range bed">
          {(['width', 'depth', 'height'] as const).map((name) => (
            <input key={`${name}${bed?.[name]}`} type="number" name={name} min="1" max="100000" step="any" inputMode="decimal" aria-label={`${t.fitsBed}: ${t[name]}`} placeholder={t[name]} defaultValue={bed?.[name] ?? ''} />
          ))}
          <button type="submit" class="button">{t.apply}</button>
        </div>
      </fieldset>
    </form>
  );
}
