import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { cpSync, existsSync, linkSync, mkdirSync, readdirSync, readFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, inject, test } from 'vitest';
import { projectRoot } from '../../src/platform/project-root.ts';
import { choosePort } from '../../src/platform/services/ports.ts';
import { buildOnce } from '../support/build-once.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { until } from '../support/until.ts';

// What the image holds, in a folder: the build and the production dependencies, without sources and compiler.
let folder: string;
let database: TestDatabase;
let environment: NodeJS.ProcessEnv;

beforeAll(async () => {
  await buildOnce();
  folder = await mkdtemp(join(tmpdir(), 'meterstone-image-'));
  for (const name of ['package.json', 'bin', 'migrations', 'dist'])
    cpSync(join(projectRoot(), name), join(folder, name), { recursive: true });
  for (const path of productionPackages()) link(join(projectRoot(), path), join(folder, path));
  database = await createTestDatabase();
  environment = {
    PATH: process.env.PATH,
    NODE_ENV: 'production',
    // `openssl rand -base64 32`, of this test only.
    SECRETS_KEYS: `test:${Buffer.alloc(32, 7).toString('base64')}`,
    DATABASE_URL: database.url,
    DATABASE_SCHEMA: 'image',
    REDIS_URL: inject('redisUrl'),
    REDIS_PREFIX: `image-${process.pid}`,
    PORT: String(await choosePort()),
  };
}, 300_000);

afterAll(async () => {
  await database?.drop();
  await rm(folder, { recursive: true, force: true });
});

/** Folders of the packages that `npm ci --omit=dev --omit=optional` installs. */
function productionPackages(): string[] {
  const lock = JSON.parse(readFileSync(join(projectRoot(), 'package-lock.json'), 'utf8')) as {
    packages: Record<string, { dev?: boolean; optional?: boolean; devOptional?: boolean }>;
  };
  return Object.entries(lock.packages).flatMap(([path, { dev, optional, devOptional }]) =>
    path === '' || dev || optional || devOptional ? [] : [path],
  );
}

/** The same files under a second name, which costs nothing; packages inside packages come by themselves. */
function link(from: string, to: string): void {
  if (!existsSync(from)) return;
  for (const entry of readdirSync(from, { withFileTypes: true, recursive: true })) {
    const path = join(entry.parentPath, entry.name).slice(from.length + 1);
    if (!entry.isFile() || /(^|\/)node_modules\//.test(path)) continue;
    mkdirSync(dirname(join(to, path)), { recursive: true });
    linkSync(join(from, path), join(to, path));
  }
}

const meterstone = (...args: string[]) =>
  promisify(execFile)(process.execPath, ['bin/meterstone.mjs', ...args], { cwd: folder, env: environment });

test('the image without development dependencies migrates, creates an organization, starts and answers', {
  timeout: 240_000,
}, async () => {
  expect(existsSync(join(folder, 'node_modules/tsx'))).toBe(false);
  expect(existsSync(join(folder, 'src'))).toBe(false);

  const early = await meterstone('doctor').catch((error: { stdout: string }) => error);
  expect(early.stdout).toMatch(/^FAIL the schema "image" is behind/m);
  expect((await meterstone('migrate')).stdout).toMatch(/^applied 0001/);
  const { api_key } = JSON.parse((await meterstone('org', 'create', '--name', 'Acme', '--json')).stdout);

  const ingress = spawn(process.execPath, ['--enable-source-maps', 'dist/src/ingress/server.js'], {
    cwd: folder,
    env: environment,
    stdio: 'ignore',
  });
  try {
    const answer = await until(
      () =>
        fetch(`http://127.0.0.1:${environment.PORT}/api/v1/customers`, {
          headers: { authorization: `Bearer ${api_key}` },
        }),
      60_000,
    );
    expect(answer.status).toBe(200);
    await meterstone('health'); // rejects with another exit code than 0
  } finally {
    ingress.kill('SIGTERM');
    await once(ingress, 'exit');
  }
});
