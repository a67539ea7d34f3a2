// Compiles src and workers into dist. Plain JavaScript, since nothing may be compiled yet. Types are not checked here:
// `npm run check` does, and a first build would take 15 s of processor time instead of 3. A build that fails leaves
// dist as it was. Without the development dependencies there is no compiler: `--unless-built` then takes a dist that
// is newer than its sources.
import { spawnSync } from 'node:child_process';
import { existsSync, readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('../../..', import.meta.url));
const at = (...path) => join(root, ...path);

if (existsSync(at('node_modules/typescript/package.json'))) {
  run(at('bin/patch-driver.mjs'));
  // Silence would look like a hang.
  const isFirst = !existsSync(at('dist/.tsbuildinfo'));
  console.log(isFirst ? 'compiling the service, which a first start waits for ...' : 'compiling what has changed ...');
  const startedAt = performance.now();
  run(at('node_modules/typescript/bin/tsc'), '-p', at('tsconfig.build.json'));
  console.log(`compiled (${((performance.now() - startedAt) / 1000).toFixed(1)} s)`);
  if (existsSync(at('console')) && !isConsoleBuilt()) run(at('dist/src/commands/build-console.js'));
  if (existsSync(at('docs')) && !areDocsBuilt()) {
    if (existsSync(at('node_modules/marked'))) run(at('src/commands/start/build-docs.mjs'));
    else console.warn('the docs are not built: npm install');
  }
} else if (!(process.argv.includes('--unless-built') && isBuilt())) {
  console.error(
    'the compiler is not installed: npm install --include=dev, or run ' +
      '"node bin/meterstone.mjs start" where dist is',
  );
  process.exit(1);
}

function run(program, ...args) {
  const { status } = spawnSync(process.execPath, [program, ...args], { cwd: root, stdio: 'inherit' });
  if (status !== 0) process.exit(status ?? 1);
}

/** Whether the pages of the console are newer than what they are made of. */
function isConsoleBuilt() {
  const manifest = at('dist/console/manifest.json');
  if (!existsSync(manifest)) return false;
  const builtAt = statSync(manifest).mtimeMs;
  const files = ['console', 'src/engine'].flatMap((folder) =>
    readdirSync(at(folder), { recursive: true })
      .filter((name) => /\.(tsx?|css)$/.test(name))
      .map((name) => at(folder, name)),
  );
  return [...files, at('src/platform/colours.ts'), at('package-lock.json')].every(
    (file) => statSync(file).mtimeMs <= builtAt,
  );
}

/** Whether the pages of the documentation are newer than what they are made of: the texts, and the compiled routes. */
function areDocsBuilt() {
  const pages = at('dist/docs/pages.json');
  if (!existsSync(pages)) return false;
  const builtAt = statSync(pages).mtimeMs;
  const files = readdirSync(at('docs'), { recursive: true }).map((name) => at('docs', name));
  return [...files, at('dist/.tsbuildinfo'), at('src/commands/start/build-docs.mjs')].every(
    (file) => statSync(file).mtimeMs <= builtAt,
  );
}

/** Whether dist is newer than every source. */
function isBuilt() {
  const main = at('dist/src/commands/start.js');
  if (!existsSync(main)) return false;
  const info = at('dist/.tsbuildinfo');
  const builtAt = statSync(existsSync(info) ? info : main).mtimeMs;
  const sources = ['src', 'workers'].flatMap((folder) =>
    readdirSync(at(folder), { recursive: true })
      .filter((name) => name.endsWith('.ts'))
      .map((name) => at(folder, name)),
  );
  return sources.every((file) => statSync(file).mtimeMs <= builtAt);
}
