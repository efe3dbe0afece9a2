// The URL of the page. Links are plain <a> elements: a click on one that leads to a page of the gallery changes the page without loading
// it from the server.
import { useEffect, useReducer } from 'preact/hooks';
import { base } from './config';
import { shown as firstShown } from './turns';
import { forgetDrafts, mayLeave } from './unsaved';

export type Route = { page: string; parameters: string[]; query: URLSearchParams };

// The paths of the gallery without the base. The last one is a user, whose name must not be a path of the server.
const patterns: [string, RegExp][] = [
  ['home', /^\/$/],
  ['explore', /^\/explore$/],
  ['upload', /^\/upload$/],
  ['feed', /^\/feed$/],
  ['notifications', /^\/notifications$/],
  ['settings', /^\/settings$/],
  ['moderation', /^\/moderation$/],
  ['category', /^\/category\/([^/]+)$/],
  ['tag', /^\/tag:([^/]+)$/],
  ['thing', /^\/thing:(\d+)(?:\/(files|comments|makes|remixes))?$/],
  ['edit', /^\/thing:(\d+)\/edit$/],
  ['make', /^\/make:(\d+)$/],
  ['collection', /^\/collection:(\d+)$/],
  ['profile', /^\/([\w.-]+)(?:\/(designs|makes|collections|likes|followers|following|drafts|problems))?$/],
];

// The names that are paths of the server, in lower case: the same as reservedNames in cmd/meshyard/server/webpages.go, which a test checks.
const reserved = `
about account ads.txt api apple-touch-icon.png apps assets banner blobs blog browserconfig.xml categories category changelogs
collection collections comments confirm contact copies dashboard developers docs download downloads email events explore
favicon.ico featured feed feed.xml files gallery glb graphiql graphql groups grouptopics healthz help home homebanner
humans.txt images imprint invitation invitations invite legal login logout make makes manifest.json manifest.webmanifest me
messages metrics migration moderation newest newsletter notifications oauth openapi.json password popular printers privacy
programs readyz reference register renders reset robots.txt schema.graphql search security security.txt settings setup signin
signout signup sitemap sitemap.xml sitewidenotification static status subscriptions support sw.js tag tags terms thing
thingops things threejs upload upload_file_storage uploads user users verified view viewer web well-known
`.split(/\s/);

/** Whether a name is a path of the server and not that of a user, as on the server. */
const isReserved = (name: string) => name.startsWith('.') || reserved.includes(name.toLowerCase());

/** The route of a URL, or null if the server has another page there. */
export function match(url: URL): Route | null {
  if (url.origin !== location.origin || !(url.pathname + '/').startsWith(base + '/')) return null;
  const path = url.pathname.slice(base.length).replace(/(.)\/$/, '$1') || '/';
  for (const [page, pattern] of patterns) {
    const found = pattern.exec(path);
    if (!found) continue;
    if (page === 'profile' && isReserved(found[1]!)) return null;
    try {
      return { page, parameters: found.slice(1).map((part) => decodeURIComponent(part ?? '')), query: url.searchParams };
    } catch {
      return null; // not a valid encoding
    }
  }
  return null;
}

/** What a page is about. The tabs of an object are one page, so moving between them loses no input. */
function subject(url: URL): string {
  const route = match(url);
  return route ? `${route.page} ${route.parameters[0] ?? ''}` : url.pathname;
}

export const current = () => subject(new URL(location.href));

/** The URL of a path of the server. */
export const href = (path: string) => base + path;

const watchers = new Set<() => void>();
const positions = new Map<number, number>(JSON.parse(sessionStorage.getItem('positions') ?? '[]')); // scroll positions of pages, by history entry
const maxPositions = 200; // that outlive the page
const links = new Map<number, string>(); // the links by which pages were left, by history entry
let entry = Date.now();
let depth = 0; // number of history entries before the current one, to undo a step of the user
let shown = current(); // the subject of the page that is rendered

type State = { entry?: number; depth?: number } | null;

