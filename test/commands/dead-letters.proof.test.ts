import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { promisify } from 'node:util';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { projectRoot } from '../../src/platform/project-root.ts';
import { startService, type TestService } from '../support/service.ts';
import { until } from '../support/until.ts';

// `npm run dead-letters` over many dead letters, killed in the middle (streams.md#retry).
const run = promisify(execFile);
let service: TestService;
let organizationId: string;
beforeAll(async () => {
  service = await startService({ pools: ['writes', 'events', 'aggregation'] });
});
afterAll(() => service.stop());
beforeEach(async () => {
  organizationId = (await service.org()).organization.organization_id;
});

const command = (verb: string, ...more: string[]) => [
  'bin/meterstone.mjs',
  'dead-letters',
  verb,
  '--organization',
  organizationId,
  ...more,
];
const environment = () => ({
  ...process.env,
  DATABASE_URL: service.config.DATABASE_URL,
  DATABASE_SCHEMA: service.config.DATABASE_SCHEMA,
  REDIS_URL: service.config.REDIS_URL,
  REDIS_PREFIX: service.config.REDIS_PREFIX,
});

async function letters(verb: string, ...more: string[]): Promise<{ code: number; out: string; complaint: string }> {
  try {
    const options = { cwd: projectRoot(), env: environment() };
    const { stdout, stderr } = await run(process.execPath, command(verb, ...more), options);
    return { code: 0, out: stdout, complaint: stderr };
  } catch (error) {
    const { code, stdout, stderr } = error as { code: number; stdout: string; stderr: string };
    return { code, out: stdout, complaint: stderr };
  }
}

/** Dead letters of a stream, whose payload is a text with the number of each for `@`. */
const put = (connector: string, payload: string, count: number, fields: { code?: string; isCut?: boolean } = {}) =>
  service.sql`
    with known as (
      insert into ingest_connectors (organization_id, code, kind, created_at)
      values (${organizationId}, ${connector}, 'kafka', now()) on conflict do nothing
    )
    insert into ingest_dead_letters (organization_id, id, connector, position, part, payload, payload_digest, is_cut,
      headers, source_time, error_code, error_message, attempts, status, failed_at)
    select ${organizationId}, gen_random_uuid(), ${connector}, 'calls/0/' || n, 0,
      convert_to(replace(${payload}, '@', n::text), 'UTF8'), decode(md5(n::text || ${payload}), 'hex'),
      ${fields.isCut ?? false}, '{}', '2026-03-01T00:00:00Z', ${fields.code ?? 'invalid_event'}, 'wrong', 1, 'open',
      now()
    from generate_series(1, ${count}::int) n`;
const statuses = async () => {
  const rows = await service.sql<{ status: string; letters: number }[]>`
    select status, count(*)::int as letters from ingest_dead_letters where organization_id = ${organizationId}
    group by status`;
  return Object.fromEntries(rows.map(({ status, letters: count }) => [status, count]));
};
const countEvents = async () => {
  const [row] = await service.sql<{ rows: number; keys: number }[]>`
    select count(*)::int as rows, count(distinct transaction_id)::int as keys from events
    where organization_id = ${organizationId}`;
  return row!;
};
const EVENT = '{"transaction_id":"t@","external_subscription_id":"s","code":"calls"}';

test('very many are tried again, by a run that is killed and one that goes on, each event once', async () => {
  const count = 20_000;
  await put('usage', EVENT, count);
  const killed: ChildProcess = spawn(process.execPath, command('retry'), { cwd: projectRoot(), env: environment() });
  const gone = once(killed, 'exit');
  await until(async () => ((await statuses()).retried ?? 0) > 1000, 60_000, 20);
  killed.kill('SIGKILL');
  await gone;
  const { retried, open } = await statuses();
  expect(retried).toBeGreaterThan(1000);
  expect(open).toBeGreaterThan(0);
  expect(await countEvents()).toEqual({ rows: retried, keys: retried });
  const from = performance.now();
  expect(await letters('retry')).toMatchObject({ code: 0, out: `retried: ${open}, wrong again: 0, kept in part: 0\n` });
  const seconds = (performance.now() - from) / 1000;
  console.log(`dead letters: ${open} tried again in ${seconds.toFixed(1)} s`);
  expect(await statuses()).toEqual({ retried: count });
  expect(await countEvents()).toEqual({ rows: count, keys: count });
  expect(await letters('retry')).toMatchObject({ out: 'retried: 0, wrong again: 0, kept in part: 0\n' });
  const owed = async () =>
    (await service.sql`select from event_batches where organization_ids @> array[${organizationId}::uuid]`).length;
  await until(async () => (await owed()) === 0, 60_000);
}, 180_000);

test('of a letter all events are stored or none, and what is wrong again stays open with its reason', async () => {
  await put('usage', EVENT, 150);
  await put('usage', 'no JSON @', 30, { code: 'invalid_json' });
  await put('usage', EVENT.replace('t@', 'cut@'), 2, { isCut: true });
  const other = EVENT.replace('}', ',"properties":{"n":1}}');
  await put('files', `{"events":[${EVENT.replace('t@', 'new@')},${other}]}`, 1);
  await put('files', EVENT.replace('t@', 't2'), 3); // the same event again
  await put('files', EVENT.replace('calls', 'ca\\u0000lls').replace('t@', 'nul@'), 1);
  expect((await letters('list')).out.replaceAll(/\d{3,5} bytes/g, 'bytes')).toBe(
    'files  invalid_event  5 letters  bytes\n' +
      'usage  invalid_event  152 letters  bytes, 2 of them kept in part\n' +
      'usage  invalid_json  30 letters  bytes\n',
  );
  expect(await letters('retry', '--connector', 'usage', '--code', 'invalid_event')).toMatchObject({
    code: 1,
    out: 'retried: 150, wrong again: 0, kept in part: 2\n',
  });
  expect(await letters('retry')).toMatchObject({ code: 1, out: 'retried: 3, wrong again: 32, kept in part: 2\n' });
  expect(await countEvents()).toEqual({ rows: 150, keys: 150 });
  const rows = await service.sql`
    select error_code, attempts, count(*)::int as letters from ingest_dead_letters
    where organization_id = ${organizationId} and status = 'open' group by 1, 2 order by 1, 2`;
  expect(rows).toEqual([
    { error_code: 'invalid_event', attempts: 1, letters: 2 },
    { error_code: 'invalid_event', attempts: 2, letters: 1 },
    { error_code: 'invalid_json', attempts: 2, letters: 30 },
    { error_code: 'value_already_exist', attempts: 2, letters: 1 },
  ]);
  expect((await letters('discard')).complaint).toBe('say which: --connector, --code or --all\n');
  expect((await letters('discard', '--code', 'invalid_json')).out).toBe('discarded: 30\n');
  expect((await letters('discard', '--all')).out).toBe('discarded: 4\n');
  expect(await statuses()).toEqual({ retried: 153, discarded: 34 });
}, 120_000);

test('an organization that does not exist is named', async () => {
  organizationId = '01890000-0000-7000-8000-000000000000';
  expect(await letters('retry')).toMatchObject({
    code: 1,
    complaint: `there is no organization ${organizationId}: "npm run org -- list" shows them\n`,
  });
});
