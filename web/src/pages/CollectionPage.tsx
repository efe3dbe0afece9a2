import { useState } from 'preact/hooks';
import { mutate, useList } from '../cache';
import { Avatar } from '../components/Avatar';
import { CollectionForm } from '../components/CollectionForm';
import { Grid } from '../components/Grid';
import { Html } from '../components/Html';
import { Icon } from '../components/Icon';
import { Menu } from '../components/Menu';
import { ReportDialog } from '../components/ReportDialog';
import { askToSignIn } from '../components/SignInDialog';
import { ThingCard } from '../components/ThingCard';
import { say } from '../components/Toast';
import { me } from '../config';
import { changeList } from '../focus';
import { collection as collectionQuery, deleteCollection, likeCollection, removeFromCollection, reorderCollection, unlikeCollection, type Card } from '../generated';
import { fromHere, href } from '../router';
import { t } from '../strings';
import { useQueue } from '../submission';
import { useTitle } from '../title';

const maxMoved = 100; // things that reorderCollection accepts

export function CollectionPage({ id }: { id: string }) {
  const list = useList(collectionQuery, { id }, (data) => data.collection?.things);
  const [dialog, setDialog] = useState<'report' | 'edit' | ''>('');
  const found = list.data?.collection;
  useTitle(found?.name);
  const [removed, setRemoved] = useState({ from: found, things: 0 }); // since the collection was loaded
  const removedThings = removed.from === found ? removed.things : 0;
  const queue = useQueue();
  type Change = (nodes: Card[]) => Card[];
  /** Changes the list at once, and undoes that if the action fails: other changes may have followed meanwhile. */
  const arrange = (change: Change, undo: Change, action: () => Promise<unknown>) => changeList(async () => {
    list.update(change);
    try {
      await queue(action);
    } catch (error) {
      list.update(undo);
      throw error;
    }
  });
  const remove = (thing: Card, at: number) => arrange((nodes) => nodes.filter((one) => one.id !== thing.id), (nodes) => nodes.toSpliced(at, 0, thing), async () => {
    await mutate(removeFromCollection, { input: { collectionId: id, thingId: thing.id } });
    setRemoved((before) => ({ from: found, things: (before.from === found ? before.things : 0) + 1 }));
  });
  /** Moves a thing one place forward. The API moves things to the start, so the ones before it are moved, too. */
  const moveForward = (at: number) => {
    const thing = list.nodes[at]!;
    const moved = (nodes: Card[], by: number) => {
      const from = nodes.findIndex((one) => one.id === thing.id);
      return from < 0 ? nodes : nodes.toSpliced(from, 1).toSpliced(Math.max(from + by, 0), 0, thing);
    };
    const thingIds = moved(list.nodes, -1).slice(0, at + 1).map((one) => one.id);
    return arrange((nodes) => moved(nodes, -1), (nodes) => moved(nodes, 1), () => mutate(reorderCollection, { input: { id, thingIds } }));
  };
  const attempt = (action: () => Promise<unknown>) => () => (me ? action().then(list.reload, say) : askToSignIn());
  return (
    <div class="page">
      {found && (
        <div class="page-head">
          <h1>{found.name}</h1>
          <p class="maker">
            <a class="by" href={href(`/${found.creator.username}`)}><Avatar user={found.creator} size="medium" /><span>{found.creator.username}</span></a>
            <span class="quiet">{t.thingsCount(found.thingCount - removedThings)}{found.visibility === 'PRIVATE' && ` · ${t.private}`}</span>
          </p>
          {found.descriptionHtml && <Html html={found.descriptionHtml} />}
          <div class="actions">
            {found.isEditable
              ? (
                <>
                  <button type="button" class="button" onClick={() => setDialog('edit')}><Icon name="edit" />{t.edit}</button>
                  <button type="button" class="button" onClick={() => {
                    const leave = fromHere();
                    if (confirm(t.deleteCollection)) mutate(deleteCollection, { input: { id } }).then(() => {
                      leave(`/${found.creator.username}/collections`, true);
                      say(t.deleted);
                    }, say);
                  }}>
                    <Icon name="trash" />{t.delete}
                  </button>
                </>
              )
              : (
                <>
                  <button type="button" class="button like" aria-pressed={found.isLiked} onClick={attempt(() => mutate(found.isLiked ? unlikeCollection : likeCollection, { input: { id } }))}>
                    <Icon name="heart" filled={found.isLiked} />{t.like}
                  </button>
                  <Menu label={t.more} button={<Icon name="more" />} kind="button icon-only">
                    <button type="button" onClick={() => (me ? setDialog('report') : askToSignIn())}><Icon name="flag" />{t.report}</button>
                  </Menu>
                </>
              )}
          </div>
          {dialog === 'edit' && <CollectionForm collection={found} onClose={() => setDialog('')} onDone={list.reload} />}
          {dialog === 'report' && <ReportDialog nodeId={found.nodeId} onClose={() => setDialog('')} />}
        </div>
      )}
      <Grid title={t.designs} list={list} keyOf={(thing) => thing.id} item={(thing, index) => (found?.isEditable
        ? (
          <div class="arranged">
            <ThingCard thing={thing} at={index} />
            <div class="file-buttons">
              <button type="button" class="button icon-only" aria-label={t.moveForward(thing.name)} title={t.moveForward(thing.name)} disabled={index === 0 || index >= maxMoved} onClick={() => void moveForward(index)}><Icon name="left" /></button>
              <button type="button" class="button icon-only" aria-label={t.moveBack(thing.name)} title={t.moveBack(thing.name)} disabled={index + 1 >= Math.min(list.nodes.length, maxMoved)} onClick={() => void moveForward(index + 1)}><Icon name="right" /></button>
              <button type="button" class="button icon-only" aria-label={`${t.remove}: ${thing.name}`} title={t.remove} onClick={() => void remove(thing, index)}><Icon name="close" /></button>
            </div>
          </div>
        )
        : <ThingCard thing={thing} at={index} />)} />
    </div>
  );
}
