// Builds the files that internal/web/gallery embeds: a script for each language of internal/web/language, one for printing and one for managing things in each language, one for uploads in parts, and the style sheet. `node build.mjs FOLDER` writes them elsewhere, for the test that compares them.
import { createHash } from 'node:crypto';
import { copyFileSync, mkdirSync, readFileSync, readdirSync } from 'node:fs';
import * as esbuild from 'esbuild';

const watch = process.argv.includes('--watch');
const folder = process.argv.slice(2).find((argument) => !argument.startsWith('--')) ?? '../internal/web/gallery/dist';

const options = {
  outdir: folder,
  bundle: true,
  minify: !watch,
  format: 'esm',
  target: ['es2022'],
  jsx: 'automatic',
  jsxImportSource: 'preact',
  charset: 'utf8',
  legalComments: 'none',
  logLevel: 'info',
};

mkdirSync(folder, { recursive: true });
copyFileSync('src/icon.svg', `${folder}/icon.svg`);
const texts = '../internal/web/language/texts';
// The script for uploads in parts is loaded on demand, from a path with the hash that package assets computes.
const onDemand = { ...options, entryPoints: { resumable: 'src/resumable.ts' } };
await esbuild.build(onDemand);
const pathOf = (name) => `${createHash('sha256').update(readFileSync(`${folder}/${name}`)).digest('hex').slice(0, 16)}/${name}`;

// The scripts for printing and for managing things use the modules of the main script, which passes them in a global variable; see src/ondemand.tsx.
const shared = {
  name: 'shared',
  setup(build) {
    build.onResolve({ filter: /^(preact|\.\.\/)/ }, ({ path }) => (path === '../generated' ? undefined : { path: 'meshyard', namespace: 'shared' }));
    build.onLoad({ filter: /./, namespace: 'shared' }, () => ({ contents: 'module.exports = globalThis.meshyard' }));
  },
};
const builds = [];
for (const code of readdirSync(texts).map((file) => file.replace('.json', ''))) {
  const alias = { '#texts': `${texts}/${code}.json` };
  for (const part of ['printing', 'manage']) await esbuild.build({ ...options, entryPoints: { [`${part}.${code}`]: `src/${part}/index.tsx` }, alias, plugins: [shared] });
  const define = { RESUMABLE: JSON.stringify(pathOf('resumable.js')), PRINTING: JSON.stringify(pathOf(`printing.${code}.js`)), MANAGE: JSON.stringify(pathOf(`manage.${code}.js`)) };
  builds.push({ ...options, entryPoints: { [`gallery.${code}`]: 'src/main.tsx' }, alias, define });
}
builds.push({ ...options, entryPoints: { gallery: 'src/styles/gallery.css' } });
for (const build of builds) {
  if (watch) await (await esbuild.context(build)).watch();
  else await esbuild.build(build);
}