function changed() {
  if (current() !== shown) forgetDrafts();
  shown = current();
  for (const watcher of watchers) watcher();
}

/**
 * Navigates to a path of the gallery. If only the query changes, as by a filter, the scroll position is kept. If unsaved input would be
 * lost, the user is asked first, unless the page is replaced: its object was deleted or has another URL.
 */
export function navigate(path: string, replace = false) {
  const to = new URL(href(path), location.href);
  const moves = to.pathname !== location.pathname;
  if (subject(to) !== current() && !replace && !mayLeave()) return;
  positions.set(entry, scrollY);
  if (moves) links.set(entry, document.activeElement?.getAttribute('href') ?? '');
  if (replace) history.replaceState({ entry, depth }, '', to);
  else {
    entry = Date.now();
    history.pushState({ entry, depth: ++depth }, '', to);
    if (moves) scrollTo(0, 0);
  }
  changed();
}

/** Returns a function that navigates at the end of a request, unless the user has left the page meanwhile. */
export function fromHere(): typeof navigate {
  const here = current();
  return (path, replace) => {
    if (current() === here) navigate(path, replace);
  };
}

export function useRoute(): Route | null {
  const [, render] = useReducer((n: number) => n + 1, 0);
  useEffect(() => {
    const watcher = () => render(0);
    watchers.add(watcher);
    return () => void watchers.delete(watcher);
  }, []);
  return match(new URL(location.href));
}

function onClick(event: MouseEvent) {
  if (event.defaultPrevented || event.button !== 0 || event.metaKey || event.ctrlKey || event.shiftKey || event.altKey) return;
  const link = (event.target as Element).closest?.('a');
  if (!link || !link.href || link.target || link.hasAttribute('download') || link.dataset.native !== undefined) return;
  const url = new URL(link.href);
  if (url.hash && url.pathname === location.pathname && url.search === location.search) return;
  if (!match(url)) return;
  event.preventDefault();
  navigate(url.pathname.slice(base.length) + url.search);
}

let undoing = false; // whether the next popstate event is the end of an undone step

function onPopState(event: PopStateEvent) {
  if (undoing) {
    undoing = false;
    return;
  }
  // An entry without a state is new: the user followed a link to a part of the page.
  const state = { entry: Date.now(), depth: depth + 1, ...(event.state as State) };
  if (current() !== shown && !mayLeave()) {
    undoing = true;
    history.go(depth - state.depth);
    return;
  }
  positions.set(entry, scrollY);
  if (!event.state) history.replaceState(state, '');
  ({ entry, depth } = state);
  changed();
  const top = positions.get(entry) ?? 0;
  requestAnimationFrame(() => requestAnimationFrame(() => restore(top)));
}

/** Scrolls to a position of the current page, which has its height when its data is loaded, and focuses the link by which the user left it. */
function restore(top: number, of = entry) {
  if (of !== entry) return;
  scrollTo(0, top);
  if (Math.abs(scrollY - top) > 1 && document.querySelector('main .skeleton, main [aria-busy=true]')) return requestAnimationFrame(() => restore(top, of));
  const link = links.get(of);
  if (link && document.activeElement?.id === 'main') document.querySelector<HTMLElement>(`main a[href="${CSS.escape(link)}"]`)?.focus({ preventScroll: true });
}

/** Starts to handle clicks on links and the back and forward buttons of the browser. */
export function start() {
  history.scrollRestoration = 'manual';
  ({ entry, depth } = { entry, depth, ...(history.state as State) });
  history.replaceState({ entry, depth }, '');
  // The page was loaded again, or the user comes back from a page of the server or of another site.
  const top = positions.get(entry);
  if (top) {
    scrollTo(0, top);
    void firstShown.then(() => restore(top));
  }
  addEventListener('pagehide', () => {
    positions.set(entry, scrollY);
    sessionStorage.setItem('positions', JSON.stringify([...positions].slice(-maxPositions)));
  });
  document.addEventListener('click', onClick);
  addEventListener('popstate', onPopState);
}
