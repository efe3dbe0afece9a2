import { mutate } from '../cache';
import { reportContent, type ReportReason } from '../generated';
import { t } from '../strings';
import { useSubmission } from '../submission';
import { Dialog } from './Dialog';
import { Fault } from './Fault';
import { say } from './Toast';

const reasons = Object.keys(t.reasons) as ReportReason[];

/** Reports an object to the moderators. */
export function ReportDialog({ nodeId, onClose }: { nodeId: string; onClose: () => void }) {
  const { busy, failure, submit } = useSubmission();
  return (
    <Dialog title={t.reportTitle} onClose={onClose}>
      <form onSubmit={(event) => {
        event.preventDefault();
        const form = new FormData(event.currentTarget);
        void submit(async () => {
          await mutate(reportContent, { input: { nodeId, reason: form.get('reason') as ReportReason, note: String(form.get('note')) } });
          say(t.reportSent);
          onClose();
        });
      }}>
        <fieldset class="field">
          <legend>{t.reportReason}</legend>
          {reasons.map((reason) => <label key={reason} class="check"><input type="radio" name="reason" value={reason} required /><span>{t.reasons[reason]}</span></label>)}
        </fieldset>
        <label class="field"><span>{t.reportNote}</span><textarea name="note" rows={3} maxLength={2000} /></label>
        <Fault failure={failure} />
        <div class="actions">
          <button type="button" class="button" onClick={onClose}>{t.cancel}</button>
          <button type="submit" class="button primary" disabled={busy}>{t.report}</button>
        </div>
      </form>
    </Dialog>
  );
}
