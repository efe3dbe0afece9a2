import { useList } from '../cache';
import { CollectionCard } from '../components/CollectionCard';
import { Grid } from '../components/Grid';
import { MakeCard } from '../components/MakeCard';
import { ThingCard } from '../components/ThingCard';
import { feed } from '../generated';
import { href } from '../router';
import { t } from '../strings';
import { useTitle } from '../title';

export function FeedPage() {
  useTitle(t.feed);
  const list = useList(feed, {}, (data) => data.me?.feed);
  return (
    <div class="page">
      <div class="page-head"><h1>{t.feedTitle}</h1></div>
      <Grid title={t.feed} list={list} empty={t.feedEmpty} action={<a class="button" href={href('/explore?type=users')}>{t.types.USERS}</a>} keyOf={(item) => `${item.__typename} ${item.id}`} item={(item) => (
        <div class="feed-item">
          <p class="quiet">{t.posted[item.__typename]}</p>
          {item.__typename === 'Thing' && <ThingCard thing={item} />}
          {item.__typename === 'Make' && <MakeCard make={item} />}
          {item.__typename === 'Collection' && <CollectionCard collection={item} />}
        </div>
      )} />
    </div>
  );
}
