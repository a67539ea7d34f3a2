import { createServer, type Server } from 'node:net';
import { afterAll, beforeAll, expect, inject, test } from 'vitest';
import { createLog, type Log } from '../../../src/platform/log/log.ts';
import { awaitStores, demandStores } from '../../../src/platform/process/await-stores.ts';
import { placeOf } from '../../../src/platform/process/probe-stores.ts';
import { choosePort } from '../../../src/platform/services/ports.ts';
import { createTestDatabase, type TestDatabase } from '../../support/database.ts';
import { until } from '../../support/until.ts';

let database: TestDatabase;
let dead: number;
let silent: Server;
const redisUrl = inject('redisUrl');

beforeAll(async () => {
  database = await createTestDatabase();
  dead = await choosePort();
  silent = createServer(() => {}).listen(0, '127.0.0.1');
  await new Promise((resolve) => silent.once('listening', resolve));
});
afterAll(async () => {
  silent.close();
  await database.drop();
});

const silentPort = () => (silent.address() as { port: number }).port;
const settings = (changes: object = {}) => ({
  DATABASE_URL: database.url,
  REDIS_URL: redisUrl,
  DATABASE_SCHEMA: 'public',
  ...changes,
});

/** A log whose lines are kept. */
function listening(): { log: Log; lines: string[] } {
  const lines: string[] = [];
  const log = createLog({ level: 'silent', process: 'test' });
  for (const level of ['error', 'warn', 'info'] as const) {
    log[level] = (_facts: unknown, line?: string) => {
      if (line) lines.push(line);
    };
  }
  return { log, lines };
}
const refusal = (changes: object) => expect(awaitStores(settings(changes), listening().log)).rejects;

test('a process with working stores and current tables starts without a message', async () => {
  const { log, lines } = listening();
  await awaitStores(settings(), log);
  expect(lines).toEqual([]);
});

test('settings that are missing are named together', async () => {
  await refusal({ DATABASE_URL: '', REDIS_URL: '' }).toThrow('DATABASE_URL and REDIS_URL must be set');
  await refusal({ REDIS_URL: '' }).toThrow(/^REDIS_URL must be set/);
});

test('a missing database and a wrong password are refused without showing a password', async () => {
  const missing = new URL(database.url);
  missing.pathname = '/no_such_database';
  await refusal({ DATABASE_URL: missing.href }).toThrow(
    /^DATABASE_URL: .*\/no_such_database turns us down: .*does not exist/,
  );
  const redis = new URL(redisUrl);
  redis.username = 'stranger';
  redis.password = 'sesame';
  await refusal({ REDIS_URL: redis.href }).toThrow(/^REDIS_URL: \S+ turns us down: WRONGPASS/);
  expect(placeOf('postgres://user:sesame@a:1,b:2/name?x=1')).toBe('a:1,b:2/name');
});

test('tables that are missing or too old are named with what to do', async () => {
  await database.sql`create schema empty_one`;
  await refusal({ DATABASE_SCHEMA: 'empty_one' }).toThrow(
    /^the schema is behind: run "npm run migrate" \(\d+ migrations from 0001\w+.sql on not applied\)/,
  );
});

test('tables of a newer version are named, and the process starts', async () => {
  const { log, lines } = listening();
  await database.sql`insert into schema_migrations (name, checksum) values ('9999_future.sql', 'x')`;
  await awaitStores(settings(), log);
  await database.sql`delete from schema_migrations where name = '9999_future.sql'`;
  expect(lines).toEqual(['the schema is newer than this program: another version migrated it']);
});

test.each([
  [
    'DATABASE_URL',
    () => `postgres://u:sesame@127.0.0.1:${dead}/x`,
    /^DATABASE_URL: 127.0.0.1:\d+\/x cannot be reached: .*ECONNREFUSED/,
  ],
  [
    'DATABASE_URL',
    () => `postgres://127.0.0.1:${silentPort()}/x`,
    /^DATABASE_URL: .* cannot be reached: no answer within 3 s/,
  ],
  ['REDIS_URL', () => `redis://127.0.0.1:${dead}`, /^REDIS_URL: 127.0.0.1:\d+ cannot be reached: .*ECONNREFUSED/],
  ['REDIS_URL', () => `redis://127.0.0.1:${silentPort()}`, /^REDIS_URL: .* cannot be reached: no answer within 3 s/],
])(
  '%s to a store that is away is named after one try, and refused where a person waits',
  async (name, url, sentence) => {
    const { log, lines } = listening();
    void awaitStores(settings({ [name]: url() }), log).catch(() => {});
    const first = await until(() => lines[0]);
    expect(first).toMatch(sentence);
    expect(first).not.toContain('sesame');
    await expect(demandStores({ [name]: url() })).rejects.toThrow(sentence);
  },
);

test('a process continues by itself when its store comes back', async () => {
  const { log, lines } = listening();
  const target = new URL(redisUrl);
  const through = new URL(redisUrl);
  through.port = String(dead);
  const started = awaitStores(settings({ REDIS_URL: through.href }), log);
  await until(() => lines.length > 0);
  const { connect } = await import('node:net');
  const relay = createServer((socket) => {
    const onward = connect(Number(target.port), target.hostname);
    socket.pipe(onward).pipe(socket);
    socket.on('error', () => {});
    onward.on('error', () => {});
  }).listen(dead, '127.0.0.1');
  await started;
  relay.close();
  expect(lines.at(-1)).toBe('the store answers');
});
