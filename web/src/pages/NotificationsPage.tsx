import { mutate, useList } from '../cache';
import { Avatar } from '../components/Avatar';
import { commentPath } from '../components/Comments';
import { More } from '../components/Grid';
import { Icon } from '../components/Icon';
import { Empty, ErrorNotice } from '../components/Notice';
import { changeList } from '../focus';
import { ago, date, isolated } from '../format';
import { markNotificationsRead, notifications, type NotificationsData } from '../generated';
import { href } from '../router';
import { t } from '../strings';
import { useTitle } from '../title';

type Notification = NonNullable<NonNullable<NotificationsData['me']>['notifications']>['nodes'][number];

/** Returns the path of the target of a notification, or "" if it no longer exists. */
function pathOf(target: Notification['target']): string {
  switch (target?.__typename) {
    case 'Thing': return `/thing:${target.id}`;
    case 'Make': return `/make:${target.id}`;
    case 'Collection': return `/collection:${target.id}`;
    case 'User': return `/${target.username}`;
    case 'Comment': return commentPath(target.about.__typename, target.about.id, target.id);
    case 'File': return target.owner?.__typename === 'Thing' ? `/thing:${target.owner.id}/edit` : '';
  }
  return '';
}

type Decision = { reason: string; createdAt: string } | null | undefined;

/** Returns the decision that a notification reports, if it is still in force: the thing is still taken down, or the user is still suspended. */
function decisionOf({ kind, target, createdAt }: Notification, suspension: Decision): Decision {
  const found: Decision = kind === 'MODERATION' ? (target?.__typename === 'Thing' ? target.takedown : target?.__typename === 'User' ? suspension : null) : null;
  return found && Math.abs(Date.parse(found.createdAt) - Date.parse(createdAt)) < sameDecision ? found : null;
}

const sameDecision = 10_000; // milliseconds between a decision and its notification, which are one transaction

/** Returns what a notification says, with the name of the object that it is about. */
function text(one: Notification, isInForce: boolean): string {
  const who = one.actor?.username ?? t.somebody;
  const { target } = one;
  switch (target?.__typename) {
    case 'Thing': return one.kind === 'REMIX' ? t.notified.REMIX(who, isolated(target.name)) : one.kind === 'MODERATION' ? (isInForce ? t.notified.TAKEN_DOWN : t.notified.MODERATION)(isolated(target.name)) : t.notified.LIKE(who, isolated(target.name));
    case 'Make': return one.kind === 'MAKE' ? t.notified.MAKE(who, isolated(target.thing?.name ?? target.name)) : t.notified.LIKE(who, isolated(target.name));
    case 'Collection': return t.notified.LIKE(who, isolated(target.name));
    case 'Comment': return one.kind === 'REPLY' ? t.notified.REPLY(who, isolated(target.about.name)) : t.notified.COMMENT(who, isolated(target.about.name));
    case 'User': return one.kind === 'FOLLOW' ? t.notified.FOLLOW(who) : isInForce ? t.notified.SUSPENDED : t.notified.ACCOUNT;
    case 'File': return t.notified.PROCESSING_FAILED(isolated(target.file), target.owner?.__typename === 'Thing' ? isolated(target.owner.name) : '');
  }
  // The target no longer exists.
  if (one.kind === 'MODERATION') return t.notified.MODERATION('…');
  return one.kind === 'PROCESSING_FAILED' ? t.notified.PROCESSING_FAILED('…', '') : t.notified[one.kind](who, '…');
}

export function NotificationsPage() {
  useTitle(t.notifications);
  const list = useList(notifications, {}, (data) => data.me?.notifications);
  if (list.error && !list.data) return <ErrorNotice error={list.error} retry={list.reload} />;
  const mark = (ids?: string[]) => changeList(async () => {
    await mutate(markNotificationsRead, { input: ids ? { ids } : {} });
    list.replace(list.nodes.map((one) => (!ids || ids.includes(one.id) ? { ...one, isRead: true } : one)));
  });
  return (
    <div class="page narrow-page" aria-busy={list.loading ? 'true' : undefined}>
      <div class="page-head with-action">
        <h1>{t.notifications}</h1>
        {list.nodes.some((one) => !one.isRead) && <button type="button" class="button" onClick={() => mark()}><Icon name="check" />{t.markAllRead}</button>}
      </div>
      {list.data && list.nodes.length === 0 && <Empty text={t.notificationsEmpty} />}
      <ul class="notifications">
        {list.nodes.map((one) => {
          const path = pathOf(one.target);
          const decision = decisionOf(one, list.data?.me?.suspension);
          const words = text(one, Boolean(decision));
          return (
            <li key={one.id} class={one.isRead ? '' : 'unread'}>
              {one.actor ? <Avatar user={one.actor} size="medium" /> : <span class="file-icon"><Icon name="bell" /></span>}
              <p>
                {path ? <a href={href(path)} onClick={() => void (one.isRead || mark([one.id]))}>{words}</a> : words}
                {decision && <><br />{t.reason}: {decision.reason}</>}
                <br /><time class="quiet" dateTime={one.createdAt} title={date(one.createdAt)}>{ago(one.createdAt)}</time>
              </p>
            </li>
          );
        })}
      </ul>
      <More list={list} />
    </div>
  );
}
