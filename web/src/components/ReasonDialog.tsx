import { t } from '../strings';
import { useSubmission } from '../submission';
import { Dialog } from './Dialog';
import { Fault } from './Fault';

/** A dialog in which a moderator enters the reason for an action. */
export function ReasonDialog({ title, onSend, onClose }: { title: string; onSend: (reason: string) => Promise<void>; onClose: () => void }) {
  const { busy, failure, submit } = useSubmission();
  return (
    <Dialog title={title} onClose={onClose}>
      <form onSubmit={(event) => {
        event.preventDefault();
        const reason = String(new FormData(event.currentTarget).get('reason'));
        void submit(async () => {
          await onSend(reason);
          onClose();
        });
      }}>
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
