// Relay: documents that are compiled ahead of time, a store normalized by nodeId, and a thing that is refetched by its nodeId.
import assert from 'node:assert/strict';
import { createRequire } from 'node:module';
import { createClient } from 'graphql-ws';
import relay from 'relay-runtime';
import WebSocket from 'ws';
import { authorization, journey, postForm, server } from '../journey.js';

const { Environment, Network, Observable, RecordSource, Store, commitMutation, createOperationDescriptor, fetchQuery, getSingularSelector, requestSubscription } = relay;
// compiled returns the module that relay-compiler wrote for a document of documents.js.
const require = createRequire(import.meta.url);
const compiled = name => require(`../build/relay/${name}.graphql.js`).default ?? require(`../build/relay/${name}.graphql.js`);

const uri = `${server}/graphql`;
const socket = createClient({ url: uri.replace(/^http/, 'ws'), webSocketImpl: WebSocket, connectionParams: authorization });

const send = async ({ text }, variables) => {
  const response = await fetch(uri, {
    method: 'POST',
    headers: { ...authorization, 'Content-Type': 'application/json', Accept: 'application/graphql-response+json' },
    body: JSON.stringify({ query: text, variables }),
  });
  return response.json();
};
const subscribe = ({ text }, variables) => Observable.create(sink => socket.subscribe({ query: text, variables }, sink));

const environment = new Environment({
  network: Network.create(send, subscribe),
  store: new Store(new RecordSource()),
  // The id of a record is its nodeId, which is unique among objects of all types.
  getDataID: fields => fields.nodeId,
});

const mutate = (name, variables) => new Promise((resolve, reject) => {
  commitMutation(environment, {
    mutation: compiled(name),
    variables,
    onCompleted: (data, errors) => (errors?.length ? reject(new Error(errors[0].message)) : resolve(data)),
    onError: reject,
  });
});
// read returns the fields of a fragment from the store.
const read = ref => environment.lookup(getSingularSelector(compiled('documents_thing'), ref)).data;

let nodeId;
await journey('relay', {
  create: async variables => {
    const data = await mutate('documentsCreateMutation', variables);
    ({ nodeId } = data.createThing.thing);
    return data;
  },
  upload: async (file, thing) => postForm((await mutate('documentsStageMutation', { name: file.name, thing })).stageUpload.upload, file),
  finalize: variables => mutate('documentsFinalizeMutation', variables),
  watch: variables => events(variables),
  publish: async variables => {
    const { publishThing } = await mutate('documentsPublishMutation', variables);
    return { publishThing: { thing: read(publishThing.thing) } };
  },
  list: () => fetchQuery(environment, compiled('documentsListQuery'), {}).toPromise(),
  download: variables => mutate('documentsDownloadMutation', variables),
});

const refetch = compiled('documentsThingRefetchQuery');
const { node } = await fetchQuery(environment, refetch, { nodeId }, { fetchPolicy: 'network-only' }).toPromise();
const stored = environment.lookup(createOperationDescriptor(refetch, { nodeId }).fragment).data;
assert.deepEqual(read(node), read(stored.node));
assert.equal(read(node).state, 'PUBLISHED');
console.log(`relay: read ${read(node).name} again by its nodeId`);
await socket.dispose();

// events converts the subscription to an async iterable.
async function* events(variables) {
  const queue = [];
  let wake = () => {};
  const push = entry => { queue.push(entry); wake(); };
  requestSubscription(environment, {
    subscription: compiled('documentsProcessingSubscription'),
    variables,
    onNext: value => push({ value }),
    onError: error => push({ error }),
    onCompleted: () => push({ done: true }),
  });
  for (;;) {
    while (queue.length === 0) await new Promise(resolve => { wake = resolve; });
    const { value, error, done } = queue.shift();
    if (error) throw error;
    if (done) return;
    yield value;
  }
}
