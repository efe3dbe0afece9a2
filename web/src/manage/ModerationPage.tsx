import { useEffect, useRef, useState } from 'preact/hooks';
import { mutate, useList, useQuery } from '../cache';
import { commentPath } from '../components/Comments';
import { More } from '../components/Grid';
import { Html } from '../components/Html';
import { Invitations } from './Invitations';
import { Libraries } from './Libraries';
import { LibraryPlan } from './LibraryPlan';
import { Empty, ErrorNotice } from '../components/Notice';
import { ReasonDialog } from '../components/ReasonDialog';
import { Tabs } from '../components/Tabs';
import { Users } from './Users';
import { me } from '../config';
import { focusIn } from '../focus';
import { ago, date, isolated } from '../format';
import {
  deleteComment, deleteMake, dismissReport, moderationLog, openReports, reports, resolveReport, suspendUser, takeDownThing, type ReportsData,
} from '../generated';
import { href, navigate } from '../router';
import { t } from '../strings';
import { useTitle } from '../title';
import { m } from './texts';

type Report = NonNullable<ReportsData['reports']>['nodes'][number];

/** The page for moderators and administrators. plan is the library of which a dry run is shown. */
export function ModerationPage({ tab, plan }: { tab: string; plan: string | null }) {
  useTitle(t.moderation);
  const tabs = [{ id: 'open', title: t.open }, { id: 'all', title: t.all }, { id: 'log', title: t.log }, { id: 'users', title: t.types.USERS }];
  if (me!.role === 'ADMINISTRATOR') tabs.push({ id: 'invitations', title: t.invitations }, { id: 'libraries', title: m.libraries });
  return (
    <div class="page narrow-page">
      <div class="page-head"><h1>{t.moderation}</h1></div>
      <Tabs label={t.moderation} current={tab} onChoose={(id) => navigate(`/moderation?tab=${id}`, true)} tabs={tabs}>
        {tab === 'log' ? <Log /> : tab === 'users' ? <Users /> : tab === 'invitations' ? <Invitations /> : tab === 'libraries' ? plan ? <LibraryPlan key={plan} name={plan} /> : <Libraries /> : <Reports key={tab} all={tab === 'all'} />}
      </Tabs>
    </div>
  );
}

function Reports({ all }: { all: boolean }) {
  const list = useList(reports, { state: all ? null : 'OPEN' }, (data) => data.reports);
  const number = useQuery(openReports, {}); // in the header
  const reload = () => {
    list.reload();
    number.reload();
  };
  if (list.error && !list.data) return <ErrorNotice error={list.error} retry={list.reload} />;
  if (list.data && list.nodes.length === 0) return <Empty text={t.noReports} />;
  return (
    <>
      <p class="quiet" role="status">{list.data?.reports && t.reportsCount(list.data.reports.totalCount)}</p>
      <ul class="reports" aria-busy={list.loading ? 'true' : undefined}>{list.nodes.map((report) => <li key={report.id}><ReportView report={report} reload={reload} /></li>)}</ul>
      <More list={list} />
    </>
  );
}

/** What is reported. */
function nameOf({ target }: Report): string {
  switch (target?.__typename) {
    case undefined: return t.targetGone;
    case 'User': return target.username;
    case 'Comment': return t.commentOn(isolated(target.about.name));
    default: return target!.name;
  }
}

/** The path of the reported object, or "" if it no longer exists. */
function pathOf({ target }: Report): string {
  switch (target?.__typename) {
    case undefined: return '';
    case 'User': return `/${target.username}`;
    case 'Comment': return commentPath(target.about.__typename, target.about.id, target.id);
    default: return `/${target!.__typename.toLowerCase()}:${target!.id}`;
  }
}

type Action = { title: string; about: string; hint?: string; run: (reason: string) => Promise<unknown> };

