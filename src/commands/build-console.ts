import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { mkdir, readdir, rm, writeFile } from 'node:fs/promises';
import { basename, join, relative } from 'node:path';
import { brotliCompressSync, constants, gzipSync } from 'node:zlib';
import { type BuildOptions, build, context, type Metafile, type Plugin } from 'esbuild';
import { CONSOLE_COLOURS } from '../platform/colours.ts';
import { CONSOLE_FOLDER, type ConsoleManifest, MANIFEST } from '../platform/console-files.ts';
import { projectRoot } from '../platform/project-root.ts';

// Bundles the pages of console/ into dist/console: hashed names, packed beside each file, and a manifest that says
// which files the shell loads. `--watch` bundles again on each save. Rule: console.md#pages.

const KB = 1000;
/** Packed sizes above which the build fails. */
const MOST_FIRST_LOAD = 90 * KB;
const MOST_OF_ALL = 250 * KB;
const MOST_STYLE = 15 * KB;

const root = projectRoot();
const folder = join(root, CONSOLE_FOLDER);

/** The colours that all pages share. */
const colours: Plugin = {
  name: 'colours',
  setup(bundler) {
    bundler.onResolve({ filter: /^tokens\.css$/ }, () => ({ path: 'tokens.css', namespace: 'colours' }));
    bundler.onLoad({ filter: /.*/, namespace: 'colours' }, () => ({ contents: CONSOLE_COLOURS, loader: 'css' }));
  },
};

const options: BuildOptions & { metafile: true; outdir: string } = {
  absWorkingDir: root,
  entryPoints: ['console/main.tsx'],
  outdir: join(folder, 'assets'),
  entryNames: '[name]-[hash]',
  chunkNames: '[name]-[hash]',
  bundle: true,
  splitting: true,
  format: 'esm',
  target: 'es2022',
  minify: true,
  metafile: true,
  jsx: 'automatic',
  jsxImportSource: 'preact',
  plugins: [colours],
  logLevel: 'warning',
};

if (process.argv.includes('--watch')) {
  const finish: Plugin = {
    name: 'finish',
    setup: (bundler) =>
      bundler.onEnd(async ({ metafile }) => {
        if (metafile) await finishBuild(metafile);
        console.log('console built');
      }),
  };
  const watching = await context({ ...options, plugins: [colours, finish] });
  await watching.watch();
} else {
  const startedAt = performance.now();
  await rm(folder, { recursive: true, force: true });
  const { metafile } = await build(options);
  const sizes = await finishBuild(metafile);
  const seconds = ((performance.now() - startedAt) / 1000).toFixed(1);
  console.log(`built the console: ${sizes} (${seconds} s)`);
}

/** Packs each file and writes the manifest. @throws Error above a budget */
async function finishBuild(metafile: Metafile): Promise<string> {
  const assets = options.outdir;
  const packed = new Map<string, number>();
  await mkdir(assets, { recursive: true });
  const built = new Set(Object.keys(metafile.outputs).map((path) => basename(path)));
  for (const path of Object.keys(metafile.outputs)) {
    const bytes = readFileSync(join(root, path));
    const gzip = gzipSync(bytes, { level: 9 });
    packed.set(path, gzip.length);
    const params = { [constants.BROTLI_PARAM_QUALITY]: 11 };
    await writeFile(join(root, `${path}.gz`), gzip);
    await writeFile(join(root, `${path}.br`), brotliCompressSync(bytes, { params }));
  }
  for (const name of await readdir(assets))
    if (!built.has(name.replace(/\.(gz|br)$/, ''))) await rm(join(assets, name));

  const [entry, { cssBundle }] = outputOf(metafile, 'console/main.tsx');
  const [home] = outputOf(metafile, 'console/rooms/home/home.tsx');
  const isStyle = (path: string) => path.endsWith('.css');
  const total = (paths: Iterable<string>) => [...paths].reduce((sum, path) => sum + packed.get(path)!, 0);
  const first = total([...loadedWith(metafile, entry), ...loadedWith(metafile, home)].filter(onceEach()));
  const all = total([...packed.keys()].filter((path) => !isStyle(path)));
  const style = total([...packed.keys()].filter(isStyle));
  demand('the first load', first, MOST_FIRST_LOAD);
  demand('all scripts', all, MOST_OF_ALL);
  demand('the style', style, MOST_STYLE);

  const manifest: ConsoleManifest = {
    script: basename(entry),
    style: basename(cssBundle!),
    preloads: [...loadedWith(metafile, entry)].filter((path) => path !== entry).map((path) => basename(path)),
    version: createHash('sha256')
      .update([...built].sort().join())
      .digest('hex')
      .slice(0, 16),
  };
  await writeFile(join(folder, MANIFEST), JSON.stringify(manifest));
  const kB = (bytes: number) => `${(bytes / KB).toFixed(0)} kB`;
  return `first load ${kB(first)}, scripts ${kB(all)}, style ${kB(style)}`;
}

function demand(what: string, bytes: number, most: number): void {
  if (bytes > most) throw new Error(`${what} of the console packs to ${bytes} bytes, more than its budget of ${most}`);
}

function outputOf({ outputs }: Metafile, entryPoint: string): [string, Metafile['outputs'][string]] {
  const found = Object.entries(outputs).find(([, output]) => output.entryPoint === entryPoint);
  if (!found) throw new Error(`no output of ${entryPoint} in ${relative(root, options.outdir)}`);
  return found;
}

/** A file and those that it imports at once. */
function loadedWith({ outputs }: Metafile, path: string, seen = new Set<string>()): Set<string> {
  if (seen.has(path)) return seen;
  seen.add(path);
  for (const { path: next, kind } of outputs[path]!.imports)
    if (kind === 'import-statement') loadedWith({ outputs } as Metafile, next, seen);
  return seen;
}

function onceEach(): (path: string) => boolean {
  const seen = new Set<string>();
  return (path) => !seen.has(path) && seen.add(path) !== undefined;
}
