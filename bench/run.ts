import { spawn, spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { projectRoot } from '../src/platform/project-root.ts';

/**
 * `npm run bench`: compiles service and harness and runs the compiled harness, so that what is measured is the
 * JavaScript that production runs. Its own output folder keeps a build going on beside it out of the measurement.
 */
const root = projectRoot();
const main = join(root, 'dist', '.bench', 'bench', 'main.js');

const build = spawnSync('npx', ['--no-install', 'tsc', '-p', join('bench', 'tsconfig.json')], {
  cwd: root,
  encoding: 'utf8',
});
if (build.status !== 0 || !existsSync(main)) {
  console.error(`bench: the build failed\n${build.stdout}${build.stderr}`);
  process.exit(2);
}

const harness = spawn(process.execPath, ['--enable-source-maps', main, ...process.argv.slice(2)], {
  cwd: process.cwd(),
  stdio: 'inherit',
  env: { ...process.env, NODE_ENV: 'production' },
});
// The harness takes its servers down before it ends; this process only waits for it.
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => harness.kill(signal));
harness.once('exit', (code) => process.exit(code ?? 1));
