// openapi-fetch: the REST API, with types from the OpenAPI description.
import createClient from 'openapi-fetch';
import type { paths } from './build/rest.d.ts';
import { authorization, model, server } from './journey.js';

const client = createClient<paths>({ baseUrl: server, headers: authorization });

// ok returns the data of a response, or throws its error.
async function ok<Data>(request: Promise<{ data?: Data; error?: unknown; response: Response }>): Promise<Data> {
  const { data, error, response } = await request;
  if (error !== undefined || data === undefined) throw new Error(`${response.url}: ${response.status} ${JSON.stringify(error)}`);
  return data;
}

const thing = await ok(client.POST('/things', { body: { name: 'Example of openapi-fetch', license: 'cc', category: 'Tools', description: 'Made by an example.' } }));

const file = model('openapi-fetch');
const { id } = await ok(client.POST('/files/0/uploadFile', {
  body: { file: file as unknown as string }, // the types call binary data a string
  bodySerializer({ file }) {
    const form = new FormData();
    form.append('file', file as unknown as File);
    return form;
  },
}));
await ok(client.POST('/files/0/FinalizeFiles', {
  body: { pending_uploads: [{ id: id!, rank: 1 }], target_type: 'thing', target_id: thing.id! },
}));
await ok(client.POST('/things/{thing_id}/publish', { params: { path: { thing_id: thing.id! } } }));

const newest = await ok(client.GET('/newest', { params: { query: { per_page: 5 } } }));
if (!newest.some(({ id }) => id === thing.id)) throw new Error('the list of the newest things lacks the published one');

// The server records the download and responds with a redirect, which fetch follows.
const { data, response } = await client.GET('/files/{file_id}/download', { params: { path: { file_id: id! } }, parseAs: 'text' });
if (String(data) !== await file.text()) throw new Error(`the download, ${response.status}, differs from the upload`);
console.log(`openapi-fetch: thing ${thing.id} is published, and its file ${id} came back byte for byte`);
