import type { ComponentChildren } from 'preact';
import { t } from '../strings';
import { useSubmission } from '../submission';
import { Dialog } from './Dialog';
import { Fault } from './Fault';

type Props = { title: string; onSend: (reason: string, form: FormData) => Promise<void>; onClose: () => void; children?: ComponentChildren };

/** A dialog in which a moderator enters the reason for an action. The children are further fields of its form. */
export function ReasonDialog({ title, onSend, onClose, children }: Props) {
  const { busy, failure, submit } = useSubmission();
  return (
    <Dialog title={title} onClose={onClose}>
      <form onSubmit={(event) => {
        event.preventDefault();
        const form = new FormData(event.currentTarget);
        void submit(async () => {
          await onSend(String(form.get('reason')), form);
          onClose();
        });
      }}>
        {children}
        <label class="field"><span>{t.reason}</span><textarea name="reason" rows={4} maxLength={2000} required autofocus /></label>
        <Fault failure={failure} />
        <div class="actions">
          <button type="button" class="button" onClick={onClose}>{t.cancel}</button>
          <button type="submit" class="button primary" disabled={busy}>{title}</button>
        </div>
      </form>
    </Dialog>
  );
}
