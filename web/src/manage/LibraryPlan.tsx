import { useEffect, useState } from 'preact/hooks';
import { ErrorNotice } from '../components/Notice';
import { count, isolated } from '../format';
import { planLibrary, type PlanLibraryData } from '../generated';
import { Failure, send } from '../graphql';
import { href } from '../router';
import { t } from '../strings';
import { m } from './texts';

type Plan = NonNullable<NonNullable<PlanLibraryData['scanLibrary']>['plan']>;

/** What the things of a library would be, which changes nothing. */
export function LibraryPlan({ name }: { name: string }) {
  const [plan, setPlan] = useState<Plan>();
  const [failure, setFailure] = useState<Failure>();
  const load = () => {
    setFailure(undefined);
    send(planLibrary, { input: { name, dryRun: true } }).then((data) => setPlan(data.scanLibrary!.plan!), setFailure);
  };
  useEffect(load, [name]);
  return (
    <>
      <h2>{m.dryRunOf(name)}</h2>
      <p><a href={href('/moderation?tab=libraries')}>{m.allLibraries}</a></p>
      <div aria-live="polite">
        {failure ? <ErrorNotice error={failure} retry={load} />
          : plan ? <p>{m.planned(m.libraryThings(plan.thingCount), m.libraryFiles(plan.fileCount), m.entriesSkipped(plan.skippedCount))}</p>
          : <p aria-busy="true">{m.dryRunning}</p>}
      </div>
      {plan && <Things plan={plan} />}
      {plan && plan.skippedCount > 0 && <Skipped plan={plan} />}
    </>
  );
}

function Things({ plan }: { plan: Plan }) {
  return (
    <>
      <ul class="reports plan">
        {plan.things.map((thing) => (
          <li key={thing.path}>
            <details class="panel">
              <summary>
                <h3>{isolated(thing.name)}</h3>
                <span class="quiet path">{isolated(thing.path)}</span>
                <span>{[m.models(thing.modelCount), m.pictures(thing.pictureCount), m.documents(thing.documentCount), m.attachments(thing.attachmentCount)].join(' · ')}</span>
              </summary>
              {thing.collection.length > 0 && <p>{t.collections}: {isolated(thing.collection.join(' / '))}</p>}
              <p>{t.license}: {thing.license ?? m.noLicense}</p>
              <ul>
                {thing.files.map((file) => (
                  <li key={file.path}>
                    <span class="path">{isolated(file.path)}</span> <span class="badge">{m.roles[file.kind]}</span>{' '}
                    {file.isCover && <span class="badge">{m.cover}</span>} {file.variant && <span class="mark">{isolated(file.variant)}</span>}
                  </li>
                ))}
              </ul>
              {thing.fileCount > thing.files.length && <p class="quiet">{m.andMore(count(thing.fileCount - thing.files.length))}</p>}
            </details>
          </li>
        ))}
      </ul>
      {plan.thingCount > plan.things.length && <p class="quiet">{m.firstOf(count(plan.things.length), count(plan.thingCount))}</p>}
    </>
  );
}

function Skipped({ plan }: { plan: Plan }) {
  return (
    <section class="panel">
      <h3>{m.skipped}</h3>
      <ul>{plan.skipped.map((entry) => <li key={entry.path}><span class="path">{isolated(entry.path || '/')}</span>: <span lang="en">{entry.reason}</span></li>)}</ul>
      {plan.skippedCount > plan.skipped.length && <p class="quiet">{m.firstOf(count(plan.skipped.length), count(plan.skippedCount))}</p>}
    </section>
  );
}
