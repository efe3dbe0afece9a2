import { useEffect, useState } from 'preact/hooks';
import { config, isStaff, me } from '../config';
import { useQuery } from '../cache';
import { openReports, unread } from '../generated';
import { href, type Route } from '../router';
import { setSessionEnded, useSessionEnded } from '../session';
import { t } from '../strings';
import { storedTheme, setTheme, themes, type Theme } from '../theme';
import { Avatar } from './Avatar';
import { Icon } from './Icon';
import { Menu } from './Menu';
import { SearchBox } from './SearchBox';
import { signInURL, SignInAgain, signUpURL } from './SignInDialog';

const pollEvery = 60_000; // milliseconds

export function Header({ route }: { route: Route | null }) {
  const ended = useSessionEnded();
  return (
    <header class="site">
      <a class="skip" href="#main">{t.skip}</a>
      <div class="bar">
        <a class="brand" href={href('/')}>
          {config.logo ? <img src={config.logo} alt="" height="32" /> : <Icon name="cube" />}
          <span>{config.name}</span>
        </a>
        <SearchBox words={route?.page === 'explore' ? (route.query.get('q') ?? '') : ''} />
        <nav class="site-nav" aria-label={t.menu}>
          <a href={href('/explore')} aria-current={route?.page === 'explore' ? 'page' : undefined}>{t.explore}</a>
          <a class={`button primary upload ${me ? '' : 'wide-only'}`} href={href('/upload')} aria-label={t.upload}><Icon name="plus" /><span>{t.upload}</span></a>
          {me ? <Account /> : <Visitor />}
        </nav>
      </div>
      {ended && <p class="session-ended" role="alert">{t.sessionEnded} <SignInAgain /></p>}
    </header>
  );
}

function Account() {
  const { data, reload } = useQuery(unread, {});
  const reports = useQuery(openReports, isStaff ? {} : null);
  const username = data?.me?.username ?? me!.username;
  const ended = useSessionEnded();
  useEffect(() => {
    const poll = () => {
      reload();
      if (isStaff) reports.reload();
    };
    const timer = setInterval(() => document.hidden || poll(), pollEvery);
    addEventListener('focus', poll); // the user may have signed in or out in another tab
    return () => {
      clearInterval(timer);
      removeEventListener('focus', poll);
    };
  }, []);
  useEffect(() => {
    if (data) setSessionEnded(!data.me);
    if (data?.me) me!.username = data.me.username; // an administrator may have renamed the user
  }, [data]);
  if (ended) return null;
  const number = data?.me?.unreadNotificationCount ?? 0;
  const open = reports.data?.reports?.totalCount ?? 0;
  return (
    <>
      <a class="button icon-only quiet-button bell" href={href('/notifications')} aria-label={number ? t.unread(number) : t.notifications} title={t.notifications}>
        <Icon name="bell" />
        <Dot number={number} />
      </a>
      <Menu label={open ? `${t.account}, ${t.openReports(open)}` : t.account} kind="avatar-button" button={<><Avatar user={{ username, avatarUrl: data?.me ? data.me.avatarUrl : (me?.avatar || null) }} size="medium" /><Dot number={open} /></>}>
        <p class="menu-title">{username}</p>
        <a href={href(`/${username}`)}><Icon name="user" />{t.profile}</a>
        <a href={href(`/${username}/drafts`)}><Icon name="edit" />{t.drafts}</a>
        <a href={href(`/${username}/collections`)}><Icon name="folder" />{t.collections}</a>
        <a href={href('/feed')}><Icon name="star" />{t.feed}</a>
        <a href={href('/explore')}><Icon name="search" />{t.explore}</a>
        {isStaff && <a href={href('/moderation')}><Icon name="shield" />{t.moderation}{open > 0 && <span class="quiet">{t.openReports(open)}</span>}</a>}
        <a href={href('/settings')}><Icon name="gear" />{t.settings}</a>
        <hr />
        <ThemeChoice />
        <hr />
        <form method="post" action={href('/logout')}>
          <input type="hidden" name="next" value={href('/')} />
          <button type="submit">{t.signOut}</button>
        </form>
      </Menu>
    </>
  );
}

/** A number on a button, if it is not 0. */
function Dot({ number }: { number: number }) {
  return number > 0 ? <span class="dot" aria-hidden="true">{number > 99 ? '99+' : number}</span> : null;
}

function Visitor() {
  return (
    <>
      <a class="button" href={signInURL()} data-native>{t.signIn}</a>
      <Menu label={t.menu} button={<Icon name="more" />}>
        <a href={href('/explore')}><Icon name="search" />{t.explore}</a>
        <a href={href('/upload')}><Icon name="plus" />{t.upload}</a>
        {config.registration && <a href={signUpURL()}><Icon name="user" />{t.signUp}</a>}
        <hr />
        <ThemeChoice />
      </Menu>
    </>
  );
}

/** The menu to choose the color scheme. */
function ThemeChoice() {
  const [chosen, setChosen] = useState<Theme>(storedTheme());
  return (
    <div class="theme" role="group" aria-label={t.theme}>
      {themes.map((theme) => (
        <button key={theme} type="button" aria-pressed={theme === chosen} onClick={() => {
          setTheme(theme);
          setChosen(theme);
        }}>{t.themes[theme]}</button>
      ))}
    </div>
  );
}
