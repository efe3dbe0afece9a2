import { useEffect, useRef, useState } from 'preact/hooks';
import { mutate, useQuery } from '../cache';
import { changeList } from '../focus';
import { date } from '../format';
import { createInvitation, invitations, revokeInvitation } from '../generated';
import { send } from '../graphql';
import { t } from '../strings';
import { useSubmission } from '../submission';
import { Fault } from '../components/Fault';
import { control, Field } from '../components/Field';
import { Empty, ErrorNotice } from '../components/Notice';

/** The invitations that can be used. Administrators create and revoke them. */
export function Invitations() {
  const { data, error, reload, change } = useQuery(invitations, {});
  const { busy, failure, submit, of } = useSubmission();
  const [link, setLink] = useState('');
  const field = useRef<HTMLInputElement>(null);
  useEffect(() => field.current?.select(), [link]);
  if (error && !data) return <ErrorNotice error={error} retry={reload} />;
  const list = data?.invitations ?? [];
  return (
    <>
      <form class="panel" onSubmit={(event) => {
        event.preventDefault();
        const form = event.currentTarget;
        void submit(async () => {
          const email = String(new FormData(form).get('email')).trim() || null;
          setLink((await mutate(createInvitation, { input: { email } })).createInvitation!.url);
          form.reset();
          reload();
        });
      }}>
        <p>{t.invitationText}</p>
        <Field id="email" label={t.invitationEmail} hint={t.invitationEmailHint} fault={of('email')}><input {...control('email', of('email'))} type="email" maxLength={254} /></Field>
        <Fault failure={failure} known={['email']} />
        <div class="actions"><button type="submit" class="button primary" disabled={busy}>{t.invite}</button></div>
        <div role="status">{link && <Field id="link" label={t.invitationLink} hint={t.shownOnce}><input ref={field} id="link" readOnly value={link} /></Field>}</div>
      </form>
      {data && list.length === 0 && <Empty />}
      <ul class="sessions">
        {list.map((one) => (
          <li key={one.id}>
            <div><b>{one.email ?? t.noEmail}</b><p class="quiet">{t.invitedOn(date(one.createdAt), date(one.expiresAt))}</p></div>
            <button type="button" class="button" aria-label={`${t.revoke}: ${one.email ?? one.id}`} onClick={() => changeList(async () => {
              await mutate(revokeInvitation, { input: { id: one.id } });
              change(await send(invitations, {})); // list may have changed meanwhile
            })}>{t.revoke}</button>
          </li>
        ))}
      </ul>
    </>
  );
}
