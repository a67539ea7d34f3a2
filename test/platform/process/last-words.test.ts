import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, inject, test } from 'vitest';
import { projectRoot } from '../../../src/platform/project-root.ts';
import { createTestDatabase } from '../../support/database.ts';

const FILE = join(projectRoot(), 'src/platform/process/run-process.ts');

test('a promise that fails unheard ends the process with code 1, and the log says why', async () => {
  const database = await createTestDatabase();
  const program = `
    import { runProcess } from ${JSON.stringify(FILE)};
    void runProcess('probe', async () => {
      setTimeout(() => Promise.reject(new Error('nobody listens')));
      return { close: async () => {} };
    });
    setTimeout(() => process.exit(0), 20_000);`;
  const ran = promisify(execFile)(process.execPath, ['--import', 'tsx', '--input-type=module', '-e', program], {
    cwd: projectRoot(),
    env: { ...process.env, DATABASE_URL: database.url, REDIS_URL: inject('redisUrl'), LOG_LEVEL: 'info' },
  });
  const { code, stdout } = await ran.then(
    () => ({ code: 0, stdout: '' }),
    (error: { code: number; stdout: string }) => error,
  );
  expect({ code, stdout }).toMatchObject({ code: 1, stdout: expect.stringContaining('a defect ends the process') });
  expect(stdout).toContain('nobody listens');
  await database.drop();
});
