import { useState } from 'preact/hooks';
import { mutate } from '../cache';
import { me } from '../config';
import { createComment, type CommentThread, type TargetType } from '../generated';
import { t } from '../strings';
import { signInURL } from './SignInDialog';
import { explain } from './Toast';

type Props = { target: { type: TargetType; id: string }; parentId?: string; onSent: (comment: CommentThread) => void };

export function CommentForm({ target, parentId, onSent }: Props) {
  const [body, setBody] = useState('');
  const [fault, setFault] = useState('');
  const [sending, setSending] = useState(false);
  if (!me) return parentId ? null : <p class="quiet"><a href={signInURL()}>{t.signInFirst}</a></p>;
  return (
    <form class="comment-form" onSubmit={async (event) => {
      event.preventDefault();
      setSending(true);
      try {
        const data = await mutate(createComment, { input: { target, parentId, body } });
        setBody('');
        setFault('');
        onSent(data.createComment!.comment);
      } catch (error) {
        setFault(explain(error));
      } finally {
        setSending(false);
      }
    }}>
      <textarea value={body} rows={3} required maxLength={65535} placeholder={t.writeComment} aria-label={t.commentLabel} onInput={(event) => setBody(event.currentTarget.value)} />
      {fault && <p class="fault" role="alert">{fault}</p>}
      <div class="actions"><button type="submit" class="button primary" disabled={sending || body.trim() === ''}>{parentId ? t.reply : t.sendComment}</button></div>
    </form>
  );
}
