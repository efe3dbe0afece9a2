import { useEffect, useState } from 'preact/hooks';
import { mutate, useQuery } from '../cache';
import { Empty, ErrorNotice } from '../components/Notice';
import { explain } from '../components/Toast';
import { ago, count, duration } from '../format';
import { libraries, scanLibrary, type LibrariesData } from '../generated';
import { changeList } from '../focus';
import { href } from '../router';
import { m } from './texts';

type Library = NonNullable<LibrariesData['libraries']>[number];

const pause = 2000; // milliseconds between requests while a library is scanned or read

/** The libraries of the server with their last scans. Administrators scan them here. */
export function Libraries() {
  const { data, error, reload } = useQuery(libraries, {});
  const [round, setRound] = useState(0);
  const list = data?.libraries ?? [];
  const busy = list.some((library) => library.isScanning || library.unreadCount > 0);
  useEffect(() => {
    if (!busy) return;
    const timer = setTimeout(() => {
      if (!document.hidden) reload();
      setRound(round + 1);
    }, pause);
    return () => clearTimeout(timer);
  }, [busy, round]);
  if (error && !data) return <ErrorNotice error={error} retry={reload} />;
  if (data && list.length === 0) return <Empty text={m.noLibraries} />;
  return (
    <>
      <h2 class="unseen">{m.libraries}</h2>
      <ul class="reports libraries" aria-busy={data ? undefined : 'true'}>{list.map((library) => <li key={library.name}><LibraryView library={library} reload={reload} /></li>)}</ul>
    </>
  );
}

function LibraryView({ library, reload }: { library: Library; reload: () => void }) {
  const { name, folder, lastScan, isScanning } = library;
  return (
    <article class="panel">
      <h3>{name}</h3>
      <p class="quiet path">{folder ?? m.notConfigured}</p>
      <p>
        {[m.libraryThings(library.thingCount), m.libraryFiles(library.fileCount), m.filesMissing(library.missingCount),
          ...(library.unreadCount ? [m.filesUnread(library.unreadCount)] : []), m.entriesSkipped(library.skippedCount)].join(' · ')}
      </p>
      {isScanning ? <Progress scan={lastScan} />
        : lastScan ? <p>{lastScan.error ? m.scanFailed(ago(lastScan.startedAt), lastScan.error) : m.scanned(ago(lastScan.finishedAt ?? lastScan.startedAt), count(lastScan.found), count(lastScan.added), count(lastScan.changed), count(lastScan.moved), count(lastScan.missing))}</p>
        : <p>{m.notScanned}</p>}
      {folder && (
        <p class="actions">
          <button type="button" class="button primary" aria-label={`${m.scanNow}: ${name}`} onClick={() => void changeList(async () => {
            await mutate(scanLibrary, { input: { name } });
            explain(m.scanRequested);
            reload();
          })}>{m.scanNow}</button>
          <a class="button" href={href(`/moderation?tab=libraries&plan=${encodeURIComponent(name)}`)} aria-label={`${m.dryRun}: ${name}`}>{m.dryRun}</a>
        </p>
      )}
    </article>
  );
}

function Progress({ scan }: { scan: Library['lastScan'] }) {
  // A scan that was requested has not begun if the last one has ended.
  if (!scan || scan.finishedAt || scan.error) return <p>{m.scanWaits}</p>;
  const label = [m.scanSpeed(count(scan.read), count(Math.round(scan.filesPerSecond))), ...(scan.remainingSeconds === null ? [] : [m.scanRemaining(duration(scan.remainingSeconds))])].join(' · ');
  return (
    <p>
      <progress value={scan.progress} max={1} aria-label={m.scanProgress} />
      <br /><span class="quiet">{label}</span>
    </p>
  );
}
