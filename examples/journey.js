// Code that the examples share: the URL of the server, a model to upload, and a journey with checks: create, upload,
// finalize, watch the preview, publish, list, download.
import assert from 'node:assert/strict';
import { File } from 'node:buffer'; // a global only from Node.js 20 on

export const server = process.env.MESHYARD_URL ?? 'http://127.0.0.1:8080';
export const token = process.env.MESHYARD_TOKEN;
if (!token) throw new Error('MESHYARD_TOKEN: set it to an access token, such as the one that the first start prints');

export const authorization = { Authorization: `Bearer ${token}` };

// model returns an ASCII STL tetrahedron of a random size, so that each run uploads different content.
export function model(name) {
  const a = 10 + Math.random();
  const corners = [[0, 0, 0], [a, 0, 0], [0, a, 0], [0, 0, a]];
  const facets = [[0, 2, 1], [0, 1, 3], [0, 3, 2], [1, 2, 3]].map(facet => `facet normal 0 0 0
    outer loop
      ${facet.map(i => `vertex ${corners[i].join(' ')}`).join('\n      ')}
    endloop
  endfacet`);
  return new File([`solid ${name}\n  ${facets.join('\n  ')}\nendsolid ${name}\n`], `${name}.stl`, { type: 'model/stl' });
}

// journey runs all steps from the creation of a thing to the download of its file, with the operations of a client.
// Each operation takes variables and returns the data of the response. upload takes a file and the id of the thing, and
// returns the id of the pending upload. watch takes a file id and returns an async iterable of the states of its preview.
export async function journey(name, { create, upload, finalize, watch, publish, list, download }) {
  const { thing } = (await create({ name: `Example of ${name}` })).createThing;
  assert.equal(thing.state, 'DRAFT');

  const file = model(name);
  const id = await upload(file, thing.id);
  const finalized = (await finalize({ file: id, thing: thing.id })).finalizeFiles;
  assert.deepEqual(finalized.files, [{ id, state: 'FINALIZED' }].map(f => ({ ...finalized.files[0], ...f })));

  let last;
  for await (const { fileProcessing } of watch({ file: id })) last = fileProcessing;
  assert.equal(last?.state, 'DONE', `the preview ended as ${JSON.stringify(last)}`);

  assert.equal((await publish({ thing: thing.id })).publishThing.thing.state, 'PUBLISHED');
  const { nodes } = (await list()).things;
  assert.ok(nodes.some(node => node.id === thing.id), 'the list of the newest things holds the published one');

  const { url } = (await download({ file: id })).recordDownload;
  const bytes = await (await fetch(url)).text(); // the URL is signed: no token
  assert.equal(bytes, await file.text(), 'the bytes that were uploaded');
  console.log(`${name}: thing ${thing.id} is published, and its file ${id} came back byte for byte`);
}

// postForm sends a file with the signed form of stageUpload. It needs no token.
export async function postForm({ fileId, formAction, formFields }, file) {
  const form = new FormData();
  for (const { name, value } of formFields) form.append(name, value);
  form.append('file', file); // last: the server reads the form as a stream
  const answer = await fetch(formAction, { method: 'POST', body: form, redirect: 'manual' });
  assert.ok(answer.status < 400, `the form was answered with ${answer.status}: ${await answer.text()}`);
  return fileId;
}
