import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, expect, test } from 'vitest';
import { projectRoot } from '../../src/platform/project-root.ts';
import { choosePort } from '../../src/platform/services/ports.ts';
import { newDataFolder } from '../platform/services/data-folder.ts';
import { buildOnce, builtProgram } from '../support/build-once.ts';

beforeAll(buildOnce, 300_000);

interface End {
  code: number | null;
  output: string;
}

/** A program of the build, until it ends by itself. */
async function run(file: string, environment: Record<string, string>, ...args: string[]): Promise<End> {
  const { DATABASE_URL: _database, REDIS_URL: _redis, ...inherited } = process.env;
  const child = spawn(process.execPath, [...builtProgram(file), ...args], {
    cwd: projectRoot(),
    env: { ...inherited, ...environment },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let output = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream.on('data', (chunk) => {
      output += chunk;
    });
  }
  const [code] = await once(child, 'close');
  return { code, output };
}

const PROCESSES = ['src/ingress/server.ts', 'workers/writes.ts', 'workers/all.ts'];

test.each(PROCESSES)('%s without its stores ends with one sentence', { timeout: 120_000 }, async (file) => {
  const { code, output } = await run(file, {});
  expect(code).toBe(1);
  expect(output).toMatch(/^(ingress|writes|workers): DATABASE_URL and REDIS_URL must be set: .*\n$/);
});

test('in production links need an address when the ingress listens on every one', { timeout: 120_000 }, async () => {
  const stores = { DATABASE_URL: 'postgres://u:p@127.0.0.1:1/x', REDIS_URL: 'redis://127.0.0.1:1', HOST: '0.0.0.0' };
  const { code, output } = await run('workers/writes.ts', { ...stores, NODE_ENV: 'production' });
  expect(code).toBe(1);
  expect(output).toMatch(/^writes: PUBLIC_URL is missing: HOST=0\.0\.0\.0 is every address .*\n$/);
});

test('every process of the service starts in the same way', () => {
  const pools = readdirSync(join(projectRoot(), 'workers')).filter((file) => file !== 'pools.ts');
  expect(pools.length).toBeGreaterThan(10);
  for (const pool of pools)
    expect(readFileSync(join(projectRoot(), 'workers', pool), 'utf8')).toMatch(/^await run(Pools|PoolProcess)\(/m);
});

test('a port that is not a valid port is named', { timeout: 120_000 }, async () => {
  const { code, output } = await run('src/ingress/server.ts', { PORT: '99999' });
  expect(code).toBe(1);
  expect(output).toMatch(/^ingress: the settings are not valid: PORT: .*65535/);
});

test.each([
  ['DATABASE_URL', 'postgres://u:p@127.0.0.1:PORT/x', /DATABASE_URL: 127.0.0.1:\d+\/x cannot be reached/],
  ['REDIS_URL', 'redis://127.0.0.1:PORT', /REDIS_URL: 127.0.0.1:\d+ cannot be reached/],
  ['REDIS_URL', 'foo', /the settings are not valid: REDIS_URL: must be an address/],
])('npm start with a dead or wrong %s says so and ends', { timeout: 120_000 }, async (name, url, sentence) => {
  const environment = {
    [name]: url.replace('PORT', String(await choosePort())),
    DATA_DIR: await newDataFolder(),
    PORT: '0',
  };
  const { code, output } = await run('src/commands/start.ts', environment);
  expect(code).toBe(1);
  expect(output).toMatch(sentence);
  expect(output).not.toContain('are ready');
});

test('npm start names a setting that was probably misspelled', { timeout: 120_000 }, async () => {
  const { output } = await run('src/commands/start.ts', {
    PORTAL_TOKEN_TTL_HOUR: '3',
    REDIS_URL: `redis://127.0.0.1:${await choosePort()}`,
    DATA_DIR: await newDataFolder(),
  });
  expect(output).toContain('PORTAL_TOKEN_TTL_HOUR is no setting and has no effect: is PORTAL_TOKEN_TTL_HOURS meant?');
});

test('a scenario that is missing or malformed is reported in one sentence', { timeout: 120_000 }, async () => {
  const missing = await run('src/commands/scenario.ts', {}, '/nonexistent.json');
  expect(missing).toEqual({ code: 1, output: 'scenario: there is no file or folder /nonexistent.json\n' });
  const { code, output } = await run('src/commands/scenario.ts', {}, join(projectRoot(), 'README.md'));
  expect(code).toBe(1);
  expect(output).toMatch(/^scenario: .*README.md is no JSON: .*\n$/);
});
