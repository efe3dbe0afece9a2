import type { CollectionCard as Data } from '../generated';
import { href } from '../router';
import { t } from '../strings';
import { Cover } from './Cover';

export function CollectionCard({ collection }: { collection: Data }) {
  return (
    <article class="card stack">
      <Cover image={collection.cover} />
      {collection.visibility === 'PRIVATE' && <span class="badge">{t.private}</span>}
      <div class="card-text">
        <h3><a class="stretched" href={href(`/collection:${collection.id}`)}>{collection.name}</a></h3>
        <div class="card-foot"><span>{t.thingsCount(collection.thingCount)}</span><a class="by" href={href(`/${collection.creator.username}`)}><span>{collection.creator.username}</span></a></div>
      </div>
    </article>
  );
}
