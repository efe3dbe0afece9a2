// Starts GraphiQL on the page of internal/graphiql and connects it with the bar above it: the access token, the file for an Upload variable
// and the examples. Plain script, no build step; React, ReactDOM, GraphiQL and GraphiQLPluginExplorer come from the scripts before it.
(() => {
  'use strict';

  const script = document.currentScript;
  // This script is /graphiql/assets/meshyard.js, under whatever path a proxy adds in front.
  const endpoint = new URL('../../graphql', script.src).href;
  const { user, username } = script.dataset; // of who is signed in in this browser; the name can change
  const texts = JSON.parse(script.dataset.texts); // of GraphiQL in internal/web/language
  const say = (text, value) => text.replace('%s', () => value);
  const byId = id => document.getElementById(id);

  // GraphiQL's dialogs and menus put a style element into the page; their library takes its nonce from this global.
  globalThis.__webpack_nonce__ = document.querySelector('link[nonce]').nonce;

  // ---- Requests

  let token = '';
  let file = null;

  // The preflight header makes the request one that a foreign page cannot send, whatever its content type. The session header makes the session of
  // this browser count, if it is still that of the same user; a token has precedence.
  const ownHeaders = () => ({
    'Apollo-Require-Preflight': 'true',
    ...(token ? { Authorization: `Bearer ${token}` } : user && { 'Meshyard-Session': user }),
  });

  const post = (params, { accept = 'application/graphql-response+json, application/json;q=0.9', ...init } = {}) => {
    const { query, variables, operationName } = params;
    return fetch(endpoint, {
      method: 'POST',
      headers: { ...ownHeaders(), Accept: accept, 'Content-Type': 'application/json' },
      body: JSON.stringify({ query, variables, operationName }),
      cache: 'no-store',
      ...init,
    });
  };

  // Where the GraphQL multipart request specification is to put the file: the variable that waits for one with null.
  const filePlace = variables => {
    if (variables?.file === null) return 'variables.file';
    if (variables?.input?.file === null) return 'variables.input.file';
    return null;
  };

  const upload = (params, place) => {
    const { query, variables, operationName } = params;
    const body = new FormData();
    body.append('operations', JSON.stringify({ query, variables, operationName }));
    body.append('map', JSON.stringify({ 0: [place] }));
    body.append('0', file, file.name);
    return fetch(endpoint, {
      method: 'POST',
      headers: { ...ownHeaders(), Accept: 'application/graphql-response+json, application/json;q=0.9' },
      body,
      cache: 'no-store',
    });
  };

  // A GraphQL answer is JSON whatever its status; anything else is shown as it came.
  const answer = async response => {
    const text = await response.text();
    try {
      const parsed = JSON.parse(text);
      if (parsed !== null && typeof parsed === 'object') return parsed;
    } catch { /* told below */ }
    throw new Error(say(texts.Answered, `${response.status} ${response.statusText}`.trimEnd() + (text && `: ${text.slice(0, 500)}`)));
  };

  // A subscription arrives as server-sent events of the GraphQL over SSE protocol, distinct connections mode: "next" carries a result, "complete" ends it.
  const subscribe = params => {
    const stop = new AbortController();
    const results = (async function* () {
      try {
        const response = await post(params, { accept: 'text/event-stream', signal: stop.signal });
        if (!response.ok || !response.headers.get('Content-Type')?.startsWith('text/event-stream')) {
          yield await answer(response);
          return;
        }
        const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
        let rest = '';
        for (;;) {
          const { done, value } = await reader.read();
          if (done) return;
          const blocks = (rest + value.replaceAll('\r', '')).split('\n\n');
          rest = blocks.pop();
          for (const block of blocks) {
            const lines = block.split('\n');
            const field = name => lines.filter(line => line.startsWith(`${name}:`)).map(line => line.slice(name.length + 1).replace(/^ /, '')).join('\n');
            if (field('event') === 'complete') return;
            if (field('event') === 'next') yield JSON.parse(field('data'));
          }
        }
      } catch (error) {
        if (!stop.signal.aborted) throw error;
      }
    })();
    return {
      [Symbol.asyncIterator]() { return this; },
      next: () => results.next(),
      return: () => { stop.abort(); return results.return(); },
    };
  };

  // @defer and @stream need multipart/mixed answers, which GraphiQL's own fetcher reads.
  const incremental = GraphiQL.createFetcher({
    url: endpoint,
    fetch: (url, init) => fetch(url, { ...init, headers: { ...init.headers, ...ownHeaders() }, cache: 'no-store' }),
  });

  // ---- Ids that travel from one example to the next

  // The ids of what mutations returned last, by their placeholders in the variables of examples, such as "<thing id>".
  const latest = {};
  const placeholder = /"(<[a-z]+ id>)"/g;
  const remember = result => {
    for (const payload of Object.values(result.data ?? {})) {
      for (const [noun, object] of Object.entries(payload ?? {})) {
        if (object?.id) latest[`<${noun} id>`] = object.id;
        if (object?.fileId) latest['<file id>'] = object.fileId;
      }
    }
    return result;
  };
  const fill = variables => variables.replace(placeholder, (text, name) => (latest[name] ? JSON.stringify(latest[name]) : text));

  const operationsOf = query => {
    try {
      return GraphiQL.GraphQL.parse(query).definitions.filter(({ kind }) => kind === 'OperationDefinition');
    } catch {
      return []; // the server says what is wrong
    }
  };

  const fetcher = (params, options) => {
    const open = JSON.stringify(params.variables ?? {}).match(placeholder);
    if (open) throw new Error(say(texts.MissingID, open[0]));
    // Just after a tab was opened, GraphiQL still has the name of the operation of the tab before.
    const operations = operationsOf(params.query);
    const operation = operations.length === 1 ? operations[0] : operations.find(({ name }) => name?.value === params.operationName);
    if (operation) params = { ...params, operationName: operation.name?.value };
    if (operation?.operation === 'subscription') return subscribe(params);

    const place = filePlace(params.variables);
    tellFile(place);
    const noted = operation?.operation === 'mutation' ? remember : result => result;
    if (place && file) return upload(params, place).then(answer).then(noted);
    if (/@(defer|stream)\b/.test(params.query)) return incremental(params, options);
    return post(params).then(answer).then(noted);
  };

  // ---- Access token

  const tokenInput = byId('token');
  const who = byId('who');
  const tellWho = (state, text) => {
    who.dataset.state = state;
    who.textContent = text;
    who.title = text;
  };

  const tellSession = () => (username ? tellWho('in', say(texts.SignedInAs, username)) : tellWho('out', texts.NotSignedIn));

  // A token is kept in this page alone: no storage of the browser holds it.
  let asked = 0;
  const setToken = async value => {
    const next = value.trim().replace(/^Bearer\s+/i, '');
    if (next === token && who.dataset.state !== 'error') return; // Enter causes a change too
    const question = ++asked;
    token = '';
    byId('token-forget').hidden = value === '';
    if (next === '') return tellSession();
    if (/[^\x21-\x7e]/.test(next)) return tellWho('error', texts.BadToken);

    token = next;
    tellWho('busy', texts.Checking);
    let state = 'error';
    let text;
    try {
      const { data, errors } = await post({ query: '{ me { username } }' }).then(answer);
      if (data?.me) [state, text] = ['in', say(texts.SignedInAs, data.me.username)];
      else text = errors?.[0]?.message ?? texts.UnknownToken;
    } catch (error) {
      text = error.message;
    }
    if (question !== asked) return; // another token was entered meanwhile
    tellWho(state, text);
    if (state === 'in' && !schemaLoaded) render(); // perhaps the schema is only for those signed in
  };

  // Not on every key: half a token would only be refused.
  tokenInput.addEventListener('change', () => setToken(tokenInput.value));
  tokenInput.addEventListener('paste', () => setTimeout(() => setToken(tokenInput.value)));
  tokenInput.addEventListener('keydown', event => {
    if (event.key === 'Enter') setToken(tokenInput.value);
  });
  byId('token-show').addEventListener('click', event => {
    const shown = tokenInput.type === 'password';
    tokenInput.type = shown ? 'text' : 'password';
    event.currentTarget.textContent = shown ? texts.Hide : texts.Show;
    event.currentTarget.setAttribute('aria-pressed', shown);
  });
  byId('token-forget').addEventListener('click', () => {
    tokenInput.value = '';
    setToken('');
    tokenInput.focus();
  });

  // ---- File

  const fileInput = byId('file');
  const fileNote = byId('file-note');
  const fileHint = fileNote.innerHTML;

  const size = bytes => {
    const units = ['bytes', 'KiB', 'MiB', 'GiB'];
    let i = 0;
    for (; bytes >= 1024 && i < units.length - 1; i++) bytes /= 1024;
    return `${i ? bytes.toFixed(1) : bytes} ${units[i]}`;
  };

  const showFile = () => {
    file = fileInput.files[0] ?? null;
    byId('file-forget').hidden = !file;
    delete fileNote.dataset.state;
    if (file) fileNote.textContent = say(texts.FileSent, size(file.size));
    else fileNote.innerHTML = fileHint;
  };
  // The operation goes out in any case: a null called file may mean something else than an upload.
  const tellFile = place => {
    showFile();
    if (!place || file) return;
    fileNote.dataset.state = 'error';
    fileNote.textContent = say(texts.FileMissing, place.replace('variables.', '$'));
  };
  fileInput.addEventListener('change', showFile);
  byId('file-forget').addEventListener('click', () => {
    fileInput.value = '';
    showFile();
  });

  // ---- GraphiQL

  const root = ReactDOM.createRoot(byId('graphiql'));
  const explorer = GraphiQLPluginExplorer.explorerPlugin();
  let schemaLoaded = false;
  let examples = [];
  let openExample = () => {};

  const NEW_TAB = `# ${texts.NewTab}\n\n`;

  // Lives inside GraphiQL, where its editors can be reached, and opens examples for the menu in the bar.
  const ExampleOpener = () => {
    const { tabs, activeTabIndex, changeTab, addTab, queryEditor, variableEditor } = GraphiQL.React.useEditorContext({ nonNull: true });
    const waiting = React.useRef(null);
    openExample = example => {
      const open = tabs.findIndex(tab => tab.query === example.query);
      if (open >= 0) return changeTab(open);
      waiting.current = { example, beside: tabs.length };
      addTab();
    };
    // After the tab was added: what is written into the editors goes to the tab that is shown. React may add the tab a second time, when an
    // older change of the tabs is still on its way, and the editors are empty again then: so this waits until the tab holds the example.
    React.useEffect(() => {
      if (!waiting.current || tabs.length <= waiting.current.beside) return;
      if (tabs[activeTabIndex].query !== NEW_TAB) {
        waiting.current = null;
        return;
      }
      queryEditor.setValue(waiting.current.example.query);
      variableEditor.setValue(fill(waiting.current.example.variables));
    }, [tabs]);
    // A tab that is opened gets the ids that others have brought.
    React.useEffect(() => {
      const variables = variableEditor?.getValue() ?? '';
      if (fill(variables) !== variables) variableEditor.setValue(fill(variables));
    }, [activeTabIndex, variableEditor]);
    return null;
  };

  // A new fetcher each time makes GraphiQL load the schema again.
  const render = () => root.render(React.createElement(GraphiQL, {
    fetcher: (params, options) => fetcher(params, options),
    // The numbered examples are steps, each in a tab. The menu has the others too.
    defaultTabs: examples.length ? examples.filter(({ title }) => /^\d/.test(title)).map(({ query, variables }) => ({ query, variables })) : undefined,
    defaultQuery: NEW_TAB,
    defaultEditorToolsVisibility: 'variables',
    // The history plugin stores headers in localStorage whatever shouldPersistHeaders says, so there is no editor that a token could be typed in.
    isHeadersEditorEnabled: false,
    shouldPersistHeaders: false,
    plugins: [explorer],
    onSchemaChange: () => { schemaLoaded = true; },
  }, React.createElement(ExampleOpener)));

  const start = async () => {
    try {
      examples = await fetch(script.dataset.examples).then(response => response.json());
    } catch (error) {
      console.warn('GraphiQL examples could not be loaded:', error.message);
    }
    const menu = byId('examples');
    menu.append(...examples.map(({ title }, i) => new Option(title, i)));
    menu.disabled = examples.length === 0;
    menu.addEventListener('change', () => {
      openExample(examples[menu.value]);
      menu.value = '';
    });
    tokenInput.value = ''; // a browser may fill it in again after a reload
    tellSession();
    showFile();
    byId('graphiql').lang = 'en'; // GraphiQL has no other language
    render();
  };
  start();

  // The text areas of the editors have no labels: each gets that of the section around it.
  const label = () => {
    for (const area of document.querySelectorAll('.CodeMirror textarea:not([aria-label])')) area.setAttribute('aria-label', area.closest('[aria-label]')?.ariaLabel ?? 'Editor');
  };
  new MutationObserver(label).observe(document.body, { childList: true, subtree: true });
  label();
})();
