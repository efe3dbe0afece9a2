import { useEffect, useState } from 'preact/hooks';
import { mutate, useQuery } from '../cache';
import { Fault } from '../components/Fault';
import { control, Field } from '../components/Field';
import { ErrorNotice } from '../components/Notice';
import { explain } from '../components/Toast';
import { changeList } from '../focus';
import { bytes, count, isolated } from '../format';
import { cancelLinkImport, importLink, linkImport, previewLink, type LinkImportData, type PreviewLinkData } from '../generated';
import { send } from '../graphql';
import { href, navigate } from '../router';
import { t } from '../strings';
import { useSubmission } from '../submission';
import { useTitle } from '../title';
import { m } from './texts';

type Preview = NonNullable<PreviewLinkData['previewLink']>;
type Import = NonNullable<LinkImportData['linkImport']>;

/** The page to import things from a URL: what would come, and the progress of the import with an ID. */
export function LinkImport({ tab: id }: { tab: string | null }) {
  useTitle(t.fromURL);
  return (
    <div class="page narrow-page">
      <div class="page-head"><h1>{t.fromURL}</h1></div>
      {id ? <Progress key={id} id={id} /> : <Form />}
    </div>
  );
}

function Form() {
  const [address, setAddress] = useState('');
  const [token, setToken] = useState('');
  const [preview, setPreview] = useState<Preview>();
  const { busy, failure, submit } = useSubmission();
  const input = { url: address.trim(), token: token.trim() };
  return (
    <>
      <form class="panel" onSubmit={(event) => {
        event.preventDefault();
        setPreview(undefined);
        void submit(async () => setPreview((await send(previewLink, { input })).previewLink!));
      }}>
        <Field id="url" label="URL" hint={m.linkHint}>
          <input type="url" {...control('url', '')} required maxLength={2000} value={address} onInput={(event) => { setAddress(event.currentTarget.value); setPreview(undefined); }} />
        </Field>
        <Field id="token" label={m.linkToken} hint={m.linkTokenHint}>
          <input type="password" {...control('token', '')} autocomplete="off" value={token} onInput={(event) => setToken(event.currentTarget.value)} />
        </Field>
        <p class="actions"><button class={preview ? 'button' : 'button primary'} disabled={busy}>{m.linkPreview}</button></p>
        <Fault failure={failure} />
      </form>
      <div aria-live="polite" aria-busy={busy}>
        {preview && <p>{m.linkFound(m.libraryThings(preview.things.length), m.entriesSkipped(preview.skipped.length))}</p>}
      </div>
      {preview && (
        <>
          <Things preview={preview} />
          <Skipped entries={preview.skipped} />
          <p class="actions">
            <button type="button" class="button primary" disabled={busy} onClick={() => void submit(async () => {
              const started = await mutate(importLink, { input });
              navigate(`/upload?tab=${started.importLink!.linkImport.id}`);
            })}>{m.linkStart}</button>
          </p>
        </>
      )}
    </>
  );
}

function Things({ preview }: { preview: Preview }) {
  return (
    <ul class="reports plan">
      {preview.things.map((thing, i) => (
        <li key={i}>
          <details class="panel" open={preview.things.length === 1}>
            <summary>
              <h3>{isolated(thing.name)}</h3>
              {thing.origin?.creator && <span class="quiet">{m.linkBy(isolated(thing.origin.creator), isolated(thing.origin.site))}</span>}
              <span>{m.libraryFiles(thing.fileCount)}</span>
            </summary>
            <p>{t.license}: {thing.license.spdxId === 'LicenseRef-Unknown' ? m.noLicense : thing.license.name}</p>
            {thing.earlier && <p>{m.linkEarlier} <a href={href(`/thing:${thing.earlier.id}`)}>{isolated(thing.earlier.name)}</a></p>}
            <ul>{thing.files.map((file) => <li key={file.path}><span class="path">{isolated(file.path)}</span> {file.size > 0 && <span class="quiet">{bytes(file.size)}</span>}</li>)}</ul>
            {thing.fileCount > thing.files.length && <p class="quiet">{m.andMore(count(thing.fileCount - thing.files.length))}</p>}
          </details>
        </li>
      ))}
    </ul>
  );
}

function Skipped({ entries }: { entries: { path: string; reason: string }[] }) {
  if (entries.length === 0) return null;
  return (
    <section class="panel">
      <h2>{m.skipped}</h2>
      <ul>{entries.map((entry, i) => <li key={i}>{entry.path && <><span class="path">{isolated(entry.path)}</span>: </>}<span lang="en">{entry.reason}</span></li>)}</ul>
    </section>
  );
}

const pause = 1000; // milliseconds between requests while an import is in progress

function Progress({ id }: { id: string }) {
  const { data, error, reload } = useQuery(linkImport, { id });
  const [round, setRound] = useState(0);
  const now = data?.linkImport;
  const busy = now?.state === 'WAITING' || now?.state === 'RUNNING';
  useEffect(() => {
    if (!busy) return;
    const timer = setTimeout(() => {
      if (!document.hidden) reload();
      setRound(round + 1);
    }, pause);
    return () => clearTimeout(timer);
  }, [busy, round]);
  if (error && !data) return <ErrorNotice error={error} retry={reload} />;
  if (!now) return <p aria-busy="true" />;
  return (
    <>
      <div class="panel">
        <p role="status">{stateOf(now)}</p>
        {busy && (
          <>
            <p>
              {now.bytesTotal > 0 ? <progress value={now.bytesDone} max={now.bytesTotal} aria-label={m.linkRunning} /> : <progress aria-label={m.linkRunning} />}
              <br /><span class="quiet">{m.linkDone(count(now.filesDone), m.libraryFiles(now.filesTotal), bytes(now.bytesDone))}</span>
            </p>
            <p class="actions"><button type="button" class="button" onClick={() => void changeList(async () => {
              await mutate(cancelLinkImport, { input: { id } });
              explain(m.linkCanceled);
              reload();
            })}>{t.cancel}</button></p>
          </>
        )}
        {now.error && <p class="fault" lang="en">{now.error}</p>}
        {now.things.length > 0 && <ul>{now.things.map((thing) => <li key={thing.id}><a href={href(`/thing:${thing.id}`)}>{isolated(thing.name)}</a></li>)}</ul>}
        {!busy && <p><a href="?tab">{t.fromURL}</a></p>}
      </div>
      <Skipped entries={now.skipped} />
    </>
  );
}

function stateOf(now: Import): string {
  switch (now.state) {
    case 'DONE': return m.linkEnded(m.libraryThings(now.things.length));
    case 'FAILED': return m.linkFailed;
    case 'CANCELED': return m.linkCanceled;
    default: return m.linkRunning;
  }
}
