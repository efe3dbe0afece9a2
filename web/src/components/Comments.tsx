import { useState } from 'preact/hooks';
import { useList, type Part } from '../cache';
import type { CommentText, CommentThread, TargetType } from '../generated';
import { replies as repliesQuery } from '../generated';
import { send, type Operation } from '../graphql';
import { t } from '../strings';
import { CommentForm } from './CommentForm';
import { CommentView } from './CommentView';
import { More } from './Grid';
import { ErrorNotice } from './Notice';
import { say } from './Toast';

type Props<D> = {
  operation: Operation<D, { id: string; after?: string | null }>;
  pick: (data: D) => Part<CommentThread> | null | undefined;
  target: { type: TargetType; id: string };
  owner: string; // of the target, who can delete comments on it
};

/** The comments on a thing or a make, newest first, each with its replies. */
export function Comments<D>({ operation, pick, target, owner }: Props<D>) {
  const list = useList(operation, { id: target.id }, pick);
  if (list.error && !list.data) return <ErrorNotice error={list.error} retry={list.reload} />;
  const change = (thread: CommentThread) => list.replace(list.nodes.map((one) => (one.id === thread.id ? thread : one)));
  return (
    <section class="comments" aria-label={t.comments} aria-busy={list.loading ? 'true' : undefined}>
      <CommentForm target={target} onSent={(thread) => list.replace([thread, ...list.nodes])} />
      {list.data && list.nodes.length === 0 && <p class="quiet">{t.noComments}</p>}
      <ol>{list.nodes.map((thread) => <li key={thread.id}><Thread thread={thread} owner={owner} target={target} onChange={change} /></li>)}</ol>
      <More list={list} still />
    </section>
  );
}

type ThreadProps = { thread: CommentThread; owner: string; target: Props<unknown>['target']; onChange: (thread: CommentThread) => void };

function Thread({ thread, owner, target, onChange }: ThreadProps) {
  const [answering, setAnswering] = useState(false);
  const setReplies = (nodes: CommentText[], pageInfo = thread.replies.pageInfo) => onChange({ ...thread, replies: { nodes, pageInfo } });
  const loadReplies = async () => {
    try {
      const more = (await send(repliesQuery, { id: thread.id, after: thread.replies.pageInfo.endCursor })).comment?.replies;
      if (more) setReplies([...thread.replies.nodes, ...more.nodes], more.pageInfo);
    } catch (error) {
      say(error);
    }
  };
  return (
    <>
      <CommentView comment={thread} owner={owner} onChange={(comment) => onChange({ ...thread, ...comment })} onReply={() => setAnswering(!answering)} />
      {thread.replies.nodes.length > 0 && (
        <ol class="replies">
          {thread.replies.nodes.map((reply) => (
            <li key={reply.id}><CommentView comment={reply} owner={owner} onChange={(changed) => setReplies(thread.replies.nodes.map((one) => (one.id === changed.id ? changed : one)))} /></li>
          ))}
        </ol>
      )}
      {thread.replies.pageInfo.hasNextPage && <button type="button" class="link" onClick={loadReplies}>{t.showReplies}</button>}
      {answering && (
        <CommentForm target={target} parentId={thread.id} onSent={(reply) => {
          setAnswering(false);
          setReplies([...thread.replies.nodes, reply]);
        }} />
      )}
    </>
  );
}
