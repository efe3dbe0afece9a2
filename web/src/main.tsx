// The start of the gallery in the browser.
import { render } from 'preact';
import { App } from './app';
import { prepare } from './format';
import { match, start } from './router';
import { applyTheme, storedTheme } from './theme';
import { started, turn } from './turns';

const maxWait = 1500; // milliseconds until the page is shown while its data is still missing

applyTheme(storedTheme());
start();

// The HTML of the server stays visible until its pictures and the data of the first page are loaded, so that nothing flickers. The
// steps are separate tasks, because a single one would block the browser.
const place = document.getElementById('app');
if (place) void takeOver(place);

async function takeOver(place: HTMLElement) {
  const first = location.href;
  const page = match(new URL(first))?.page;
  if (page !== 'home' && page !== 'explore') { // those show small numbers
    await turn();
    prepare();
  }
  await turn();
  const root = document.createElement('div');
  root.className = 'root';
  let drawn = false;
  const show = () => {
    if (root.isConnected) return;
    observer.disconnect();
    place.replaceChildren(root);
    place.dataset.ready = '';
    started();
  };
  const whenReady = () => (drawn || location.href !== first) && !root.querySelector('main .skeleton, main [aria-busy]') && show();
  const observer = new MutationObserver(whenReady);
  observer.observe(root, { childList: true, subtree: true });
  setTimeout(show, maxWait);
  render(<App />, root);
  if (document.readyState !== 'complete') await new Promise((done) => addEventListener('load', done, { once: true }));
  for (let frame = 0; frame < 2; frame++) await new Promise(requestAnimationFrame);
  drawn = true;
  whenReady();
}
