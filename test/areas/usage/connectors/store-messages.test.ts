import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { createOrganization } from '../../../../src/areas/tenancy/organizations/commands.ts';
import { listCheckpoints } from '../../../../src/areas/usage/connectors/checkpoints.ts';
import { ClockAdvances, readMessages, storeMessages } from '../../../../src/areas/usage/connectors/store-messages.ts';
import type { StreamMessage } from '../../../../src/platform/streams/source.ts';
import { createTestDatabase, type TestDatabase } from '../../../support/database.ts';
import { makeMetric, type storage as Storage, storage } from '../ingest-events/build.ts';

let database: TestDatabase;
let statements: string[] = [];
let organizationId: string;
let kept: ReturnType<typeof Storage>;

beforeAll(async () => {
  database = await createTestDatabase({ onStatement: (text) => void statements.push(text) });
});
afterAll(() => database.drop());
beforeEach(async () => {
  organizationId = (await createOrganization(database.sql, { name: 'Acme', sandbox: false })).organization_id;
  kept = storage(database.sql);
  statements = [];
});

const event = (id: string, fields: object = {}) => ({
  transaction_id: id,
  external_subscription_id: 's',
  code: 'calls',
  ...fields,
});

function messageOf(offset: number, value: unknown, key = 'calls/0'): StreamMessage {
  return {
    position: `${key}/${offset}`,
    bytes: value === null ? null : Buffer.from(typeof value === 'string' ? value : JSON.stringify(value)),
    sourceTime: '2026-03-10T12:00:00.000000Z',
    checkpoint: { key, rank: String(offset), value: { next: String(offset + 1) } },
  };
}

const connector = () => ({ organizationId, code: 'stream', isSandbox: false });
const storeFor = async (of: ReturnType<typeof connector>, messages: StreamMessage[]) =>
  storeMessages(kept.deps, of, await readMessages(kept.deps, of, messages));
const store = (...messages: StreamMessage[]) => storeFor(connector(), messages);
const stored = () => database.sql<{ transaction_id: string; timestamp: unknown }[]>`
  select transaction_id, timestamp from events where organization_id = ${organizationId} order by transaction_id`;
const letters = () => database.sql<Record<string, unknown>[]>`
  select position, part, error_code, error_message, convert_from(payload, 'UTF8') as payload, is_cut, status
  from ingest_dead_letters where organization_id = ${organizationId} order by position, part`;
const counts = () => database.sql<Record<string, unknown>[]>`
  select key, rank::text as rank, value, received, stored, replayed, dead from ingest_checkpoints
  where organization_id = ${organizationId} order by key`;

test('events, dead letters and checkpoints of messages are stored together, the rest of an envelope beside its bad event', async () => {
  const outcome = await store(
    messageOf(4, event('a')),
    messageOf(5, '{"transaction_id":'),
    messageOf(6, { events: [event('b'), { code: 'calls' }, event('c')] }),
    messageOf(9, null, 'calls/1'),
  );
  expect(outcome).toMatchObject({ taken: 4, stored: 3, replayed: 0, dead: 2 });
  expect(outcome.putAside.map(({ message, reasons }) => [message.position, reasons[0]!.code])).toEqual([
    ['calls/0/5', 'invalid_json'],
    ['calls/0/6', 'value_is_mandatory'],
  ]);
  expect((await stored()).map((row) => row.transaction_id)).toEqual(['a', 'b', 'c']);
  expect(await letters()).toEqual([
    {
      position: 'calls/0/5',
      part: 0,
      error_code: 'invalid_json',
      error_message: expect.any(String),
      payload: '{"transaction_id":',
      is_cut: false,
      status: 'open',
    },
    {
      position: 'calls/0/6',
      part: 1,
      error_code: 'value_is_mandatory',
      error_message: expect.stringContaining('transaction_id: value_is_mandatory'),
      payload: '{"code":"calls"}',
      is_cut: false,
      status: 'open',
    },
  ]);
  expect(await counts()).toEqual([
    { key: 'calls/0', rank: '6', value: { next: '7' }, received: 3, stored: 3, replayed: 0, dead: 2 },
    { key: 'calls/1', rank: '9', value: { next: '10' }, received: 1, stored: 0, replayed: 0, dead: 0 },
  ]);
  expect(kept.jobs.map(({ name }) => name)).toEqual(['events.finish-batch']);
});

