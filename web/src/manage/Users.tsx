import { useState } from 'preact/hooks';
import { useList } from '../cache';
import { date } from '../format';
import { users, type Role, type UserFilter } from '../generated';
import { href } from '../router';
import { t } from '../strings';
import { Avatar } from '../components/Avatar';
import { Field } from '../components/Field';
import { More } from '../components/Grid';
import { Empty, ErrorNotice } from '../components/Notice';

/** All users, newest account first. A moderator opens a profile to suspend its user, an administrator also to change the role. */
export function Users() {
  const [filter, setFilter] = useState<UserFilter>({});
  const list = useList(users, { filter }, (data) => data.users);
  return (
    <>
      <form class="panel people-filter" role="search" aria-label={t.types.USERS} onSubmit={(event) => {
        event.preventDefault();
        const form = new FormData(event.currentTarget);
        setFilter({ prefix: String(form.get('prefix')).trim() || null, role: (form.get('role') as Role) || null });
      }}>
        <Field id="prefix" label={t.usernamePrefix}><input id="prefix" name="prefix" type="search" maxLength={200} /></Field>
        <Field id="role" label={t.role}>
          <select id="role" name="role" onChange={(event) => event.currentTarget.form!.requestSubmit()}>
            <option value="">{t.all}</option>
            {(Object.keys(t.roles) as Role[]).map((role) => <option key={role} value={role}>{t.roles[role] || t.member}</option>)}
          </select>
        </Field>
        <button type="submit" class="button">{t.search}</button>
      </form>
      {list.error && !list.data ? <ErrorNotice error={list.error} retry={list.reload} /> : list.data && list.nodes.length === 0 ? <Empty text={t.nothingFound} /> : (
        <ul class="log users" aria-busy={list.loading ? 'true' : undefined}>
          {list.nodes.map((user) => (
            <li key={user.username}>
              <Avatar user={user} />
              <p>
                <a href={href(`/${user.username}`)}>{user.username}</a> {`${user.firstName} ${user.lastName}`.trim()} {user.suspension && <span class="badge">{t.isSuspended}</span>}
                <br /><span class="quiet">{[t.roles[user.role], t.memberSince(date(user.createdAt)), t.thingsCount(user.thingCount)].filter(Boolean).join(' · ')}</span>
              </p>
            </li>
          ))}
        </ul>
      )}
      <More list={list} />
    </>
  );
}
