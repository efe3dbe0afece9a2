// Apollo Client: persisted queries by hash (APQ) sent with GET, a multipart upload, and a subscription over WebSocket.
import { ApolloClient, ApolloLink, InMemoryCache, gql } from '@apollo/client/core';
import { HttpLink } from '@apollo/client/link/http';
import { PersistedQueryLink } from '@apollo/client/link/persisted-queries';
import { GraphQLWsLink } from '@apollo/client/link/subscriptions';
import UploadHttpLink from 'apollo-upload-client/UploadHttpLink.mjs';
import { createHash } from 'node:crypto';
import { createClient } from 'graphql-ws';
import { OperationTypeNode } from 'graphql';
import WebSocket from 'ws';
import * as op from './operations.js';
import { authorization, journey, server } from './journey.js';

const uri = `${server}/graphql`;
const socket = createClient({ url: uri.replace(/^http/, 'ws'), webSocketImpl: WebSocket, connectionParams: authorization });

const is = type => ({ operationType }) => operationType === type;
const client = new ApolloClient({
  cache: new InMemoryCache(),
  link: ApolloLink.split(
    is(OperationTypeNode.SUBSCRIPTION),
    new GraphQLWsLink(socket),
    ApolloLink.split(
      is(OperationTypeNode.QUERY),
      new PersistedQueryLink({
        sha256: text => createHash('sha256').update(text).digest('hex'),
        useGETForHashedQueries: true,
      }).concat(new HttpLink({ uri, headers: authorization })),
      new UploadHttpLink({ uri, headers: { ...authorization, 'Apollo-Require-Preflight': 'true' } }),
    ),
  ),
});

const mutate = async (text, variables) => (await client.mutate({ mutation: gql(text), variables })).data;

await journey('apollo', {
  create: v => mutate(op.createThing, v),
  upload: async file => (await mutate(op.uploadFile, { file })).uploadFile.file.id,
  finalize: v => mutate(op.finalizeFiles, v),
  watch: v => events(client.subscribe({ query: gql(op.fileProcessing), variables: v })),
  publish: v => mutate(op.publishThing, v),
  list: async () => (await client.query({ query: gql(op.listThings), fetchPolicy: 'network-only' })).data,
  download: v => mutate(op.recordDownload, v),
});
await socket.dispose();

// events makes an async iterable of an observable.
async function* events(observable) {
  const queue = [];
  let wake = () => {};
  const push = entry => { queue.push(entry); wake(); };
  observable.subscribe({
    next: result => push(result.error ? { error: result.error } : { value: result.data }),
    error: error => push({ error }),
    complete: () => push({ done: true }),
  });
  for (;;) {
    while (queue.length === 0) await new Promise(resolve => { wake = resolve; });
    const { value, error, done } = queue.shift();
    if (error) throw error;
    if (done) return;
    yield value;
  }
}
