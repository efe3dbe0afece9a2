import { me } from '../config';
import { compact } from '../format';
import type { Card } from '../generated';
import { href } from '../router';
import { t } from '../strings';
import { Avatar } from './Avatar';
import { Cover } from './Cover';
import { Icon } from './Icon';
import { LikeButton } from './LikeButton';

export function ThingCard({ thing, at }: { thing: Card & { takedown?: object | null }; at?: number }) {
  const own = thing.creator.username === me?.username;
  return (
    <article class="card">
      <Cover image={thing.defaultImage} at={at} sensitive={thing.isNsfw} />
      {thing.state !== 'PUBLISHED' && <span class="badge">{thing.takedown ? t.takenDownBadge : thing.state === 'DRAFT' ? t.draft : t.unlisted}</span>}
      <div class="card-text">
        <h3><a class="stretched" href={href(`/thing:${thing.id}${thing.state === 'DRAFT' && own ? '/edit' : ''}`)}>{thing.name}</a></h3>
        <div class="card-foot">
          <a class="by" href={href(`/${thing.creator.username}`)}><Avatar user={thing.creator} /><span>{thing.creator.username}</span></a>
          <span class="count"><Icon name="download" /><span class="unseen">{t.downloads(thing.downloadCount)}</span><span aria-hidden="true">{compact(thing.downloadCount)}</span></span>
          <LikeButton kind="thing" id={thing.id} name={thing.name} liked={thing.isLiked} likes={thing.likeCount} disabled={own} />
        </div>
      </div>
    </article>
  );
}
