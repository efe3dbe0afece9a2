import { mutate, useList, useQuery } from '../cache';
import { Avatar } from '../components/Avatar';
import { commentPath } from '../components/Comments';
import { More } from '../components/Grid';
import { Icon } from '../components/Icon';
import { Empty, ErrorNotice } from '../components/Notice';
import { changeList } from '../focus';
import { ago, date, isolated } from '../format';
import { markNotificationsRead, notifications, unread, type NotificationsData } from '../generated';
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

/** Returns what a notification about a decision says. */
function decided(decision: Notification['decision'], name: string): string {
  switch (decision?.action) {
    case 'TAKE_DOWN_THING': return t.notified.TAKEN_DOWN(name);
    case 'RESTORE_THING': case 'RESTORE_MAKE': return t.notified.RESTORED(name);
    case 'RESTORE_COMMENT': return t.notified.COMMENT_RESTORED(name);
    case 'DELETE_THING': return t.notified.THING_DELETED;
    case 'DELETE_MAKE': return t.notified.MAKE_DELETED;
    case 'DELETE_COMMENT': return t.notified.COMMENT_DELETED(name);
    case 'DELETE_FILE': return t.notified.FILE_DELETED;
    case 'SUSPEND_USER': return t.notified.SUSPENDED;
    case 'UNSUSPEND_USER': return t.notified.UNSUSPENDED;
    case 'SET_USER_ROLE': return decision.role === 'MEMBER' || !decision.role ? t.notified.NO_ROLE : t.notified.ROLE(t.roles[decision.role]);
  }
  return name ? t.notified.MODERATION(name) : t.notified.ACCOUNT;
}

/** Returns what a notification says, with the name of the object that it is about. */
function text(one: Notification): string {
  const who = one.actor?.username ?? t.somebody;
  const { target } = one;
  switch (target?.__typename) {
    case 'Thing': return one.kind === 'REMIX' ? t.notified.REMIX(who, isolated(target.name)) : one.kind === 'MODERATION' ? decided(one.decision, isolated(target.name)) : t.notified.LIKE(who, isolated(target.name));
    case 'Make':
      if (one.kind === 'MODERATION') return decided(one.decision, isolated(target.name));
      return one.kind === 'MAKE' ? t.notified.MAKE(who, isolated(target.thing?.name ?? target.name)) : t.notified.LIKE(who, isolated(target.name));
    case 'Collection': return t.notified.LIKE(who, isolated(target.name));
    case 'Comment':
      if (one.kind === 'MODERATION') return decided(one.decision, isolated(target.about.name));
      return one.kind === 'REPLY' ? t.notified.REPLY(who, isolated(target.about.name)) : t.notified.COMMENT(who, isolated(target.about.name));
    case 'User': return one.kind === 'FOLLOW' ? t.notified.FOLLOW(who) : decided(one.decision, '');
    case 'File': return t.notified.PROCESSING_FAILED(isolated(target.file), target.owner?.__typename === 'Thing' ? isolated(target.owner.name) : '');
  }
  // The target no longer exists.
  if (one.kind === 'MODERATION') return decided(one.decision, '…');
  return one.kind === 'PROCESSING_FAILED' ? t.notified.PROCESSING_FAILED('…', '') : t.notified[one.kind](who, '…');
}

export function NotificationsPage() {
  useTitle(t.notifications);
  const { reload: recount } = useQuery(unread, {}); // for the header
  const list = useList(notifications, {}, (data) => data.me?.notifications);
  if (list.error && !list.data) return <ErrorNotice error={list.error} retry={list.reload} />;
  const mark = (ids?: string[]) => changeList(async () => {
    await mutate(markNotificationsRead, { input: ids ? { ids } : {} });
    recount();
    list.update((nodes) => nodes.map((one) => (!ids || ids.includes(one.id) ? { ...one, isRead: true } : one)));
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
          const words = text(one);
          return (
            <li key={one.id} class={one.isRead ? '' : 'unread'}>
              {one.actor ? <Avatar user={one.actor} size="medium" /> : <span class="file-icon"><Icon name="bell" /></span>}
              <p>
                {path ? <a href={href(path)} onClick={() => void (one.isRead || mark([one.id]))}>{words}</a> : words}
                {one.decision?.reason && <><br />{t.reason}: {t.recorded(one.decision.reason)}</>}
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