/** The actions of a moderator on a report other than closing it. Each action also closes the report. */
function actionsOf(report: Report): Action[] {
  const { target } = report;
  const about = nameOf(report);
  const closing = (title: string, act: (reason: string) => Promise<unknown>): Action => {
    let done = false; // an action whose second step fails is repeated
    return { title, about, run: async (reason) => {
      if (!done) await act(reason);
      done = true;
      // If another moderator has dismissed the report meanwhile, it stays dismissed.
      await mutate(resolveReport, { input: { id: report.id, reason } }).catch((error) => (error.code === 'CONFLICT' ? undefined : Promise.reject(error)));
    } };
  };
  const actions: Action[] = [];
  if (target?.__typename === 'Thing' && !target.takedown) actions.push(closing(t.takeDown, (reason) => mutate(takeDownThing, { input: { id: target.id, reason } })));
  if (target?.__typename === 'Make') actions.push(closing(t.delete, (reason) => mutate(deleteMake, { input: { id: target.id, reason } })));
  if (target?.__typename === 'Comment' && !target.isDeleted) actions.push(closing(t.delete, (reason) => mutate(deleteComment, { input: { id: target.id, reason } })));
  if (!report.user.suspension) actions.push({ ...closing(t.suspend, (reason) => mutate(suspendUser, { input: { username: report.user.username, reason } })), about: report.user.username });
  actions.push({ title: t.resolve, about, hint: t.reasonLogged, run: (reason) => mutate(resolveReport, { input: { id: report.id, reason } }) });
  actions.push({ title: t.dismiss, about, hint: t.reasonLogged, run: (reason) => mutate(dismissReport, { input: { id: report.id, reason } }) });
  return actions;
}

function ReportView({ report, reload }: { report: Report; reload: () => void }) {
  const [action, setAction] = useState<Action>();
  const article = useRef<HTMLElement>(null);
  const path = pathOf(report);
  // A decided report leaves the list, with the button that has the focus. The keyboard continues at the next report.
  useEffect(() => () => {
    const item = article.current!.parentElement!;
    if (item.contains(document.activeElement) && !focusIn(item.nextElementSibling ?? item.previousElementSibling, 'a')) document.getElementById('panel')?.focus();
  }, []);
  return (
    <article ref={article} class="panel report">
      <header>
        <h2>{path ? <a href={href(path)}>{nameOf(report)}</a> : <span class="quiet">{nameOf(report)}</span>}</h2>
        <span class="badge">{report.target ? t.targets[report.target.__typename] : ''}</span>
        <span class="mark">{t.reasons[report.reason]}</span>
      </header>
      {report.note && <blockquote>{report.note}</blockquote>}
      {report.target?.__typename === 'Comment' && <Html html={report.target.bodyHtml} />}
      <p class="quiet">
        {t.reportedBy} <a href={href(`/${report.reporter.username}`)}>{report.reporter.username}</a>, <time dateTime={report.createdAt} title={date(report.createdAt)}>{ago(report.createdAt)}</time>
        {' · '}{t.creator}: <a href={href(`/${report.user.username}`)}>{report.user.username}</a>
      </p>
      {report.state === 'OPEN'
        ? <div class="actions">{actionsOf(report).map((one) => <button key={one.title} type="button" class="button" onClick={() => setAction(one)}>{one.title}</button>)}</div>
        : <p>{t.states[report.state]}{report.decision && `: ${t.recorded(report.decision)}`} <span class="quiet">{report.decidedBy && t.decidedBy(report.decidedBy.username)}</span></p>}
      {action && <ReasonDialog title={action.title} about={action.about} hint={action.hint} onClose={() => setAction(undefined)} onSend={async (reason) => {
        await action.run(reason);
        reload();
      }} />}
    </article>
  );
}

function Log() {
  const list = useList(moderationLog, {}, (data) => data.moderationLog);
  if (list.error && !list.data) return <ErrorNotice error={list.error} retry={list.reload} />;
  if (list.data && list.nodes.length === 0) return <Empty />;
  return (
    <>
      <ul class="log">
        {list.nodes.map((entry) => (
          <li key={entry.id}>
            <time class="quiet" dateTime={entry.createdAt} title={date(entry.createdAt)}>{ago(entry.createdAt)}</time>{' '}
            <b>{entry.actor?.username ?? t.operator}</b> {t.actions[entry.action]} <a href={href(`/${entry.user.username}`)}>{entry.user.username}</a>
            {entry.thing && <>: <a href={href(`/thing:${entry.thing.id}`)}>{entry.thing.name}</a></>}
            {entry.reason && <span class="quiet"> – {t.recorded(entry.reason)}</span>}
          </li>
        ))}
      </ul>
      <More list={list} />
    </>
  );
}
