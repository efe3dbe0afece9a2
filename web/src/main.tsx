// The start of the gallery in the browser.
import { render } from 'preact';
import { App } from './app';
import { locale } from './locale';
import { start } from './router';
import { applyTheme, storedTheme } from './theme';
import './styles/base.css';
import './styles/frame.css';
import './styles/controls.css';
import './styles/cards.css';
import './styles/explore.css';
import './styles/thing.css';
import './styles/people.css';
import './styles/edit.css';

const patience = 1500; // milliseconds until the page is shown while its data is still missing

applyTheme(storedTheme());
document.documentElement.lang = locale;
start();

// What the server has written stays on the screen until the first page has its data, so that nothing flickers.
const place = document.getElementById('app');
if (place) {
  const root = document.createElement('div');
  root.className = 'root';
  render(<App />, root);
  const show = () => {
    if (root.isConnected) return;
    observer.disconnect();
    place.replaceChildren(root);
    place.dataset.ready = '';
  };
  const whenReady = () => root.querySelector('main .skeleton, main [aria-busy]') || show();
  const observer = new MutationObserver(whenReady);
  observer.observe(root, { childList: true, subtree: true });
  setTimeout(show, patience);
  whenReady();
}
