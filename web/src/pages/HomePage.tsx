import { useQuery } from '../cache';
import { Skeletons } from '../components/Grid';
import { Html } from '../components/Html';
import { Empty, ErrorNotice } from '../components/Notice';
import { ThingCard } from '../components/ThingCard';
import { config } from '../config';
import { compact } from '../format';
import { home, type Card } from '../generated';
import { href } from '../router';
import { t } from '../strings';
import { useTitle } from '../title';
import { useTurn } from '../turns';

export function HomePage() {
  useTitle('');
  const { data, error, reload } = useQuery(home, {});
  return (
    <div class="page">
      <div class="hero">
        {config.welcome ? <Html html={config.welcome} /> : <><h1>{t.headline}</h1><p>{t.tagline}</p></>}
      </div>
      {error && !data && <ErrorNotice error={error} retry={reload} />}
      {!data && !error && <Skeletons />}
      {data && (
        <>
          <nav class="chips one-line" aria-label={t.browseCategories}>
            {data.categories?.filter((category) => category.thingCount > 0).map((category) => (
              <a key={category.slug} class="chip" href={href(`/category/${category.slug}`)}>{t.categoryName(category)} <span>{compact(category.thingCount)}</span></a>
            ))}
          </nav>
          <Row title={t.featured} things={data.featured?.nodes} more="/explore?featured=1&sort=NEWEST" atTop />
          <Row title={t.popular} things={data.popular?.nodes} more="/explore?sort=POPULAR" atTop={!data.featured?.nodes.length} />
          {!data.newest?.nodes.length && <Empty><a class="button primary" href={href('/upload')}>{t.upload}</a></Empty>}
          <Row title={t.newest} things={data.newest?.nodes} more="/explore?sort=NEWEST" />
        </>
      )}
    </div>
  );
}

function Row({ title, things, more, atTop }: { title: string; things?: Card[]; more: string; atTop?: boolean }) {
  const now = useTurn();
  if (!things?.length) return null;
  if (!now) return <section class="row" aria-busy="true" />;
  return (
    <section class="row">
      <div class="section-head"><h2>{title}</h2><a href={href(more)} aria-label={`${t.seeAll}: ${title}`}>{t.seeAll}</a></div>
      <ul class="grid">{things.map((thing, index) => <li key={thing.id}><ThingCard thing={thing} at={atTop ? index : undefined} /></li>)}</ul>
    </section>
  );
}
