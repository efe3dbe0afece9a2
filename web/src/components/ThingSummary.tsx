import { useEffect, useState } from 'preact/hooks';
import { isStaff, me } from '../config';
import { mutate } from '../cache';
import { bytes, compact, date } from '../format';
import { featureThing, restoreThing, takeDownThing, thingSize, unfeatureThing, unwatchThing, watchThing, type ThingData } from '../generated';
import { send } from '../graphql';
import { keyOf } from '../keys';
import { href } from '../router';
import { t } from '../strings';
import { Avatar } from './Avatar';
import { CollectDialog } from './CollectDialog';
import { FollowButton } from './FollowButton';
import { Icon } from './Icon';
import { LikeButton } from './LikeButton';
import { Menu } from './Menu';
import { ReasonDialog } from './ReasonDialog';
import { ReportDialog } from './ReportDialog';
import { ShareButton } from './ShareButton';
import { askToSignIn } from './SignInDialog';
import { say } from './Toast';

export type Thing = NonNullable<ThingData['thing']>;

/** The column beside the pictures: the creator of the thing, its actions, and its numbers of likes, makes and downloads. */
export function ThingSummary({ thing, reload }: { thing: Thing; reload: () => void }) {
  const [dialog, setDialog] = useState<'collect' | 'report' | 'takeDown' | ''>('');
  const { isCollected: collected, isWatched: watched } = thing;
  const own = thing.creator.username === me?.username;
  const decides = isStaff && (!own || me!.role === 'ADMINISTRATOR');
  const available = thing.files.filter((file) => file.isAvailable);
  // The sizes of files that are not listed yet are not known here.
  const isWhole = thing.files.length >= thing.fileCount;
  const [total, setTotal] = useState(0);
  useEffect(() => {
    if (!isWhole) send(thingSize, { id: thing.id }).then((found) => setTotal(found.thing?.totalSize ?? 0), () => setTotal(0));
  }, [thing.id, isWhole, thing.fileCount]);
  const known = isWhole ? available.reduce((sum, file) => sum + file.size, 0) : total;
  const size = known ? `, ${bytes(known)}` : '';
  const signedIn = (action: () => void) => () => (me ? action() : askToSignIn());
  const attempt = async (action: () => Promise<unknown>) => {
    try {
      await action();
      reload();
    } catch (error) {
      say(error);
    }
  };
  const toggleWatch = () => attempt(() => mutate(watched ? unwatchThing : watchThing, { input: { id: thing.id } }));
  return (
    <div class="summary" id="summary" tabIndex={-1}>
      <h1>{thing.name}</h1>
      <div class="maker">
        <a class="by" href={href(`/${thing.creator.username}`)} rel="author"><Avatar user={thing.creator} size="medium" /><span>{thing.creator.username}</span></a>
        {own
          ? <a class="button" href={href(`/thing:${thing.id}/edit`)}><Icon name="edit" />{t.edit}</a>
          : <FollowButton person={{ username: thing.creator.username, isFollowed: thing.creator.isFollowed }} />}
      </div>
      {thing.takedown && <p class="warning" role="alert">{t.takenDown} {thing.takedown.reason}</p>}
      {!thing.takedown && thing.state === 'DRAFT' && <p class="warning">{t.draftNotice}</p>}
      {thing.state === 'UNLISTED' && <p class="warning">{t.unlistedNotice}</p>}
      <div class="actions">
        {available.length > 0 && !thing.takedown && (
          <a class="button primary wide" href={href(`/thing:${thing.id}/zip${keyOf(thing.id)}`)} download><Icon name="download" />{t.downloadAll} <small>{t.zip}{size}</small></a>
        )}
        <LikeButton large kind="thing" id={thing.id} name={thing.name} liked={thing.isLiked} likes={thing.likeCount} disabled={own} />
        <button type="button" class={collected ? 'button on' : 'button'} onClick={signedIn(() => setDialog('collect'))}><Icon name="folderAdd" />{collected ? t.collected : t.collect}</button>
        <button type="button" class={watched ? 'button watch on' : 'button watch'} onClick={signedIn(toggleWatch)}><Icon name="eye" /><span>{watched ? t.watching : t.watch}</span></button>
        {thing.state !== 'DRAFT' && <ShareButton url={thing.shareUrl} title={thing.name} />}
        {(!own || decides) && (
          <Menu label={t.more} button={<Icon name="more" />} kind="button icon-only">
            {!own && <button type="button" onClick={signedIn(() => setDialog('report'))}><Icon name="flag" />{t.report}</button>}
            {decides && (
              <>
                <button type="button" onClick={() => attempt(() => mutate(thing.isFeatured ? unfeatureThing : featureThing, { input: { id: thing.id } }).then(() => say(t.saved)))}>
                  <Icon name="star" />{thing.isFeatured ? t.unfeature : t.feature}
                </button>
                <button type="button" onClick={() => setDialog('takeDown')}><Icon name="shield" />{thing.takedown ? t.restore : t.takeDown}</button>
              </>
            )}
          </Menu>
        )}
      </div>
      <ul class="stats">
        <li><b>{compact(thing.downloadCount)}</b> {t.stat.downloads}</li>
        <li><b>{compact(thing.makeCount)}</b> {t.stat.makes}</li>
        <li><b>{compact(thing.collectCount)}</b> {t.stat.collects}</li>
        <li><b>{compact(thing.viewCount)}</b> {t.stat.views}</li>
      </ul>
      <dl class="meta">
        <dt>{t.category}</dt>
        <dd>
          {thing.category.parent && <><a href={href(`/category/${thing.category.parent.slug}`)}>{t.categoryName(thing.category.parent)}</a> / </>}
          <a href={href(`/category/${thing.category.slug}`)}>{t.categoryName(thing.category)}</a>
        </dd>
        {thing.publishedAt && <><dt>{t.published}</dt><dd><time dateTime={thing.publishedAt}>{date(thing.publishedAt)}</time></dd></>}
        <dt>{t.updated}</dt>
        <dd><time dateTime={thing.updatedAt}>{date(thing.updatedAt)}</time></dd>
      </dl>
      {thing.origin && <Origin origin={thing.origin} />}
      {(thing.isWip || thing.isAiGenerated || thing.isNsfw) && (
        <p class="marks">
          {thing.isWip && <span class="mark">{t.wip}</span>}
          {thing.isAiGenerated && <span class="mark">{t.aiGenerated}</span>}
          {thing.isNsfw && <span class="mark">{t.nsfw}</span>}
        </p>
      )}
      {thing.tags.length > 0 && (
        <nav class="chips" aria-label={t.tags}>{thing.tags.map((tag) => <a key={tag.slug} class="chip" rel="tag" href={href(`/tag:${encodeURIComponent(tag.slug)}`)}>#{tag.name}</a>)}</nav>
      )}
      {dialog === 'collect' && <CollectDialog thing={thing} onChange={reload} onClose={() => setDialog('')} />}
      {dialog === 'report' && <ReportDialog nodeId={thing.nodeId} onClose={() => setDialog('')} />}
      {dialog === 'takeDown' && (
        <ReasonDialog title={thing.takedown ? t.restore : t.takeDown} onClose={() => setDialog('')} onSend={async (reason) => {
          if (thing.takedown) await mutate(restoreThing, { input: { id: thing.id, reason } });
          else await mutate(takeDownThing, { input: { id: thing.id, reason } });
          reload();
        }} />
      )}
    </div>
  );
}

/** Who made a thing that was copied from another site. */
function Origin({ origin }: { origin: NonNullable<NonNullable<ThingData['thing']>['origin']> }) {
  const link = (text: string, url: string) => (url ? <a href={url} rel="nofollow ugc noopener">{text}</a> : text);
  return (
    <p class="origin">
      {origin.creator && <>{t.by} {link(origin.creator, origin.creatorUrl)} </>}
      {(origin.site || origin.url) && <>{origin.creator ? t.onSite : t.from} {link(origin.site || new URL(origin.url).host, origin.url)}</>}
    </p>
  );
}
