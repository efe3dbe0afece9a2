// graphql-sse: each operation is a separate stream of server-sent events. Files are sent by a form.
import { createClient } from 'graphql-sse';
import * as op from './operations.js';
import { authorization, journey, postForm, server } from './journey.js';

const client = createClient({ url: `${server}/graphql`, headers: authorization });

async function* run(query, variables) {
  for await (const { data, errors } of client.iterate({ query, variables })) {
    if (errors) throw new AggregateError(errors, errors[0].message);
    yield data;
  }
}
const once = async (query, variables) => (await run(query, variables).next()).value;

await journey('graphql-sse', {
  create: v => once(op.createThing, v),
  upload: async (file, thing) => postForm((await once(op.stageUpload, { name: file.name, thing })).stageUpload.upload, file),
  finalize: v => once(op.finalizeFiles, v),
  watch: v => run(op.fileProcessing, v),
  publish: v => once(op.publishThing, v),
  list: () => once(op.listThings),
  download: v => once(op.recordDownload, v),
});
client.dispose();
