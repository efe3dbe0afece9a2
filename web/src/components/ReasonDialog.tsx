import { useState } from 'preact/hooks';
import { t } from '../strings';
import { Dialog } from './Dialog';
import { explain } from './Toast';

/** A dialog in which a moderator enters the reason for an action. */
export function ReasonDialog({ title, onSend, onClose }: { title: string; onSend: (reason: string) => Promise<void>; onClose: () => void }) {
  const [fault, setFault] = useState('');
  return (
    <Dialog title={title} onClose={onClose}>
      <form onSubmit={async (event) => {
        event.preventDefault();
        const reason = String(new FormData(event.currentTarget).get('reason'));
        try {
          await onSend(reason);
          onClose();
        } catch (error) {
          setFault(explain(error));
        }
      }}>
        <label class="field"><span>{t.reason}</span><textarea name="reason" rows={4} maxLength={2000} required /></label>
        {fault && <p class="fault" role="alert">{fault}</p>}
        <div class="actions">
          <button type="button" class="button" onClick={onClose}>{t.cancel}</button>
          <button type="submit" class="button primary">{title}</button>
        </div>
      </form>
    </Dialog>
  );
}
