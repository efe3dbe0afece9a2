// Apollo Client with types that GraphQL Code Generator generates from the documents below: persisted queries by hash (APQ)
// sent with GET, a multipart upload, and a subscription over WebSocket.
import { ApolloClient, ApolloLink, InMemoryCache, type Observable, type OperationVariables, type TypedDocumentNode } from '@apollo/client/core';
import { HttpLink } from '@apollo/client/link/http';
import { PersistedQueryLink } from '@apollo/client/link/persisted-queries';
import { GraphQLWsLink } from '@apollo/client/link/subscriptions';
// @ts-expect-error: the package has no types for this version of Apollo Client
import UploadHttpLink from 'apollo-upload-client/UploadHttpLink.mjs';
import { createHash } from 'node:crypto';
import { createClient } from 'graphql-ws';
import { OperationTypeNode } from 'graphql';
import WebSocket from 'ws';
import { graphql } from './build/gql/index.js';
import { authorization, journey, server } from './journey.js';

const createThing = graphql(`
  mutation CreateThing($name: String!) {
    createThing(input: { name: $name, license: CC, category: "Tools", description: "Made by an example." }) {
      thing { id state }
    }
  }`);
const uploadFile = graphql(`
  mutation UploadFile($file: Upload!) {
    uploadFile(input: { file: $file }) { file { id name state size } }
  }`);
const finalizeFiles = graphql(`
  mutation FinalizeFiles($file: ID!, $thing: ID!) {
    finalizeFiles(input: { files: [{ id: $file }], target: { type: THING, id: $thing } }) {
      files { id state }
    }
  }`);
// Yields the state of the preview at once, then each change, and completes when the work ends.
const fileProcessing = graphql(`
  subscription FileProcessing($file: ID!) {
    fileProcessing(id: $file) { state stage progress error }
  }`);
const publishThing = graphql(`
  mutation PublishThing($thing: ID!) {
    publishThing(input: { id: $thing }) { thing { id state } }
  }`);
const listThings = graphql(`
  query ListThings {
    things(first: 5, sort: NEWEST) { nodes { id name creator { username } } }
  }`);
const recordDownload = graphql(`
  mutation RecordDownload($file: ID!) {
    recordDownload(input: { fileId: $file }) { url }
  }`);

const uri = `${server}/graphql`;
const socket = createClient({ url: uri.replace(/^http/, 'ws'), webSocketImpl: WebSocket, connectionParams: authorization });

const is = (type: OperationTypeNode) => ({ operationType }: ApolloLink.Operation) => operationType === type;
const client = new ApolloClient({
  // The cache identifies objects by type and id, so documents should select id wherever there is one.
  cache: new InMemoryCache(),
  link: ApolloLink.split(
    is(OperationTypeNode.SUBSCRIPTION),
    new GraphQLWsLink(socket),
    ApolloLink.split(
      is(OperationTypeNode.QUERY),
      new PersistedQueryLink({
        sha256: (text: string) => createHash('sha256').update(text).digest('hex'),
        useGETForHashedQueries: true,
      }).concat(new HttpLink({ uri, headers: authorization })),
      new UploadHttpLink({ uri, headers: { ...authorization, 'Apollo-Require-Preflight': 'true' } }),
    ),
  ),
});

// Mutations are null only beside an error, which mutate throws.
type Whole<Data> = { [Field in keyof Data]-?: NonNullable<Data[Field]> };

async function mutate<Data, Variables extends OperationVariables>(mutation: TypedDocumentNode<Data, Variables>, variables: Variables): Promise<Whole<Data>> {
  const { data } = await client.mutate<any, any>({ mutation, variables });
  return data as Whole<Data>;
}

await journey('apollo', {
  create: (v: { name: string }) => mutate(createThing, v),
  upload: async (file: File) => (await mutate(uploadFile, { file })).uploadFile.file.id,
  finalize: (v: { file: string; thing: string }) => mutate(finalizeFiles, v),
  watch: (v: { file: string }) => events(client.subscribe({ query: fileProcessing, variables: v })),
  publish: (v: { thing: string }) => mutate(publishThing, v),
  list: async () => (await client.query({ query: listThings, fetchPolicy: 'network-only' })).data,
  download: (v: { file: string }) => mutate(recordDownload, v),
});
await socket.dispose();

// events converts an observable to an async iterable.
async function* events<Data>(observable: { subscribe: Observable<{ data?: Data; error?: unknown }>['subscribe'] }) {
  const queue: { value?: Data; error?: unknown; done?: true }[] = [];
  let wake = () => {};
  const push = (entry: (typeof queue)[number]) => { queue.push(entry); wake(); };
  observable.subscribe({
    next: result => push(result.error ? { error: result.error } : { value: result.data }),
    error: error => push({ error }),
    complete: () => push({ done: true }),
  });
  for (;;) {
    const next = queue.shift();
    if (!next) {
      await new Promise<void>(resolve => { wake = resolve; });
      continue;
    }
    if (next.error) throw next.error;
    if (next.done) return;
    yield next.value;
  }
}
