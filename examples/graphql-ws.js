// graphql-ws: the subscription over a WebSocket, with the token in the connection parameters. Queries and mutations go
// by POST, which is the only way the server takes them, and the file goes by a signed form.
import { createClient } from 'graphql-ws';
import WebSocket from 'ws';
import * as op from './operations.js';
import { authorization, journey, postForm, server } from './journey.js';

const client = createClient({
  url: `${server.replace(/^http/, 'ws')}/graphql`,
  webSocketImpl: WebSocket, // browsers have their own
  connectionParams: authorization,
});

async function* subscribe(query, variables) {
  for await (const { data, errors } of client.iterate({ query, variables })) {
    if (errors) throw new AggregateError(errors, errors[0].message);
    yield data;
  }
}

async function post(query, variables) {
  const answer = await fetch(`${server}/graphql`, {
    method: 'POST',
    headers: { ...authorization, 'Content-Type': 'application/json', Accept: 'application/graphql-response+json' },
    body: JSON.stringify({ query, variables }),
  });
  const { data, errors } = await answer.json();
  if (errors) throw new AggregateError(errors, errors[0].message);
  return data;
}

await journey('graphql-ws', {
  create: v => post(op.createThing, v),
  upload: async (file, thing) => postForm((await post(op.stageUpload, { name: file.name, thing })).stageUpload.upload, file),
  finalize: v => post(op.finalizeFiles, v),
  watch: v => subscribe(op.fileProcessing, v),
  publish: v => post(op.publishThing, v),
  list: () => post(op.listThings),
  download: v => post(op.recordDownload, v),
});
await client.dispose();
