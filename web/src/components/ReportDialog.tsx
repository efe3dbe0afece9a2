import { useState } from 'preact/hooks';
import { mutate } from '../cache';
import { reportContent, type ReportReason } from '../generated';
import { t } from '../strings';
import { Dialog } from './Dialog';
import { explain, say } from './Toast';

const reasons = Object.keys(t.reasons) as ReportReason[];

/** Reports an object to the moderators. */
export function ReportDialog({ nodeId, onClose }: { nodeId: string; onClose: () => void }) {
  const [fault, setFault] = useState('');
  return (
    <Dialog title={t.reportTitle} onClose={onClose}>
      <form onSubmit={async (event) => {
        event.preventDefault();
        const form = new FormData(event.currentTarget);
        try {
          await mutate(reportContent, { input: { nodeId, reason: form.get('reason') as ReportReason, note: String(form.get('note')) } });
          say(t.reportSent);
          onClose();
        } catch (error) {
          setFault(explain(error));
        }
      }}>
        <fieldset class="field">
          <legend>{t.reportReason}</legend>
          {reasons.map((reason) => <label key={reason} class="check"><input type="radio" name="reason" value={reason} required /><span>{t.reasons[reason]}</span></label>)}
        </fieldset>
        <label class="field"><span>{t.reportNote}</span><textarea name="note" rows={3} maxLength={2000} /></label>
        {fault && <p class="fault" role="alert">{fault}</p>}
        <div class="actions">
          <button type="button" class="button" onClick={onClose}>{t.cancel}</button>
          <button type="submit" class="button primary">{t.report}</button>
        </div>
      </form>
    </Dialog>
  );
}
