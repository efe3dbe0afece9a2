import { useEffect, useRef, useState } from 'preact/hooks';
import { mutate } from '../cache';
import { isStaff, me } from '../config';
import { changeList, holdFocus } from '../focus';
import { ago, date } from '../format';
import { deleteComment, updateComment, type CommentText } from '../generated';
import { href } from '../router';
import { t } from '../strings';
import { useSubmission } from '../submission';
import { hasDraft, useDraft } from '../unsaved';
import { Avatar } from './Avatar';
import { Fault } from './Fault';
import { Html } from './Html';
import { Icon } from './Icon';
import { Menu } from './Menu';
import { ReasonDialog } from './ReasonDialog';
import { ReportDialog } from './ReportDialog';

type Props = { comment: CommentText; path: string; owner: string; onChange: (comment: CommentText) => void; onReply?: () => void };

/** The key of the draft of a changed comment. */
const draftOf = (comment: CommentText) => `edit ${comment.id}`;

export function CommentView({ comment, path, owner, onChange, onReply }: Props) {
  const [dialog, setDialog] = useState<'report' | 'delete' | 'edit' | ''>(hasDraft(draftOf(comment)) ? 'edit' : '');
  if (comment.isDeleted) return <p class="comment quiet">{t.commentDeleted}</p>;
  const own = comment.creator.username === me?.username;
  const remove = async (reason = '') => onChange((await mutate(deleteComment, { input: { id: comment.id, reason } })).deleteComment!.comment);
  return (
    <article class="comment">
      <Avatar user={comment.creator} size="medium" />
      <div class="comment-body">
        <p class="comment-head">
          <a href={href(`/${comment.creator.username}`)}>{comment.creator.username}</a>
          <a class="quiet" href={href(path)}><time dateTime={comment.createdAt} title={date(comment.createdAt)}>{ago(comment.createdAt)}</time></a>
          {comment.updatedAt !== comment.createdAt && <time class="edited" dateTime={comment.updatedAt} title={date(comment.updatedAt)}>{t.edited}</time>}
        </p>
        {dialog === 'edit'
          ? <Editor comment={comment} onChange={onChange} onClose={() => setDialog('')} />
          : <Html html={comment.bodyHtml} />}
        {me && dialog !== 'edit' && <p class="comment-actions">{onReply && <button type="button" class="link" aria-label={`${t.reply}: ${comment.creator.username}`} onClick={onReply}>{t.reply}</button>}</p>}
      </div>
      {me && (
        <Menu label={`${t.more}: ${comment.creator.username}`} button={<Icon name="more" />}>
          {own && <button type="button" onClick={() => setDialog('edit')}><Icon name="edit" />{t.edit}</button>}
          {(own || owner === me.username || isStaff) && (
            <button type="button" onClick={() => (own || owner === me!.username ? confirm(t.deleteComment) && changeList(remove) : setDialog('delete'))}><Icon name="trash" />{t.delete}</button>
          )}
          {!own && <button type="button" onClick={() => setDialog('report')}><Icon name="flag" />{t.report}</button>}
        </Menu>
      )}
      {dialog === 'report' && <ReportDialog nodeId={comment.nodeId} onClose={() => setDialog('')} />}
      {dialog === 'delete' && <ReasonDialog title={t.delete} onClose={() => setDialog('')} onSend={remove} />}
    </article>
  );
}

function Editor({ comment, onChange, onClose }: { comment: CommentText; onChange: (comment: CommentText) => void; onClose: () => void }) {
  const [body, setBody] = useDraft(draftOf(comment), comment.body);
  const { busy, failure, submit } = useSubmission();
  const field = useRef<HTMLTextAreaElement>(null);
  useEffect(() => field.current!.focus(), []);
  const close = () => {
    setBody(comment.body);
    onClose();
  };
  return (
    <form onSubmit={(event) => {
      event.preventDefault();
      void submit(async () => {
        const changed = (await mutate(updateComment, { input: { id: comment.id, body } })).updateComment!.comment;
        close();
        onChange(changed);
      });
    }}>
      <textarea ref={field} value={body} rows={3} required readOnly={busy} aria-label={t.commentLabel} onInput={(event) => setBody(event.currentTarget.value)} />
      <Fault failure={failure} />
      <div class="actions"><button type="button" class="button" onClick={() => {
        holdFocus()();
        close();
      }}>{t.cancel}</button><button type="submit" class="button primary" disabled={busy}>{t.save}</button></div>
    </form>
  );
}
