// urql: queries, a multipart upload, and a subscription by server-sent events, with the core client and no framework.
import { Client, fetchExchange } from '@urql/core';
import * as op from './operations.js';
import { authorization, journey, server } from './journey.js';

const client = new Client({
  url: `${server}/graphql`,
  preferGetMethod: false,
  fetchOptions: { headers: authorization },
  fetchSubscriptions: true, // over the same fetch, as text/event-stream
  exchanges: [fetchExchange],
});

async function data(result) {
  const { data, error } = await result;
  if (error) throw error;
  return data;
}

await journey('urql', {
  create: v => data(client.mutation(op.createThing, v)),
  upload: async file => (await data(client.mutation(op.uploadFile, { file }))).uploadFile.file.id,
  finalize: v => data(client.mutation(op.finalizeFiles, v)),
  watch: v => results(client.subscription(op.fileProcessing, v)),
  publish: v => data(client.mutation(op.publishThing, v)),
  list: () => data(client.query(op.listThings, {})),
  download: v => data(client.mutation(op.recordDownload, v)),
});

// results converts an urql source to an async iterable.
function results(source) {
  const queue = [];
  let wake = () => {};
  const push = entry => { queue.push(entry); wake(); };
  source.subscribe(result => {
    if (result.error) push({ error: result.error });
    else if (result.data) push({ value: result.data });
    if (result.hasNext === false) push({ done: true });
  });
  return (async function* () {
    for (;;) {
      while (queue.length === 0) await new Promise(resolve => { wake = resolve; });
      const { value, error, done } = queue.shift();
      if (error) throw error;
      if (done) return;
      yield value;
    }
  })();
}
