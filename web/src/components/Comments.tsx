import { useEffect, useState } from 'preact/hooks';
import { useList, useQuery, type Part } from '../cache';
import type { CommentText, CommentThread, TargetType } from '../generated';
import { focusIn } from '../focus';
import { commentThread, replies as repliesQuery, type CommentThreadData, type Operation } from '../generated';
import { send } from '../graphql';
import { t } from '../strings';
import { shown } from '../turns';
import { hasDraft } from '../unsaved';
import { CommentForm, draftOf } from './CommentForm';
import { CommentView } from './CommentView';
import { More } from './Grid';
import { ErrorNotice } from './Notice';
import { say } from './Toast';

type Props<D> = {
  operation: Operation<D, { id: string; after?: string | null }>;
  pick: (data: D) => Part<CommentThread> | null | undefined;
  target: { type: TargetType; id: string };
  owner: string; // of the target, who can delete comments on it
  linked: string | null; // the ID of a comment that is scrolled into view
};

/** The path of a comment on a thing or a make. */
export const commentPath = (noun: string, targetId: string, id: string) => `/${noun.toLowerCase()}:${targetId}${noun.toLowerCase() === 'thing' ? '/comments' : ''}?comment=${id}`;

/** The threads of the list with the linked comment, even if it is on a later page. */
function withLinked(threads: CommentThread[], linked: CommentThreadData['comment'] | undefined): CommentThread[] {
  if (!linked) return threads;
  const root = linked.parent ?? linked;
  const listed = threads.find((one) => one.id === root.id);
  const { replies, ...rest } = listed ?? root;
  const complete = { ...rest, replies: !linked.parent || replies.nodes.some((one) => one.id === linked.id) ? replies : { ...replies, nodes: [...replies.nodes, linked] } };
  return listed ? threads.map((one) => (one === listed ? complete : one)) : [complete, ...threads];
}

/** The comments on a thing or a make, newest first, each with its replies. */
export function Comments<D>({ operation, pick, target, owner, linked }: Props<D>) {
  const list = useList(operation, { id: target.id }, pick);
  const link = useQuery(commentThread, linked ? { id: linked } : null);
  const ready = list.data !== undefined && !(linked && link.loading);
  useEffect(() => {
    if (ready && linked) void shown.then(() => document.getElementById(`comment-${linked}`)?.scrollIntoView({ block: 'center' }));
  }, [ready, linked]);
  if (list.error && !list.data) return <ErrorNotice error={list.error} retry={list.reload} />;
  const complete = (nodes: CommentThread[]) => withLinked(nodes, linked ? link.data?.comment : undefined);
  const threads = complete(list.nodes);
  const change = (id: string, to: (thread: CommentThread) => CommentThread) => list.update((nodes) => complete(nodes).map((one) => (one.id === id ? to(one) : one)));
  return (
    <section class="comments" aria-label={t.comments} aria-busy={list.loading ? 'true' : undefined}>
      <CommentForm target={target} onSent={(thread) => list.update((nodes) => [thread, ...complete(nodes)])} />
      {list.data && threads.length === 0 && <p class="quiet">{t.noComments}</p>}
      <ol>{threads.map((thread) => <li key={thread.id} id={`comment-${thread.id}`} class={thread.id === linked ? 'linked' : undefined}><Thread thread={thread} owner={owner} target={target} linked={linked} onChange={(to) => change(thread.id, to)} /></li>)}</ol>
      <More list={list} still />
    </section>
  );
}

type ThreadProps = { thread: CommentThread; owner: string; target: Props<unknown>['target']; linked: string | null; onChange: (to: (thread: CommentThread) => CommentThread) => void };

function Thread({ thread, owner, target, linked, onChange }: ThreadProps) {
  const [answering, setAnswering] = useState(hasDraft(draftOf(target, thread.id)));
  const setReplies = (to: (nodes: CommentText[]) => CommentText[], pageInfo?: CommentThread['replies']['pageInfo']) =>
    onChange((latest) => ({ ...latest, replies: { nodes: to(latest.replies.nodes), pageInfo: pageInfo ?? latest.replies.pageInfo } }));
  const loadReplies = async (event: Event) => {
    const last = (event.currentTarget as Element).previousElementSibling?.lastElementChild;
    try {
      const more = (await send(repliesQuery, { id: thread.id, after: thread.replies.pageInfo.endCursor })).comment?.replies;
      if (more) setReplies((nodes) => [...nodes.filter((one) => !more.nodes.some((other) => other.id === one.id)), ...more.nodes], more.pageInfo);
      requestAnimationFrame(() => focusIn(last?.nextElementSibling, 'a'));
    } catch (error) {
      say(error);
    }
  };
  return (
    <>
      <CommentView comment={thread} path={commentPath(target.type, target.id, thread.id)} owner={owner} onChange={(comment) => onChange((latest) => ({ ...latest, ...comment }))} onReply={() => setAnswering(!answering)} />
      {thread.replies.nodes.length > 0 && (
        <ol class="replies">
          {thread.replies.nodes.map((reply) => (
            <li key={reply.id} id={`comment-${reply.id}`} class={reply.id === linked ? 'linked' : undefined}><CommentView comment={reply} path={commentPath(target.type, target.id, reply.id)} owner={owner} onChange={(changed) => setReplies((nodes) => nodes.map((one) => (one.id === changed.id ? changed : one)))} /></li>
          ))}
        </ol>
      )}
      {thread.replies.pageInfo.hasNextPage && <button type="button" class="link" onClick={loadReplies}>{t.showReplies}</button>}
      {answering && (
        <CommentForm target={target} parentId={thread.id} onSent={(reply) => {
          setAnswering(false);
          setReplies((nodes) => [...nodes, reply]);
        }} />
      )}
    </>
  );
}
