// Asks the server whose token this tab has. The token lies where GraphiQL's page keeps it, in the tab's session storage, and goes to no other
// server. Plain script, no build step.
(() => {
  'use strict';

  const endpoint = document.currentScript.dataset.graphql;
  const TOKEN_KEY = 'meshyard:token';
  const byId = id => document.getElementById(id);
  const input = byId('token');

  const tell = (state, text) => {
    byId('who').dataset.state = state;
    byId('who').textContent = text;
  };

  const me = async token => {
    const response = await fetch(endpoint, {
      method: 'POST',
      headers: { 'Authorization': `Bearer ${token}`, 'Content-Type': 'application/json', 'Accept': 'application/graphql-response+json, application/json;q=0.9' },
      body: JSON.stringify({ query: '{ me { username isAdmin } }' }),
      cache: 'no-store',
    });
    const text = await response.text();
    let answer = null;
    try {
      answer = JSON.parse(text);
    } catch { /* told below */ }
    if (answer?.data?.me) return answer.data.me;
    throw new Error(answer?.errors?.[0]?.message ?? `the server answered ${response.status} ${text.slice(0, 200)}`.trimEnd());
  };

  let asked = 0;
  const use = async value => {
    const question = ++asked;
    const token = value.trim().replace(/^Bearer\s+/i, '');
    sessionStorage.removeItem(TOKEN_KEY);
    byId('token-forget').hidden = value === '';
    if (token === '') return tell('out', 'Nobody: this tab has no access token.');
    if (/[^\x21-\x7e]/.test(token)) return tell('error', 'Nobody: a token has no spaces and no special characters.');

    sessionStorage.setItem(TOKEN_KEY, token);
    tell('busy', 'Asking…');
    let told;
    try {
      const { username, isAdmin } = await me(token);
      told = ['in', `${username}${isAdmin ? ', who administers this server' : ''}.`];
    } catch (error) {
      told = ['error', `Nobody: ${error.message.replace(/\.$/, '')}.`];
    }
    if (question === asked) tell(...told); // else another token was entered meanwhile
  };

  byId('sign-in').addEventListener('submit', event => {
    event.preventDefault();
    use(input.value);
  });
  input.addEventListener('paste', () => setTimeout(() => use(input.value)));
  byId('token-show').addEventListener('click', event => {
    const shown = input.type === 'password';
    input.type = shown ? 'text' : 'password';
    event.currentTarget.textContent = shown ? 'Hide' : 'Show';
    event.currentTarget.setAttribute('aria-pressed', shown);
  });
  byId('token-forget').addEventListener('click', () => {
    input.value = '';
    use('');
    input.focus();
  });

  input.value = sessionStorage.getItem(TOKEN_KEY) ?? '';
  if (input.value) use(input.value);
})();
