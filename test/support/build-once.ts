import { execFile } from 'node:child_process';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { inject } from 'vitest';
import { projectRoot } from '../../src/platform/project-root.ts';
import { withFolderLock } from '../../src/platform/services/folder-lock.ts';

/** Where files of a run wait for each other; `built-in` there holds the id of the run that compiled last. */
const WAITING_PLACE = join(projectRoot(), '.data', 'build-of-tests');
const BUILT_IN = join(WAITING_PLACE, 'built-in');

/**
 * Compiles the service as an operator does, once in a run of tests: other files wait for the first one. Measured: an
 * ingress that is started from the sources loads for 2.4 s of processor time, from the build for 0.9 s.
 */
export async function buildOnce(): Promise<void> {
  await withFolderLock(
    WAITING_PLACE,
    () => undefined,
    async () => {
      // Absent in `npm run check`, whose tests start no servers, and in a proof that is run by itself.
      const runId: string | undefined = process.env.VITEST === undefined ? undefined : inject('runId');
      if (runId !== undefined && runId === (await readFile(BUILT_IN, 'utf8').catch(() => undefined))) return;
      await promisify(execFile)('npm', ['run', '--silent', 'build'], { cwd: projectRoot() });
      await writeFile(BUILT_IN, runId ?? '');
    },
  );
}

/** Arguments of node that run the program of a source file, such as `workers/writes.ts`, after `buildOnce`. */
export const builtProgram = (source: string): string[] => [
  '--enable-source-maps',
  join(projectRoot(), 'dist', source.replace(/\.ts$/, '.js')),
];
