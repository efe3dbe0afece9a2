import { useEffect, useLayoutEffect, useRef } from 'preact/hooks';
import { Footer } from './components/Footer';
import { Header } from './components/Header';
import { MustSignIn, NotFound } from './components/Notice';
import { config, isStaff, me } from './config';
import { Managed } from './ondemand';
import { CategoryPage } from './pages/CategoryPage';
import { CollectionPage } from './pages/CollectionPage';
import { EditPage } from './pages/EditPage';
import { ExplorePage } from './pages/ExplorePage';
import { FeedPage } from './pages/FeedPage';
import { HomePage } from './pages/HomePage';
import { MakePage } from './pages/MakePage';
import { NotificationsPage } from './pages/NotificationsPage';
import { ProfilePage } from './pages/ProfilePage';
import { SettingsPage } from './pages/SettingsPage';
import { TagPage } from './pages/TagPage';
import { ThingPage } from './pages/ThingPage';
import { UploadPage } from './pages/UploadPage';
import { current, useRoute, type Route } from './router';

/** The page frame with the page of the current URL. */
export function App() {
  const route = useRoute();
  const main = useRef<HTMLElement>(null);
  const path = location.pathname.replace(/(\/thing:\d+)\/(files|comments|makes|remixes)$/, '$1'); // tabs of a thing are one page
  const first = useRef(true);
  const subject = current();
  useLayoutEffect(() => {
    // The page sets its title later, and keeps this one if it cannot be loaded.
    if (!first.current) document.title = config.name;
  }, [subject]);
  useEffect(() => {
    // A screen reader starts to read at the top of the new page.
    if (!first.current) main.current?.focus({ preventScroll: true });
    first.current = false;
  }, [path]);
  return (
    <>
      <Header route={route} />
      <main id="main" ref={main} tabIndex={-1}>
        <Page route={route} />
      </main>
      <Footer />
      <div id="toast" role="status" popover="manual" />
      <div id="overlay" />
    </>
  );
}

function Page({ route }: { route: Route | null }) {
  if (!route) return <NotFound />;
  const [first = '', second = ''] = route.parameters;
  switch (route.page) {
    case 'home': return <HomePage />;
    case 'explore': return <ExplorePage query={route.query} />;
    case 'category': return <CategoryPage key={first} slug={first} />;
    case 'tag': return <TagPage key={first} name={first} />;
    case 'thing': return <ThingPage key={first} id={first} tab={second || 'details'} comment={route.query.get('comment')} />;
    case 'make': return <MakePage key={first} id={first} comment={route.query.get('comment')} />;
    case 'collection': return <CollectionPage key={first} id={first} />;
    case 'profile': return <ProfilePage key={first} username={first} tab={second || 'designs'} />;
  }
  if (!me) return <MustSignIn />;
  switch (route.page) {
    case 'upload': return route.query.has('tab') ? <Managed part={(parts) => parts.Links} tab={route.query.get('tab')} /> : <UploadPage />;
    case 'edit': return <EditPage key={first} id={first} />;
    case 'feed': return <FeedPage />;
    case 'notifications': return <NotificationsPage />;
    case 'settings': return <SettingsPage />;
    case 'moderation': return isStaff ? <Managed part={(parts) => parts.ModerationPage} tab={route.query.get('tab') || 'open'} plan={route.query.get('plan')} /> : <NotFound />;
  }
  return <NotFound />;
}
