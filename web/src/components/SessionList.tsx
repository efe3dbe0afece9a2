import { mutate, useQuery } from '../cache';
import { changeList } from '../focus';
import { ago, date } from '../format';
import { endSessions, sessions } from '../generated';
import { send } from '../graphql';
import { href } from '../router';
import { t } from '../strings';
import { ErrorNotice } from './Notice';
import { say } from './Toast';

/** The browsers in which the user is signed in. Each of them can be signed out. */
export function SessionList() {
  const { data, error, reload, change } = useQuery(sessions, {});
  const list = data?.sessions ?? [];
  const end = (ids: string[] | null) => changeList(async () => {
    await mutate(endSessions, { input: { ids } });
    say(t.signedOut);
    change(await send(sessions, {}));
  });
  return (
    <section class="panel" aria-label={t.sessions}>
      <h2>{t.sessions}</h2>
      {error && !data && <ErrorNotice error={error} retry={reload} />}
      <ul class="sessions">
        {list.map((session) => {
          const name = t.browserOn(session.browser, session.system);
          return (
            <li key={session.id}>
              <div>
                <b>{name}</b> {session.isCurrent && <span class="badge">{t.thisBrowser}</span>}
                <p class="quiet">{t.lastUsed(ago(session.lastUsedAt))} · {t.signedInOn(date(session.createdAt))}</p>
              </div>
              {session.isCurrent
                ? <form method="post" action={href('/logout')}><input type="hidden" name="next" value={href('/')} /><button type="submit" class="button">{t.signOut}</button></form>
                : <button type="button" class="button" aria-label={`${t.signOut}: ${name}`} onClick={() => void end([session.id])}>{t.signOut}</button>}
            </li>
          );
        })}
      </ul>
      {list.length > 1 && <div class="actions"><button type="button" class="button" onClick={() => void end(null)}>{t.signOutOthers}</button></div>}
    </section>
  );
}
