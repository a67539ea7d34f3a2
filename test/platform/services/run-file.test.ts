import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { birthOf, isAlive } from '../../../src/platform/services/processes.ts';
import { claimRun, findRunning } from '../../../src/platform/services/run-file.ts';
import { withServices } from '../../../src/platform/services/with-services.ts';
import { until } from '../../support/until.ts';
import { filesOf, newDataFolder } from './data-folder.ts';

const silent = () => undefined;
const up = {
  baseUrl: 'http://127.0.0.1:3000/api/v1',
  databaseUrl: 'postgres://db',
  redisUrl: 'redis://queues',
  origin: { postgres: 'given', redis: 'given' } as const,
  settings: { WIRE_PREFIX: 'lago', DATABASE_SCHEMA: 'public', REDIS_PREFIX: 'meterstone' },
};

async function claim(dataDir: string) {
  const result = await claimRun(dataDir, silent);
  if ('taken' in result) throw new Error('it is taken');
  return result.claimed;
}

test('a running service is found until it ends, by its owner only', async () => {
  const dataDir = await newDataFolder();
  const runFile = await claim(dataDir);
  expect(await findRunning(dataDir)).toBeUndefined(); // still starting

  await runFile.update({ ...up, children: { ingress: process.pid } });
  expect(await findRunning(dataDir)).toMatchObject({ ...up, children: { ingress: { pid: process.pid } } });
  expect((await stat(join(dataDir, 'run.json'))).mode & 0o777).toBe(0o600);

  await runFile.remove();
  expect(await findRunning(dataDir)).toBeUndefined();
  expect(await filesOf(dataDir)).toEqual([]);
});

test('of several launchers at the same time one succeeds and the others find its run file', async () => {
  const dataDir = await newDataFolder();
  const results = await Promise.all(Array.from({ length: 8 }, () => claimRun(dataDir, silent)));
  expect(results.filter((result) => 'claimed' in result)).toHaveLength(1);
  const loser = results.find((result) => 'taken' in result);
  expect(loser).toMatchObject({ taken: { launcher: { pid: process.pid } } });
});

test.each([
  ['a pid that nobody has', { pid: 2 ** 22 + 1, birth: '1' }],
  ['a pid that another process has now', { pid: process.pid, birth: 'earlier' }],
])('the run file of a launcher that is gone is ignored: %s', async (_case, launcher) => {
  const dataDir = await newDataFolder();
  await writeFile(join(dataDir, 'run.json'), JSON.stringify({ launcher, ...up }));
  expect(await findRunning(dataDir)).toBeUndefined();
  await claim(dataDir);
});

test('children of a killed launcher are ended before the next one starts', async () => {
  const dataDir = await newDataFolder();
  const child = spawn('sleep', ['60']);
  onTestFinished(() => void child.kill('SIGKILL'));
  await once(child, 'spawn');
  const launcher = { pid: process.pid, birth: 'earlier' };
  const children = { ingress: { pid: child.pid!, birth: birthOf(child.pid!) } };
  await writeFile(join(dataDir, 'run.json'), JSON.stringify({ launcher, ...up, children }));

  await claim(dataDir);
  expect(isAlive(child.pid!)).toBe(false);
});

test('the folder lock of a process that is gone is taken over', async () => {
  const dataDir = await newDataFolder();
  await writeFile(join(dataDir, 'lock'), `${2 ** 22 + 1} 1 abc`);
  await claim(dataDir);
  expect(await filesOf(dataDir)).toEqual(['run.json']);
});

test('a command uses the servers of a running service', async () => {
  const dataDir = await newDataFolder();
  await (await claim(dataDir)).update(up);
  const urls = await withServices({ dataDir }, async (given) => given);
  expect(urls).toEqual({ databaseUrl: up.databaseUrl, redisUrl: up.redisUrl, baseUrl: up.baseUrl });
});

test('a command without a running service starts temporary servers of its own', async () => {
  const dataDir = await newDataFolder();
  const urls = await withServices({ dataDir }, async (own) => own);
  expect(urls).toMatchObject({ databaseUrl: expect.stringContaining('127.0.0.1'), baseUrl: undefined });
  expect(await filesOf(join(dataDir, 'users'))).toEqual([]);
  await until(() => filesOf(join(dataDir, 'redis')).then((names) => !names.includes('redis.pid')));
});