test('messages that come again are replays, and their dead letters are the same ones', async () => {
  const messages = [messageOf(1, event('a')), messageOf(2, 'no'), messageOf(3, { events: [event('b'), 7] })];
  await store(...messages);
  const again = await store(...messages);
  expect(again).toMatchObject({ stored: 0, replayed: 2, dead: 2 });
  expect(await letters()).toHaveLength(2);
  expect(await stored()).toHaveLength(2);
  expect((await counts())[0]).toMatchObject({ received: 6, stored: 2, replayed: 2, dead: 4 });
  expect(kept.jobs).toHaveLength(1);
});

test('a different event under a used key is a dead letter with what came, alone or from an envelope', async () => {
  const { sql } = database;
  await store(messageOf(1, event('a', { properties: { n: 1 } })));
  await store(
    messageOf(2, event('a', { properties: { n: 2 } })),
    messageOf(3, { events: [event('a', { properties: { n: 12345678901234567000 } }), event('b')] }),
  );
  expect((await letters()).map((row) => [row.position, row.error_code, row.payload])).toEqual([
    ['calls/0/2', 'value_already_exist', JSON.stringify(event('a', { properties: { n: 2 } }))],
    [
      'calls/0/3',
      'value_already_exist',
      '{"code":"calls","external_subscription_id":"s","properties":{"n":12345678901234567000},"transaction_id":"a"}',
    ],
  ]);
  const [first] =
    await sql`select properties from events where organization_id = ${organizationId} and transaction_id = 'a'`;
  expect(first!.properties).toEqual({ n: 1 });
});

test('a batch costs three statements at most, one of them only for events that were not inserted', async () => {
  await store(messageOf(1, event('a')));
  const isCounted = (text: string) => !/^\s*(begin|commit)/i.test(text);
  statements = [];
  await store(...Array.from({ length: 500 }, (_, index) => messageOf(2 + index, event(`e${index}`))));
  expect(statements.filter(isCounted)).toHaveLength(2);
  statements = [];
  await store(messageOf(600, event('a')), messageOf(601, 'no'), messageOf(602, event('z')));
  // Dead letters and checkpoints are sent together.
  expect(statements.filter(isCounted)).toHaveLength(4);
});

test('a checkpoint never falls back, and a made-up one is forgotten', async () => {
  await store(messageOf(10, event('a')));
  await store(messageOf(4, event('b')));
  expect(await listCheckpoints(database.sql, connector(), 'calls/')).toEqual([
    { key: 'calls/0', rank: '10', value: { next: '11' }, stored: 2, replayed: 0, dead: 0 },
  ]);
});

test('a transaction holds a thousand events, or one message with more bytes', async () => {
  const many = Array.from({ length: 1500 }, (_, index) => messageOf(index, event(`e${index}`)));
  expect(await store(...many)).toMatchObject({ taken: 1000, stored: 1000 });
  const envelope = (name: string) => ({ events: Array.from({ length: 600 }, (_, index) => event(`${name}${index}`)) });
  expect(await store(messageOf(2000, envelope('x')), messageOf(2001, envelope('y')))).toMatchObject({ taken: 1 });
  const wide = (name: string) => event(name, { properties: { text: 'x'.repeat(700_000) } });
  expect(await store(messageOf(3000, wide('v')), messageOf(3001, wide('w')))).toMatchObject({ taken: 1, stored: 1 });
});

test('a message above a MiB is put aside with its first 256 KiB', async () => {
  const tooLarge = messageOf(1, event('a', { properties: { text: 'x'.repeat(2_000_000) } }));
  expect(await store(tooLarge, messageOf(2, event('b')))).toMatchObject({ taken: 1, dead: 1 });
  await store(messageOf(2, event('b')));
  const [letter] = await letters();
  expect(letter).toMatchObject({ error_code: 'payload_too_large', is_cut: true });
  expect((letter!.payload as string).length).toBe(256 * 1024);
  expect((await stored()).map((row) => row.transaction_id)).toEqual(['b']);
});

