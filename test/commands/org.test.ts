import { execFile } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { promisify } from 'node:util';
import { Redis } from 'ioredis';
import { afterAll, beforeAll, expect, inject, test } from 'vitest';
import { projectRoot } from '../../src/platform/project-root.ts';
import { keyChangesChannel } from '../../src/platform/redis/channels.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { until } from '../support/until.ts';

const run = promisify(execFile);
const prefix = `t${randomUUID().slice(0, 8)}`;

let database: TestDatabase;
beforeAll(async () => {
  database = await createTestDatabase();
});
afterAll(() => database.drop());

/** What the command prints; with its exit code and complaint when it fails. */
async function org(...args: string[]): Promise<{ code: number; out: string; complaint: string }> {
  const env = { ...process.env, DATABASE_URL: database.url, REDIS_URL: inject('redisUrl'), REDIS_PREFIX: prefix };
  try {
    const { stdout } = await run('npx', ['--no-install', 'tsx', 'src/commands/org.ts', ...args], {
      cwd: projectRoot(),
      env,
    });
    return { code: 0, out: stdout, complaint: '' };
  } catch (error) {
    const { code, stdout, stderr } = error as { code: number; stdout: string; stderr: string };
    return { code, out: stdout, complaint: stderr };
  }
}

test('create prints one line of JSON; list shows the organization; rotate-key gives a new key and says so', async () => {
  const created = await org('create', '--name', 'Acme', '--sandbox', '--json');
  const organization = JSON.parse(created.out);
  expect(created.out.trim().split('\n')).toHaveLength(1);
  expect(organization).toEqual({
    organization_id: expect.stringMatching(/^[0-9a-f-]{36}$/),
    name: 'Acme',
    api_key: expect.stringMatching(/^[0-9a-f-]{36}$/),
    hmac_key: expect.stringMatching(/^[0-9a-f-]{36}$/),
  });

  const listed = (await org('list', '--json')).out
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line));
  expect(listed).toMatchObject([
    {
      organization_id: organization.organization_id,
      name: 'Acme',
      sandbox: true,
      keys: [organization.api_key.slice(-4)],
    },
  ]);

  const heard: string[] = [];
  const redis = new Redis(inject('redisUrl'));
  redis.on('message', (_channel, message) => heard.push(message));
  await redis.subscribe(keyChangesChannel(prefix));
  const rotated = JSON.parse((await org('rotate-key', '--organization', organization.organization_id, '--json')).out);
  expect(rotated).toMatchObject({ organization_id: organization.organization_id, hmac_key: organization.hmac_key });
  expect(rotated.api_key).not.toBe(organization.api_key);
  await until(() => heard.length === 1);
  expect(JSON.parse(heard[0]!)).toEqual({ organization_id: organization.organization_id });
  redis.disconnect();
});

test('a refusal is told, and the command fails', async () => {
  const blank = await org('create', '--name', ' ');
  expect(blank).toMatchObject({ code: 1, out: '' });
  expect(blank.complaint).toContain('"error_details":{"name":["value_is_mandatory"]}');
  const unknown = await org('rotate-key', '--organization', 'nowhere');
  expect(unknown.complaint).toContain('"resource":"organization"');
});
