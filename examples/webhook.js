// Webhooks: a receiver that verifies messages, without dependencies. The program creates a webhook with its own URL,
// requests a ping and deletes the webhook. The server must be able to connect to it. A server on the same machine must
// be started with --webhook-allow-private.
import assert from 'node:assert/strict';
import { createHmac, timingSafeEqual } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:http';
import { authorization, server } from './journey.js';

// verify throws an error unless a message was signed with the secret within the last five minutes. body must contain
// the bytes that were received: JSON that was parsed and encoded again has another signature.
export function verify(secret, headers, body) {
  const id = headers['webhook-id'], timestamp = headers['webhook-timestamp'];
  if (!(Math.abs(Date.now() / 1000 - Number(timestamp)) < 300)) throw new Error('the message is too old');
  const key = Buffer.from(secret.replace(/^whsec_/, ''), 'base64');
  const want = createHmac('sha256', key).update(`${id}.${timestamp}.`).update(body).digest();
  // For a day after the secret is replaced, messages have two signatures.
  const signatures = headers['webhook-signature'].split(' ').filter(s => s.startsWith('v1,')).map(s => Buffer.from(s.slice(3), 'base64'));
  if (!signatures.some(s => s.length === want.length && timingSafeEqual(s, want))) throw new Error('no signature is valid');
}

let secret;
const seen = new Set(); // message ids: a message can be delivered twice
let received;
const ping = new Promise(resolve => { received = resolve; });

const receiver = createServer(async (request, response) => {
  const parts = [];
  for await (const part of request) parts.push(part);
  const body = Buffer.concat(parts);
  try {
    verify(secret, request.headers, body);
  } catch (e) {
    response.writeHead(401).end(e.message);
    return;
  }
  // Respond quickly, and do slow work afterwards.
  response.writeHead(204).end();
  if (seen.has(request.headers['webhook-id'])) return;
  seen.add(request.headers['webhook-id']);
  received(JSON.parse(body));
});
receiver.listen(0, '127.0.0.1');
await once(receiver, 'listening');

async function graphql(query, variables) {
  const answer = await fetch(`${server}/graphql`, {
    method: 'POST',
    headers: { ...authorization, 'Content-Type': 'application/json', Accept: 'application/graphql-response+json' },
    body: JSON.stringify({ query, variables }),
  });
  const { data, errors } = await answer.json();
  if (errors) throw new AggregateError(errors, errors[0].message);
  return data;
}

const created = await graphql(`mutation ($input: CreateWebhookInput!) { createWebhook(input: $input) { secret webhook { id } } }`, {
  input: { url: `http://127.0.0.1:${receiver.address().port}/`, events: ['THING_PUBLISHED', 'COMMENT_CREATED'], description: 'An example' },
});
secret = created.createWebhook.secret;
const { id } = created.createWebhook.webhook;
await graphql('mutation ($id: ID!) { pingWebhook(input: {id: $id}) { delivery { id } } }', { id });

const message = await ping;
assert.equal(message.type, 'ping');
assert.equal(message.data.webhook.id, id);
assert.throws(() => verify(secret, { 'webhook-id': 'msg_1', 'webhook-timestamp': `${Math.floor(Date.now() / 1000)}`, 'webhook-signature': 'v1,AAAA' }, '{}'), /no signature/);
console.log('webhook: received', JSON.stringify(message));

await graphql('mutation ($id: ID!) { deleteWebhook(input: {id: $id}) { deletedId } }', { id });
receiver.closeAllConnections();
receiver.close();
