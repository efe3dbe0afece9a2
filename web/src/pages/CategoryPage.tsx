import { useList } from '../cache';
import { Grid } from '../components/Grid';
import { ThingCard } from '../components/ThingCard';
import { compact } from '../format';
import { category } from '../generated';
import { href } from '../router';
import { t } from '../strings';
import { useTitle } from '../title';

export function CategoryPage({ slug }: { slug: string }) {
  const list = useList(category, { slug }, (data) => data.category?.things);
  const found = list.data?.category;
  const name = found ? t.categoryName({ slug, name: found.name }) : undefined;
  useTitle(name);
  return (
    <div class="page">
      {found && (
        <div class="page-head">
          <nav class="crumbs" aria-label={t.category}>
            <a href={href('/explore')}>{t.explore}</a>
            {found.parent && <a href={href(`/category/${found.parent.slug}`)}>{t.categoryName(found.parent)}</a>}
          </nav>
          <h1>{name}</h1>
          <p class="quiet">{t.thingsCount(found.thingCount)}</p>
          {found.children.length > 0 && (
            <nav class="chips" aria-label={t.browseCategories}>
              {found.children.map((child) => <a key={child.slug} class="chip" href={href(`/category/${child.slug}`)}>{t.categoryName(child)} <span>{compact(child.thingCount)}</span></a>)}
            </nav>
          )}
        </div>
      )}
      <Grid title={t.designs} list={list} keyOf={(thing) => thing.id} item={(thing, index) => <ThingCard thing={thing} at={index} />} />
    </div>
  );
}
