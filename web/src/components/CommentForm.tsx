import { useEffect, useRef } from 'preact/hooks';
import { mutate, useShared } from '../cache';
import { me } from '../config';
import { createComment, type CommentThread, type TargetType } from '../generated';
import { t } from '../strings';
import { useSubmission } from '../submission';
import { useDraft } from '../unsaved';
import { Fault } from './Fault';
import { signInURL } from './SignInDialog';
import { say } from './Toast';

type Props = { target: { type: TargetType; id: string }; parentId?: string; onSent: (comment: CommentThread) => void };

/** The key of the draft of a comment on a target, or of a reply. */
export const draftOf = (target: Props['target'], parentId = '') => `comment ${target.type} ${target.id} ${parentId}`;

export function CommentForm({ target, parentId, onSent }: Props) {
  const key = draftOf(target, parentId);
  const [body, setBody] = useDraft(key);
  const [sending, setSending] = useShared(`sending ${key}`, false); // also by a form before the user chose another tab
  const { busy, failure, submit } = useSubmission();
  const field = useRef<HTMLTextAreaElement>(null);
  useEffect(() => void (parentId && !body && field.current?.focus()), []); // the user has pressed Reply
  if (!me) return parentId ? null : <p class="quiet"><a href={signInURL()}>{t.signInToComment}</a></p>;
  return (
    <form class="comment-form" onSubmit={(event) => {
      event.preventDefault();
      if (!body.trim()) return field.current!.focus();
      void submit(async () => {
        setSending(true);
        try {
          const data = await mutate(createComment, { input: { target, parentId, body } });
          setBody('');
          onSent(data.createComment!.comment);
          say(t.commentSent);
        } finally {
          setSending(false);
        }
      });
    }}>
      <textarea ref={field} value={body} rows={3} required readOnly={sending} maxLength={65535} placeholder={t.writeComment} aria-label={t.commentLabel} onInput={(event) => setBody(event.currentTarget.value)} />
      <Fault failure={failure} />
      <div class="actions"><button type="submit" class="button primary" disabled={busy || sending}>{parentId ? t.reply : t.sendComment}</button></div>
    </form>
  );
}
