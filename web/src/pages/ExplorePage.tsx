import { useList, useQuery } from '../cache';
import { CollectionCard } from '../components/CollectionCard';
import { Facets } from '../components/Facets';
import { FilterChips } from '../components/FilterChips';
import { Grid } from '../components/Grid';
import { LinkTabs } from '../components/Tabs';
import { MakeCard } from '../components/MakeCard';
import { Empty, ErrorNotice } from '../components/Notice';
import { PersonCard } from '../components/PersonCard';
import { ThingCard } from '../components/ThingCard';
import { categories, search, type SearchSort, type SearchType } from '../generated';
import { filterOf, sortsOf, withParameter } from '../filters';
import { href, navigate } from '../router';
import { t } from '../strings';
import { useTitle } from '../title';

const types = Object.keys(t.types) as SearchType[];

/** The search. The query of the URL contains all of its state, so that it can be shared and bookmarked. */
export function ExplorePage({ query }: { query: URLSearchParams }) {
  const words = query.get('q') ?? '';
  const type = types.find((one) => one === query.get('type')?.toUpperCase()) ?? 'THINGS';
  const sorts = sortsOf(type, words !== '');
  const sort = sorts.find((one) => one === query.get('sort')?.toUpperCase()) ?? sorts[0]!;
  const tree = useQuery(categories, query.has('category') ? {} : null);
  const variables = query.has('category') && !tree.data ? null : { query: words.slice(0, 200), type, sort, filter: filterOf(query, tree.data), facets: type === 'THINGS' };
  const list = useList(search, variables, (data) => data.search);
  const unknown = list.error?.code === 'BAD_USER_INPUT' || list.error?.code === 'NOT_FOUND'; // a filter has a value that does not exist
  useTitle(words ? t.resultsFor(words) : t.explore);
  const facets = list.data?.search?.facets;
  if (!variables && tree.error) return <ErrorNotice error={tree.error} retry={tree.reload} />;
  return (
    <div class="page explore">
      <h1 class={words ? '' : 'unseen'}>{words ? t.resultsFor(words) : t.explore}</h1>
      <div class="explore-bar">
        <LinkTabs label={t.explore} current={type} tabs={types.map((id) => ({ id, title: t.types[id] }))}
          hrefOf={(id) => href(`/explore?${new URLSearchParams({ ...(words && { q: words }), ...(id !== 'THINGS' && { type: id.toLowerCase() }) })}`)} />
        <label class="sort">
          <span class="unseen">{t.sortBy}</span>
          <select value={sort} onChange={(event) => navigate(withParameter(query, 'sort', event.currentTarget.value as SearchSort))}>
            {sorts.map((one) => <option key={one} value={one}>{t.sorts[one]}</option>)}
          </select>
        </label>
      </div>
      <div class={type === 'THINGS' ? 'with-facets' : ''}>
        {type === 'THINGS' && <Facets query={query} facets={facets} tree={tree.data} />}
        <section aria-label={t.types[type]} aria-live="off">
          <div class="results-head">
            <p role="status">{unknown ? t.results(0) : list.data?.search ? t.results(list.data.search.totalCount) : list.error ? '' : '…'}</p>
            <FilterChips query={query} tree={tree.data} />
          </div>
          {unknown ? <Empty text={t.nothingFound} hint={t.nothingFoundHint} /> : <Grid title={t.types[type]} list={list} {...(`${query}` && { empty: t.nothingFound, hint: t.nothingFoundHint })} narrow={type === 'USERS'}
            keyOf={(hit) => (hit.__typename === 'User' ? `User ${hit.username}` : `${hit.__typename} ${hit.id}`)}
            item={(hit, index) => {
              switch (hit.__typename) {
                case 'Thing': return <ThingCard thing={hit} at={index} />;
                case 'Make': return <MakeCard make={hit} />;
                case 'User': return <PersonCard person={hit} />;
                case 'Collection': return <CollectionCard collection={hit} />;
              }
            }} />}
        </section>
      </div>
    </div>
  );
}
