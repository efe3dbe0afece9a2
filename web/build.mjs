// Builds the files that internal/gallery embeds. `node build.mjs FOLDER` writes them elsewhere, for the test that compares them.
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

if (watch) await (await esbuild.context(options)).watch();
else await esbuild.build(options);
