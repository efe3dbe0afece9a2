// Builds the files that internal/gallery embeds. `node build.mjs FOLDER` writes them elsewhere, for the test that compares them.
import { copyFileSync, mkdirSync } from 'node:fs';
import * as esbuild from 'esbuild';

const watch = process.argv.includes('--watch');
const folder = process.argv.slice(2).find((argument) => !argument.startsWith('--')) ?? '../internal/gallery/dist';

const options = {
  entryPoints: { gallery: 'src/main.tsx' },
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
if (watch) await (await esbuild.context(options)).watch();
else await esbuild.build(options);
