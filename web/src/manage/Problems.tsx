import type { ComponentChildren } from 'preact';
import { useState } from 'preact/hooks';
import { useList } from '../cache';
import { Fault } from '../components/Fault';
import { Field } from '../components/Field';
import { NoPreview } from '../components/FileList';
import { More } from '../components/Grid';
import { Empty, ErrorNotice } from '../components/Notice';
import { me } from '../config';
import { isolated, millimeters } from '../format';
import { problems, type ProblemKind, type ProblemsData } from '../generated';
import { href } from '../router';
import { t } from '../strings';
import { useSubmission } from '../submission';
import { tagsIn, update } from './bulk';
import { License } from './BulkDialog';
import { m } from './texts';

type Problem = NonNullable<ProblemsData['problems']>['nodes'][number];

const keyOf = (problem: Problem) => `${problem.kind} ${problem.thing.id} ${problem.file?.id ?? ''}`;

/** What is wrong with the things of the user, with the means to fix it. Administrators also see the things of others. */
export function Problems() {
  const [kind, setKind] = useState<ProblemKind | ''>('');
  const [ofAllUsers, setOfAllUsers] = useState(false);
  const list = useList(problems, { kinds: kind ? [kind] : null, ofAllUsers }, (data) => data.problems);
  return (
    <>
      <form class="panel people-filter" role="search" aria-label={m.problems}>
        <Field id="kind" label={m.problem}>
          <select id="kind" value={kind} onChange={(event) => setKind(event.currentTarget.value as ProblemKind | '')}>
            <option value="">{t.all}</option>
            {Object.entries(m.kinds).map(([value, { name }]) => <option key={value} value={value}>{name}</option>)}
          </select>
        </Field>
        {me!.role === 'ADMINISTRATOR' && <label class="check"><input type="checkbox" checked={ofAllUsers} onChange={(event) => setOfAllUsers(event.currentTarget.checked)} /><span>{m.ofAllUsers}</span></label>}
      </form>
      {list.error && !list.data ? <ErrorNotice error={list.error} retry={list.reload} />
        : list.data && list.nodes.length === 0 ? <Empty text={m.noProblems} />
        : (
          <>
            <h2 class="unseen">{m.problems}</h2>
            <ul class="reports problems" aria-busy={list.loading ? 'true' : undefined}>{list.nodes.map((problem) => <li key={keyOf(problem)}><ProblemView problem={problem} reload={list.reload} /></li>)}</ul>
            <More list={list} />
          </>
        )}
    </>
  );
}

function ProblemView({ problem, reload }: { problem: Problem; reload: () => void }) {
  const { kind, thing, file, duplicateOf } = problem;
  const other = duplicateOf?.target?.__typename === 'Thing' ? duplicateOf.target : null;
  const own = thing.creator.username === me!.username;
  const texts = m.kinds[kind];
  return (
    <article class="panel">
      <h3><a href={href(`/thing:${thing.id}${file ? '/files' : ''}`)}>{thing.name}</a>{file && <span class="quiet"> {isolated(file.name)}</span>}</h3>
      <p><b>{texts.name}</b>: {texts.hint}{kind === 'SUSPICIOUS_UNITS' && file?.mesh && ` (${millimeters(file.mesh.size)})`}</p>
      {kind === 'NO_PREVIEW' && file && <p class="bad"><NoPreview {...file.processing} /></p>}
      {other && <p><a href={href(`/thing:${other.id}/files`)}>{other.name}</a> <span class="quiet">{isolated(duplicateOf!.name)}</span></p>}
      {own && kind === 'NO_TAGS' && <Fix thing={thing} reload={reload}><Field id={`tags ${thing.id}`} label={m.addTags}><input id={`tags ${thing.id}`} name="addTags" required placeholder={t.tagsHint} /></Field></Fix>}
      {own && kind === 'NO_LICENSE' && <Fix thing={thing} reload={reload}><License id={`license ${thing.id}`} /></Fix>}
      {own && <p class="actions"><a class="button" href={href(`/thing:${thing.id}/edit`)}>{t.edit}</a></p>}
    </article>
  );
}

/** A form that fixes a problem of a thing in place. */
function Fix({ thing, reload, children }: { thing: { id: string }; reload: () => void; children: ComponentChildren }) {
  const { busy, failure, submit } = useSubmission();
  return (
    <form class="fix" onSubmit={(event) => {
      event.preventDefault();
      const form = new FormData(event.currentTarget);
      void submit(async () => {
        const licenseId = form.get('licenseId');
        const [refusal] = await update({ ids: [thing.id], ...(licenseId ? { licenseId: String(licenseId) } : { addTags: tagsIn(form.get('addTags')) }) }, reload);
        if (refusal) throw refusal.text;
      });
    }}>
      {children}
      <button type="submit" class="button" disabled={busy}>{t.save}</button>
      <Fault failure={failure} />
    </form>
  );
}
