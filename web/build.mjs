// Builds the files that internal/web/gallery embeds: a script for each language of internal/web/language, and the style sheet. `node build.mjs FOLDER` writes them elsewhere, for the test that compares them.
import { copyFileSync, mkdirSync, readdirSync } from 'node:fs';
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
const builds = readdirSync(texts).map((file) => file.replace('.json', '')).map((code) => ({
  ...options, entryPoints: { [`gallery.${code}`]: 'src/main.tsx' }, alias: { '#texts': `${texts}/${code}.json` },
}));
builds.push({ ...options, entryPoints: { gallery: 'src/styles/gallery.css' } });
for (const build of builds) {
  if (watch) await (await esbuild.context(build)).watch();
  else await esbuild.build(build);
}
