import { useRef, useState } from 'preact/hooks';
import { mutate, useQuery } from '../cache';
import { changed, only } from '../changed';
import { Fault } from '../components/Fault';
import { control, Field, initially } from '../components/Field';
import { Icon } from '../components/Icon';
import { ImageField } from '../components/ImageField';
import { ErrorNotice } from '../components/Notice';
import { SessionList } from '../components/SessionList';
import { say } from '../components/Toast';
import { useFaultFocus } from '../focus';
import { bytes } from '../format';
import { deleteAccount, settings, updateProfile, type License, type SettingsData } from '../generated';
import { href } from '../router';
import { t } from '../strings';
import { useSubmission } from '../submission';
import { useTitle } from '../title';
import { useUnsaved } from '../unsaved';

type User = NonNullable<SettingsData['me']>;

const profileFields = ['firstName', 'lastName', 'email', 'location', 'bio', 'defaultLicense'];
const licenses = Object.keys(t.licenses) as License[];

export function SettingsPage() {
  useTitle(t.settings);
  const { data, error, reload } = useQuery(settings, {});
  if (error && !data) return <ErrorNotice error={error} retry={reload} />;
  const user = data?.me;
  if (!user) return <div class="page" aria-busy="true" />;
  return (
    <div class="page narrow-page settings">
      <div class="page-head"><h1>{t.settings}</h1></div>
      <ProfileForm user={user} reload={reload} />
      <Usage user={user} />
      <section class="panel" aria-label={t.access}>
        <h2>{t.access}</h2>
        <p>{t.accessText}</p>
        <div class="actions">
          <a class="button" href={href('/login/tokens')}>{t.tokens}</a>
          <a class="button" href={href('/login/password')}>{t.password}</a>
        </div>
      </section>
      <SessionList />
      <section class="panel" aria-label={t.yourData}>
        <h2>{t.yourData}</h2>
        <p>{t.yourDataText}</p>
        <div class="actions"><a class="button" href={href('/login/archive')} download><Icon name="download" />{t.downloadData}</a></div>
      </section>
      <DeleteAccount username={user.username} />
    </div>
  );
}

function ProfileForm({ user, reload }: { user: User; reload: () => void }) {
  const { busy, failure, submit, of } = useSubmission();
  const dirty = useRef(false);
  const form = useRef<HTMLFormElement>(null);
  useFaultFocus(form, failure);
  useUnsaved(() => dirty.current);
  const text = (name: 'firstName' | 'lastName' | 'email' | 'location', label: string, hint?: string) => (
    <Field id={name} label={label} hint={hint} fault={of(name)}><input {...control(name, of(name))} type={name === 'email' ? 'email' : 'text'} defaultValue={user[name] ?? ''} maxLength={200} /></Field>
  );
  return (
    <form ref={form} class="panel" onInput={(event) => void ((event.target as HTMLInputElement).type === 'file' || (dirty.current = true))} onSubmit={(event) => {
      event.preventDefault();
      const form = new FormData(event.currentTarget);
      const names = changed(event.currentTarget);
      const value = (name: string) => String(form.get(name) ?? '').trim();
      void submit(async () => {
        dirty.current = false;
        try {
          await mutate(updateProfile, {
            input: only({
              firstName: value('firstName'), lastName: value('lastName'), email: value('email') || null, location: value('location'), bio: value('bio'),
              defaultLicense: value('defaultLicense') as License, isNsfwHidden: form.has('isNsfwHidden'), isAiGeneratedHidden: form.has('isAiGeneratedHidden'),
            }, names),
          });
          say(t.saved);
          reload(); // the form begins with what is stored when it is opened again
        } catch (error) {
          dirty.current = true;
          throw error;
        }
      });
    }}>
      <h2>{t.yourProfile}</h2>
      <div class="two">
        <ImageField label={t.avatar} url={user.avatarUrl} field="avatarId" onDone={reload} />
        <ImageField label={t.coverImage} url={user.coverUrl} field="coverId" onDone={reload} />
      </div>
      <div class="two">
        {text('firstName', t.firstName)}
        {text('lastName', t.lastName)}
        {text('email', t.email, t.emailHint)}
        {text('location', t.location)}
      </div>
      <Field id="bio" label={t.bio} hint={t.markdownHint} fault={of('bio')}><textarea {...control('bio', of('bio'))} rows={5} defaultValue={user.bio} /></Field>
      <h2>{t.preferences}</h2>
      <Field id="defaultLicense" label={t.defaultLicense} fault={of('defaultLicense')}>
        <select {...control('defaultLicense', '')}>{licenses.map((one) => <option key={one} value={one} {...initially(one === user.defaultLicense)}>{t.licenses[one]}</option>)}</select>
      </Field>
      <label class="check"><input type="checkbox" name="isNsfwHidden" defaultChecked={user.isNsfwHidden ?? false} /><span>{t.hideNsfw}</span></label>
      <label class="check"><input type="checkbox" name="isAiGeneratedHidden" defaultChecked={user.isAiGeneratedHidden ?? false} /><span>{t.hideAi}</span></label>
      <Fault failure={failure} known={profileFields} />
      <div class="actions"><button type="submit" class="button primary" disabled={busy}>{t.save}</button></div>
    </form>
  );
}

function Usage({ user }: { user: User }) {
  const usage = user.usage;
  if (!usage) return null;
  return (
    <section class="panel" aria-label={t.usage}>
      <h2>{t.usage}</h2>
      {usage.bytesLimit
        ? <><meter value={usage.bytes} max={usage.bytesLimit} aria-label={t.usage} /><p class="quiet">{t.usageOf(bytes(usage.bytes), bytes(usage.bytesLimit))}</p></>
        : <p>{bytes(usage.bytes)}</p>}
    </section>
  );
}

function DeleteAccount({ username }: { username: string }) {
  const [typed, setTyped] = useState('');
  const { busy, failure, submit } = useSubmission();
  return (
    <section class="panel danger" aria-label={t.deleteAccount}>
      <h2>{t.deleteAccount}</h2>
      <form onSubmit={(event) => {
        event.preventDefault();
        void submit(async () => {
          await mutate(deleteAccount, { input: { username: 'me' } });
          location.href = href('/');
        });
      }}>
        <Field id="confirm" label={t.deleteAccountText}><input {...control('confirm', '')} autocomplete="off" value={typed} onInput={(event) => setTyped(event.currentTarget.value)} placeholder={username} /></Field>
        <Fault failure={failure} />
        <div class="actions"><button type="submit" class="button danger-button" disabled={busy || typed !== username}>{t.deleteAccount}</button></div>
      </form>
    </section>
  );
}
