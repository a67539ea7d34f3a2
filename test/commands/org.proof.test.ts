import { execFile } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { promisify } from 'node:util';
import { Redis } from 'ioredis';
import { afterAll, beforeAll, expect, inject, test } from 'vitest';
import { projectRoot } from '../../src/platform/project-root.ts';
import { keyChangesChannel } from '../../src/platform/redis/channels.ts';
import { hmacKeyPlace } from '../../src/platform/secrets/secret-places.ts';
import { openText } from '../../src/platform/secrets/secrets.ts';
import { newDataFolder } from '../platform/services/data-folder.ts';
import { buildOnce, builtProgram } from '../support/build-once.ts';
import { createEmptyDatabase, createTestDatabase, type TestDatabase } from '../support/database.ts';
import { until } from '../support/until.ts';

const run = promisify(execFile);
const prefix = `t${randomUUID().slice(0, 8)}`;

let database: TestDatabase;
beforeAll(async () => {
  await buildOnce();
  database = await createTestDatabase();
});
afterAll(() => database.drop());

/** What running ingresses are told. */
async function listen(): Promise<{ heard: string[]; redis: Redis }> {
  const heard: string[] = [];
  const redis = new Redis(inject('redisUrl'));
  redis.on('message', (_channel, message) => heard.push(message));
  await redis.subscribe(keyChangesChannel(prefix));
  return { heard, redis };
}

/** What the command prints; with its exit code and complaint when it fails. */
const org = (...args: string[]) => command(database.url, 'org', ...args);

async function command(
  url: string,
  name: string,
  ...args: string[]
): Promise<{ code: number; out: string; complaint: string }> {
  const env = { ...process.env, DATABASE_URL: url, REDIS_URL: inject('redisUrl'), REDIS_PREFIX: prefix };
  try {
    const { stdout, stderr } = await run(process.execPath, [...builtProgram(`src/commands/${name}.ts`), ...args], {
      cwd: projectRoot(),
      env,
    });
    return { code: 0, out: stdout, complaint: stderr };
  } catch (error) {
    const { code, stdout, stderr } = error as { code: number; stdout: string; stderr: string };
    return { code, out: stdout, complaint: stderr };
  }
}

test('org list says so when there is no organization', async () => {
  const listed = await org('list');
  expect(listed).toMatchObject({ code: 0, out: '' });
  expect(listed.complaint).toContain('There is no organization yet');
});

test('without a running service, an org command says on which data it starts a Postgres of its own', {
  timeout: 240_000,
}, async () => {
  const dataDir = await newDataFolder();
  const { DATABASE_URL: _, REDIS_URL: __, ...env } = process.env;
  const failed = run(process.execPath, [...builtProgram('src/commands/org.ts'), 'list'], {
    cwd: projectRoot(),
    env: { ...env, DATA_DIR: dataDir },
  });
  const { stdout, stderr } = await failed.catch((error: { stdout: string; stderr: string }) => error);
  const [first, ...rest] = stderr.split('\n');
  expect(first).toBe(
    `no service is up on the data of ${dataDir}, so Postgres is started there for this command. A service on the data ` +
      'of another folder is reached with its DATA_DIR, one with a database of its own with its DATABASE_URL.',
  );
  expect(rest.join('\n')).toContain('is not migrated, and nothing was changed: npm start migrates it');
  expect(stdout).toBe('');
  const given = await org('list');
  expect(given.complaint).not.toContain('no service is up');
});

