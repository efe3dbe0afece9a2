import { useList } from '../cache';
import { Grid } from '../components/Grid';
import { ThingCard } from '../components/ThingCard';
import { tag } from '../generated';
import { t } from '../strings';
import { useTitle } from '../title';

export function TagPage({ name }: { name: string }) {
  const list = useList(tag, { name }, (data) => data.tag?.things);
  const title = list.data?.tag?.name ?? name;
  const missing = list.error && !list.data;
  useTitle(missing ? undefined : `#${title}`);
  return (
    <div class="page">
      {!missing && <div class="page-head"><h1>#{title}</h1>{list.data?.tag && <p class="quiet">{t.thingsCount(list.data.tag.thingCount)}</p>}</div>}
      <Grid title={t.designs} list={list} keyOf={(thing) => thing.id} item={(thing, index) => <ThingCard thing={thing} at={index} />} />
    </div>
  );
}
