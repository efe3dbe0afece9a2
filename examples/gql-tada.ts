// gql.tada: TypeScript infers the types of variables and responses from the schema; no code is generated for documents.
import { Client, fetchExchange, type AnyVariables, type TypedDocumentNode } from '@urql/core';
import { initGraphQLTada } from 'gql.tada';
import type { introspection } from './build/graphql-env.d.ts';
import { authorization, model, postForm, server } from './journey.js';

const graphql = initGraphQLTada<{
  introspection: introspection;
  scalars: { DateTime: string; Int64: number };
}>();

const client = new Client({
  url: `${server}/graphql`,
  preferGetMethod: false,
  fetchOptions: { headers: authorization },
  fetchSubscriptions: true,
  exchanges: [fetchExchange],
});

// Root fields are null only beside an error, so that one failing field leaves the others their data.
type Whole<Data> = { [Field in keyof Data]: NonNullable<Data[Field]> };

async function run<Data, Variables extends AnyVariables>(document: TypedDocumentNode<Data, Variables>, variables: Variables): Promise<Whole<Data>> {
  const { data, error } = await client.mutation(document, variables);
  if (error || !data) throw error ?? new Error('no data');
  return data as Whole<Data>;
}

const { createThing: { thing } } = await run(graphql(`
  mutation TadaCreate($name: String!, $license: License!) {
    createThing(input: { name: $name, license: $license, category: "Tools", description: "Made by an example." }) {
      thing { id state }
    }
  }`), { name: 'Example of gql.tada', license: 'CC' });

const file = model('gql-tada');
const { stageUpload: { upload } } = await run(graphql(`
  mutation TadaStage($name: String!, $thing: ID!) {
    stageUpload(input: { name: $name, target: { type: THING, id: $thing } }) {
      upload { fileId formAction formFields { name value } }
    }
  }`), { name: file.name, thing: thing.id });
await postForm(upload, file);

await run(graphql(`
  mutation TadaFinalize($file: ID!, $thing: ID!) {
    finalizeFiles(input: { files: [{ id: $file }], target: { type: THING, id: $thing } }) { files { id state } }
  }`), { file: upload.fileId, thing: thing.id });

const progress = graphql(`
  subscription TadaProgress($file: ID!) { fileProcessing(id: $file) { state error } }`);
await new Promise<void>((resolve, reject) => {
  client.subscription(progress, { file: upload.fileId }).subscribe(({ data, error }) => {
    if (error) reject(error);
    else if (data?.fileProcessing.state === 'DONE') resolve();
    else if (data?.fileProcessing.state === 'FAILED') reject(new Error(data.fileProcessing.error ?? 'failed'));
  });
});

await run(graphql(`
  mutation TadaPublish($thing: ID!) { publishThing(input: { id: $thing }) { thing { state } } }`), { thing: thing.id });

const { data, error } = await client.query(graphql(`
  query TadaList { things(first: 5, sort: NEWEST) { nodes { id name likeCount } } }`), {});
if (error) throw error;
if (!data?.things?.nodes.some(node => node.id === thing.id)) throw new Error('the list of the newest things lacks the published one');

const { recordDownload: { url } } = await run(graphql(`
  mutation TadaDownload($file: ID!) { recordDownload(input: { fileId: $file }) { url } }`), { file: upload.fileId });
if (await (await fetch(url)).text() !== await file.text()) throw new Error('the download differs from the upload');
console.log(`gql.tada: thing ${thing.id} is published, and its file ${upload.fileId} came back byte for byte`);
