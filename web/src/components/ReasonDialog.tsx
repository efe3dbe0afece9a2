import type { ComponentChildren } from 'preact';
import { t } from '../strings';
import { useSubmission } from '../submission';
import { Dialog } from './Dialog';
import { Fault } from './Fault';
import { control, Field } from './Field';

type Props = { title: string; about?: string; hint?: string; onSend: (reason: string, form: FormData) => Promise<void>; onClose: () => void; children?: ComponentChildren };

/**
 * A dialog in which a moderator enters the reason for an action. The user concerned gets the reason, unless hint says otherwise. The children
 * are further fields of its form.
 */
export function ReasonDialog({ title, about, hint = t.reasonSeen, onSend, onClose, children }: Props) {
  const { busy, failure, submit, of } = useSubmission();
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
        {about && <p>{about}</p>}
        {children}
        <Field id="reason" label={t.reason} hint={hint} fault={of('reason')}><textarea {...control('reason', of('reason'))} rows={4} maxLength={2000} required autofocus /></Field>
        <Fault failure={failure} known={['reason']} />
        <div class="actions">
          <button type="button" class="button" onClick={onClose}>{t.cancel}</button>
          <button type="submit" class="button primary" disabled={busy}>{title}</button>
        </div>
      </form>
    </Dialog>
  );
}
