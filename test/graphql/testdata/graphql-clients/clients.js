// Subscribes with the clients graphql-ws, graphql-sse and subscriptions-transport-ws.
// Usage: node clients.js URL TOKEN THING FILE, where the preview of FILE is not being created.
import assert from 'node:assert/strict';
import net from 'node:net';
import { createClient } from 'graphql-ws';
import { createClient as createEventClient } from 'graphql-sse';
import legacy from 'subscriptions-transport-ws';
import WebSocket from 'ws';

const [url, token, thing, file] = process.argv.slice(2);
const authorization = { Authorization: `Bearer ${token}` };
const watch = { query: 'subscription ($id: ID!) { fileProcessing(id: $id) { state } }', variables: { id: file } };
const unread = { query: 'subscription { notifications { unreadCount } }' };
const invalid = { query: 'subscription { unknown }' };
const missing = { query: 'subscription { fileProcessing(id: 999999) { state } }' };
const query = { query: '{ me { username } }' };

// The sockets go through a proxy that can cut all connections.
const target = new URL(url);
const open = new Set();
const proxy = net.createServer(client => {
  const server = net.connect(target.port, target.hostname);
  open.add(client);
  for (const [from, to] of [[client, server], [server, client]]) {
    from.on('error', () => to.destroy());
    from.on('close', () => { open.delete(client); to.destroy(); });
    from.pipe(to);
  }
});
await new Promise(listening => proxy.listen(0, '127.0.0.1', listening));
const sockets = `ws://127.0.0.1:${proxy.address().port}/graphql`;

const count = {};
const counted = name => () => { count[name] = (count[name] ?? 0) + 1; };
const client = createClient({
  url: sockets,
  webSocketImpl: WebSocket,
  connectionParams: authorization,
  keepAlive: 100,
  retryWait: async () => {},
  on: { connected: counted('connected'), pong: counted('pong'), closed: e => { count.code = e.code; } },
});
const stream = client.iterate(unread);
const one = async () => (await stream.next()).value;
assert.equal((await one()).data.notifications.unreadCount, 0);

// Errors before the execution fail the operation, and the connection stays open.
for (const [operation, code] of [[invalid, 'GRAPHQL_VALIDATION_FAILED'], [query, 'BAD_USER_INPUT']]) {
  await assert.rejects(client.iterate(operation).next(), errors => errors[0].extensions.code === code);
}
// An error of the execution is a result, after which the operation completes.
const failed = client.iterate(missing);
assert.equal((await failed.next()).value.errors[0].extensions.code, 'NOT_FOUND');
assert.equal((await failed.next()).done, true);

// The client ends an operation; the server answers pings meanwhile.
const ended = client.iterate(unread);
await ended.next();
await ended.return();
while ((count.pong ?? 0) < 2) await new Promise(later => setTimeout(later, 10));
assert.deepEqual(count, { connected: 1, pong: count.pong });

// A cut connection is opened again, with its subscriptions.
open.forEach(connection => connection.destroy());
assert.equal((await one()).data.notifications.unreadCount, 0);
assert.equal(count.connected, 2);

// The server ends an operation: here when the file is deleted. So it does over other transports.
const events = createEventClient({ url: `${url}/graphql`, headers: authorization, retryAttempts: 0 });
for (const [operation, code] of [[invalid, 'GRAPHQL_VALIDATION_FAILED'], [missing, 'NOT_FOUND']]) {
  const results = [];
  for await (const result of events.iterate(operation)) results.push(result);
  assert.equal(results.length, 1);
  assert.equal(results[0].errors[0].extensions.code, code);
}
const old = new legacy.SubscriptionClient(sockets, { connectionParams: authorization }, WebSocket);
const oldResults = (operation, seen) => new Promise((complete, error) => {
  old.request(operation).subscribe({ next: seen, error, complete });
});
await assert.rejects(oldResults(invalid, () => {}), error => error.extensions.code === 'GRAPHQL_VALIDATION_FAILED');
const watched = [client.iterate(watch), events.iterate(watch)];
for (const results of watched) assert.equal((await results.next()).value.data.fileProcessing.state, 'WAITING');
let oldCompletes;
await new Promise(seen => { oldCompletes = oldResults(watch, seen); });
const deleted = await fetch(`${url}/things/${thing}/files/${file}`, { method: 'DELETE', headers: authorization });
assert.equal(deleted.status, 200);
for (const results of watched) while (!(await results.next()).done);
await oldCompletes;

// Nothing is left to do, so both sides close.
await stream.return();
await client.dispose();
old.close();
proxy.close();
while (open.size > 0) await new Promise(later => setTimeout(later, 10));
assert.equal(count.code, 1000);
