// The page: what its script was told, its buttons, and what it says while there is no model to see.
import { loadGLB, loadThreejs } from './model.js';
import { Stage } from './stage.js';

const $ = (id) => document.getElementById(id);
const phase = (name) => { document.body.dataset.phase = name; };
// sleep ends early when somebody looks at the page again.
const sleep = (milliseconds) => new Promise((done) => {
  setTimeout(done, milliseconds);
  document.addEventListener('visibilitychange', done, { once: true });
});
const texts = JSON.parse($('texts').textContent);
const { lang } = document.documentElement;
const count = new Intl.NumberFormat(lang);
const length = new Intl.NumberFormat(lang, { maximumSignificantDigits: 3 });
const megabytes = new Intl.NumberFormat(lang, { minimumFractionDigits: 1, maximumFractionDigits: 1 });
// fill replaces the placeholders of a text in turn.
const fill = (text, ...values) => values.reduce((text, value) => text.replace('%s', () => value), text);

// A page that shows the viewer in a frame has the name, the facts and the download of the model itself, and the frame has its color scheme,
// also when that changes.
if (window !== window.parent) {
  document.documentElement.dataset.framed = '';
  delete document.documentElement.dataset.theme;
}

let shown = JSON.parse($('shown').textContent);
let stage;
let working = false;

// say tells something in the model's place. progress is 0 to 1, or null where nobody knows, or undefined where there is none. reason is in
// English.
function say(message, progress, reason = '') {
  $('text').textContent = message;
  $('reason').textContent = reason;
  $('progress').hidden = progress === undefined;
  if (progress == null) $('progress').removeAttribute('value');
  else $('progress').value = progress;
}

// tell shows what the server says of the model.
function tell(now) {
  shown = now;
  $('dimensions').textContent = shown.dimensions;
  $('detail').textContent = shown.detail;
  if (shown.thumbnail && $('thumbnail').getAttribute('src') !== shown.thumbnail) {
    $('thumbnail').src = shown.thumbnail;
    $('thumbnail').hidden = false;
  }
  phase(shown.state);
  say(shown.message, { waiting: null, running: shown.progress, done: null }[shown.state], shown.reason);
}

// follow asks for the state until it is one that stays, more and more rarely while nothing changes. The browser revalidates by itself.
async function follow() {
  for (let pause = 1000; shown.state === 'waiting' || shown.state === 'running'; pause = Math.min(pause * 1.3, 10000)) {
    await sleep(pause);
    if (document.hidden) continue;
    let response;
    try {
      response = await fetch(`${location.pathname}/state${location.search}`);
      if (response.ok) {
        const before = JSON.stringify(shown);
        tell(await response.json());
        if (JSON.stringify(shown) !== before) pause = 1000;
        continue;
      }
    } catch {
      // The network, or an answer cut short: both may be over soon.
    }
    if (response && response.status < 500 && response.status !== 429) {
      phase('failed');
      say(`${texts.StateFailed} ${fill(texts.Answers, response.status)}`);
      return false;
    }
    say(texts.NoAnswer, null);
  }
  return shown.state === 'done';
}

// bring loads a model onto the stage, and tells why where it cannot.
async function bring(load, address, sameView) {
  if (working) return false;
  working = true;
  phase(sameView ? 'more' : 'done');
  const arrived = (bytes) => say(fill(texts.LoadingBytes, megabytes.format(bytes / 1e6)), null);
  try {
    say(texts.Loading, null);
    const model = await load(address, arrived);
    model.wireframe = $('wireframe').ariaPressed === 'true';
    $('canvas').hidden = false;
    stage.show(model, sameView);
    $('scale').textContent = fill(texts.Grid, length.format(stage.grid.cell));
    $('scale').hidden = false;
    const { triangles, vertices } = model;
    const some = shown.decimated && load === loadThreejs;
    $('detail').textContent = some ? fill(texts.Shown, shown.detail, count.format(triangles || vertices)) : shown.detail;
    $('reset').disabled = false;
    $('wireframe').disabled = triangles === 0;
    say('');
    phase('shown');
    return true;
  } catch (error) {
    const { text, status } = error;
    if (text) say(`${texts.LoadFailed} ${fill(texts[text], status)}`);
    else say(texts.LoadFailed, undefined, `${error.message}.`);
    phase(sameView ? 'more' : 'failed');
    return false;
  } finally {
    working = false;
  }
}

// press gives a button that is on or off its new state.
function press(button, on) {
  button.ariaPressed = String(on);
}

function toggleWireframe() {
  if (!stage.model || $('wireframe').disabled) return;
  const on = $('wireframe').ariaPressed !== 'true';
  press($('wireframe'), on);
  stage.model.wireframe = on;
  stage.draw();
}

function wire() {
  $('reset').addEventListener('click', () => stage.reset());
  $('wireframe').addEventListener('click', toggleWireframe);
  $('canvas').addEventListener('keydown', (event) => {
    if (event.key.toLowerCase() === 'w' && !event.ctrlKey && !event.metaKey && !event.altKey) toggleWireframe();
  });
  $('canvas').addEventListener('webglcontextlost', () => {
    phase('failed');
    say(texts.GraphicsLost);
  });
  $('canvas').addEventListener('webglcontextrestored', () => phase('shown'));
  $('full').addEventListener('click', async () => {
    const full = $('full').ariaPressed !== 'true';
    $('full').disabled = true;
    if (await (full ? bring(loadGLB, shown.glb, true) : bring(loadThreejs, shown.threejs, true))) press($('full'), full);
    $('full').disabled = false;
  });
}

function wireFullscreen() {
  const button = $('fullscreen');
  button.hidden = !document.fullscreenEnabled;
  button.addEventListener('click', () => {
    if (document.fullscreenElement) document.exitFullscreen();
    else document.documentElement.requestFullscreen();
  });
  document.addEventListener('fullscreenchange', () => press(button, document.fullscreenElement !== null));
}

// covered tells how much of the canvas the two bars cover.
function covered() {
  const [top, bottom] = document.querySelectorAll('.bar');
  return { top: top.offsetHeight, bottom: bottom.offsetHeight };
}

async function start() {
  wireFullscreen();
  tell(shown);
  if (!await follow()) return;
  // Asked for here, as three.js would complain in the console where there is none.
  const context = $('canvas').getContext('webgl2', { alpha: true, antialias: true, powerPreference: 'high-performance' });
  if (!context) {
    phase('failed');
    say(texts.NoWebGL);
    return;
  }
  stage = new Stage($('canvas'), context, covered);
  wire();
  // Only GLB has textures. Where the JSON has fewer triangles, it is fast, and GLB is the full detail.
  const asJSON = shown.threejs && !(shown.glb && shown.textured && !shown.decimated);
  const [load, address] = asJSON ? [loadThreejs, shown.threejs] : [loadGLB, shown.glb];
  if (await bring(load, address, false) && load === loadThreejs && shown.decimated && shown.glb) {
    $('full').hidden = false;
    $('full').disabled = false;
  }
}

start();