test('an event whose expression fails is put aside, and a text is never counted as 0', async () => {
  await makeMetric(database.sql, organizationId, {
    code: 'storage',
    aggregation_type: 'sum_agg',
    field_name: 'gb',
    expression: 'event.properties.mb / 1024',
    shape: [],
  });
  await store(
    messageOf(1, event('a', { code: 'storage', properties: { mb: 'much' } })),
    messageOf(2, event('b', { code: 'storage', properties: { mb: 2048 } })),
  );
  expect((await letters()).map((row) => [row.error_code, row.error_message])).toEqual([
    ['invalid_event', expect.stringContaining('expression: expression_evaluation_failed')],
  ]);
  const sums = await database.sql`select sum, valid_count from usage_buckets where organization_id = ${organizationId}`;
  expect(sums.map((row) => [String(row.sum), row.valid_count])).toEqual([['2', 1]]);
});

test('a value that Postgres refuses is put aside alone', async () => {
  const { sql } = database;
  await sql.unsafe(`
    create or replace function refuse_bad() returns trigger language plpgsql as $$
      begin
        if new.transaction_id like 'bad%' then raise exception 'no' using errcode = '22003'; end if;
        return new;
      end $$;
    create trigger refuse_bad before insert on events for each row execute function refuse_bad()`);
  try {
    const messages = ['a', 'bad1', 'b', 'c', 'bad2', 'd'].map((id, index) => messageOf(index, event(id)));
    expect(await store(...messages)).toMatchObject({ stored: 4, dead: 2 });
    expect((await stored()).map((row) => row.transaction_id)).toEqual(['a', 'b', 'c', 'd']);
    expect((await letters()).map((row) => [row.position, row.error_code])).toEqual([
      ['calls/0/1', 'invalid_event'],
      ['calls/0/4', 'invalid_event'],
    ]);
  } finally {
    await sql.unsafe('drop trigger refuse_bad on events');
  }
});

test('nothing is stored when the checkpoint cannot be, nor while the test clock advances', async () => {
  const { sql } = database;
  await expect(
    store({ ...messageOf(1, event('a')), checkpoint: { key: 'calls/0', rank: 'x', value: {} } }),
  ).rejects.toThrow();
  expect(await stored()).toEqual([]);
  const sandbox = (await createOrganization(sql, { name: 'Sandbox', sandbox: true })).organization_id;
  await sql`
    insert into test_clocks (organization_id, frozen_time, target_time, status, created_at)
    values (${sandbox}, '2026-01-01T00:00:00Z', '2026-02-01T00:00:00Z', 'advancing', now())`;
  const messages = [messageOf(1, event('a'))];
  const held = storeFor({ organizationId: sandbox, code: 'stream', isSandbox: true }, messages);
  await expect(held).rejects.toThrow(ClockAdvances);
  expect(await sql`select from ingest_checkpoints where organization_id = ${sandbox}`).toHaveLength(0);
});

test('an event without time has that of its message', async () => {
  await store(messageOf(1, event('a')));
  expect(String((await stored())[0]!.timestamp)).toBe('2026-03-10T12:00:00Z');
});

const ANOTHER = '01990000-0000-7000-8000-00000000000f';

test.each([
  ['svc', 'svc-organization-id', ANOTHER, 1],
  ['lago', 'lago-organization-id', ANOTHER, 1],
  ['lago', 'lago-organization-id', undefined, 0],
  ['svc', 'lago-organization-id', ANOTHER, 0],
  ['lago', 'svc-organization-id', ANOTHER, 0],
])('with the prefix %s the header %s with %s puts %i messages aside', async (prefix, name, value, dead) => {
  kept.deps.config = { WIRE_PREFIX: prefix };
  const headers = { [name]: value ?? organizationId };
  expect(await store({ ...messageOf(1, event('a')), headers })).toMatchObject({ stored: 1 - dead, dead });
  const rows = await database.sql`
    select error_code, headers from ingest_dead_letters where organization_id = ${organizationId}`;
  const letter = { error_code: 'organization_mismatch', headers: { 'svc-organization-id': ANOTHER } };
  expect(rows).toEqual(dead === 0 ? [] : [letter]);
});
