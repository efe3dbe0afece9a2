import { useState } from 'preact/hooks';
import { mutate } from '../cache';
import { isStaff, me } from '../config';
import { ago, date } from '../format';
import { deleteComment, updateComment, type CommentText } from '../generated';
import { href } from '../router';
import { t } from '../strings';
import { Avatar } from './Avatar';
import { Html } from './Html';
import { Icon } from './Icon';
import { Menu } from './Menu';
import { ReasonDialog } from './ReasonDialog';
import { ReportDialog } from './ReportDialog';
import { explain, say } from './Toast';

type Props = { comment: CommentText; path: string; owner: string; onChange: (comment: CommentText) => void; onReply?: () => void };

export function CommentView({ comment, path, owner, onChange, onReply }: Props) {
  const [dialog, setDialog] = useState<'report' | 'delete' | 'edit' | ''>('');
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
        </p>
        {dialog === 'edit'
          ? <Editor comment={comment} onChange={onChange} onClose={() => setDialog('')} />
          : <Html html={comment.bodyHtml} />}
        {me && dialog !== 'edit' && <p class="comment-actions">{onReply && <button type="button" class="link" onClick={onReply}>{t.reply}</button>}</p>}
      </div>
      {me && (
        <Menu label={`${t.more}: ${comment.creator.username}`} button={<Icon name="more" />}>
          {own && <button type="button" onClick={() => setDialog('edit')}><Icon name="edit" />{t.edit}</button>}
          {(own || owner === me.username || isStaff) && (
            <button type="button" onClick={() => (own || owner === me!.username ? remove().catch(say) : setDialog('delete'))}><Icon name="trash" />{t.delete}</button>
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
  const [body, setBody] = useState(comment.body);
  const [fault, setFault] = useState('');
  return (
    <form onSubmit={async (event) => {
      event.preventDefault();
      try {
        onChange((await mutate(updateComment, { input: { id: comment.id, body } })).updateComment!.comment);
        onClose();
      } catch (error) {
        setFault(explain(error));
      }
    }}>
      <textarea value={body} rows={3} required aria-label={t.commentLabel} onInput={(event) => setBody(event.currentTarget.value)} />
      {fault && <p class="fault" role="alert">{fault}</p>}
      <div class="actions"><button type="button" class="button" onClick={onClose}>{t.cancel}</button><button type="submit" class="button primary">{t.save}</button></div>
    </form>
  );
}