test('an org command that does not create a database leaves an empty one empty', {
  timeout: 120_000,
}, async () => {
  const empty = await createEmptyDatabase();
  const commands = [
    ['org', 'list'],
    ['org', 'limits', '--organization', randomUUID()],
    ['org', 'rotate-key', '--organization', randomUUID()],
    ['org', 'rotate-link-key'],
    ['secrets', 'status'],
    ['secrets', 'verify'],
    ['doctor'],
  ];
  for (const [name, ...args] of commands) {
    const { code, out, complaint } = await command(empty.url, name!, ...args);
    expect({ name, args, code }).toEqual({ name, args, code: 1 });
    expect(out + complaint).toMatch(
      name === 'doctor'
        ? /FAIL the schema "public" is behind/
        : /^the schema "public" is not migrated, and nothing was changed: run "npm run migrate"\n$/,
    );
  }
  const [row] = await empty.sql<{ tables: number }[]>`
    select count(*)::int as tables from pg_class where relnamespace = 'public'::regnamespace`;
  expect(row!.tables).toBe(0);
  await empty.drop();
});

test('org create prints one line of JSON, list shows the organization, rotate-key prints a new key', async () => {
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

  const { heard, redis } = await listen();
  const rotated = JSON.parse((await org('rotate-key', '--organization', organization.organization_id, '--json')).out);
  expect(rotated).toMatchObject({ organization_id: organization.organization_id, hmac_key: organization.hmac_key });
  expect(rotated.api_key).not.toBe(organization.api_key);
  await until(() => heard.length === 1);
  expect(JSON.parse(heard[0]!)).toEqual({ organization_id: organization.organization_id });
  redis.disconnect();

  const id = organization.organization_id;
  const replaced = JSON.parse((await org('rotate-hmac-key', '--organization', id, '--json')).out);
  expect(replaced).toEqual({
    organization_id: id,
    hmac_key: expect.stringMatching(/^[0-9a-f-]{36}$/),
    former_expires_at: expect.stringMatching(/Z$/),
  });
  const { sql } = database;
  const [stored] = await sql<{ hmac_key: string; former_hmac_key: string }[]>`
    select hmac_key, former_hmac_key from organizations where id = ${organization.organization_id}`;
  const opened = (text: string) => openText({ db: sql, config: {} }, text, hmacKeyPlace(organization.organization_id));
  expect(stored!.hmac_key).toMatch(/^v2:deployment:/);
  expect(await opened(stored!.hmac_key)).toBe(replaced.hmac_key);
  expect(await opened(stored!.former_hmac_key)).toBe(organization.hmac_key);
  const logged = await sql`select log_event from security_logs where organization_id = ${id} order by id`;
  expect(logged.map(({ log_event }) => log_event)).toEqual(['api_key.rotated', 'webhook_endpoint.updated']);
});

test('org limits sets limits of an organization, keeps and announces them, and resets them', async () => {
  const { organization_id: id } = JSON.parse((await org('create', '--name', 'Busy', '--json')).out);
  const { heard, redis } = await listen();
  expect(await org('limits', '--organization', id, '--events', '2000', '--current-usage', '7')).toMatchObject({
    code: 0,
  });
  await until(() => heard.length === 1);
  expect(heard.map((message) => JSON.parse(message))).toEqual([{ organization_id: id }]);
  redis.disconnect();

  expect((await org('limits', '--organization', id, '--events', 'setting')).out).toBe(
    `organization_id  ${id}\nevents           setting\nevents_bulk      setting\naccess           setting\ncurrent_usage    7\nbudgets          setting\ndefault          setting\n`,
  );
  const wrong = await org('limits', '--organization', id, '--default', '0', '--access', 'many');
  expect(wrong.complaint).toContain('"access":["value_is_out_of_range"]');
  expect(wrong.complaint).toContain('"default":["value_is_out_of_range"]');
});

test('an org command that is refused prints the reason and fails', async () => {
  const blank = await org('create', '--name', ' ');
  expect(blank).toMatchObject({ code: 1, out: '' });
  expect(blank.complaint).toContain('"error_details":{"name":["value_is_mandatory"]}');
  const unknown = await org('rotate-key', '--organization', 'nowhere');
  expect(unknown.complaint).toContain('"resource":"organization"');
  const late = await org('rotate-hmac-key', '--organization', 'nowhere', '--expires-in-hours', '169');
  expect(late.complaint).toContain('"expires_in_hours":["value_is_out_of_range"]');
});
