import { execFile } from 'node:child_process';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { projectRoot } from '../../src/platform/project-root.ts';
import { buildOnce, builtProgram } from '../support/build-once.ts';
import { startService, type TestService } from '../support/service.ts';
import { until } from '../support/until.ts';

let service: TestService;
beforeAll(async () => {
  await buildOnce();
  service = await startService({ pools: ['writes'] });
});
afterAll(() => service.stop());

/** Exit code of the health check of a container that serves these queues; of the ingress without any. */
const health = (...queues: string[]): Promise<number> => {
  const { REDIS_URL, REDIS_PREFIX } = service.config;
  const env = { ...process.env, REDIS_URL, REDIS_PREFIX, PORT: new URL(service.url).port };
  return new Promise((resolve) => {
    const args = [...builtProgram('src/commands/health.ts'), ...queues];
    execFile(process.execPath, args, { cwd: projectRoot(), env }, (error) => resolve(error ? Number(error.code) : 0));
  });
};

test('a container is healthy while it answers or its queues make progress', async () => {
  expect(await health()).toBe(0);
  expect(await until(async () => (await health('writes', 'audit')) === 0)).toBe(true);
  expect(await health('events')).toBe(1);
});
