import { Temporal } from 'temporal-polyfill';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { readMessages, storeMessages } from '../../../../src/areas/usage/connectors/store-messages.ts';
import { cleanDeadLetters } from '../../../../src/areas/usage/ingestion/clean-dead-letters.ts';
import { createProducer } from '../../../../src/platform/queue/producer.ts';
import { startService, type TestService } from '../../../support/service.ts';
import { until } from '../../../support/until.ts';
import { ok, wordsOf } from '../../../support/words.ts';
import { storage } from '../ingest-events/build.ts';

type Sender = Awaited<ReturnType<TestService['org']>>;

let service: TestService;
let org: Sender;
beforeAll(async () => {
  service = await startService({ pools: ['writes', 'events', 'aggregation'] });
  org = await service.org();
});
afterAll(() => service.stop());

let offset = 0;
/** Puts values through a connector, as one that reads them does, and returns the ids of their dead letters. */
async function read(values: readonly unknown[], owner = org, headers: Record<string, string> = {}): Promise<string[]> {
  const { organization_id: organizationId } = owner.organization;
  await service.sql`
    insert into ingest_connectors (organization_id, code, kind, created_at)
    values (${organizationId}, 'stream', 'kafka', now()) on conflict do nothing`;
  const messages = values.map((value) => {
    offset += 1;
    return {
      position: `calls/0/${offset}`,
      bytes: typeof value === 'string' ? Buffer.from(value) : (value as Buffer),
      sourceTime: '2026-03-10T12:00:00.123456Z',
      headers,
      checkpoint: { key: 'calls/0', rank: String(offset), value: { next: String(offset + 1) } },
    };
  });
  const producer = createProducer(service.redis, service.config.REDIS_PREFIX);
  const deps = { ...storage(service.sql).deps, producer };
  const connector = { organizationId, code: 'stream', isSandbox: false };
  await storeMessages(deps, connector, await readMessages(deps, connector, messages));
  await producer.close();
  const { dead_letters } = await ok(owner.get('/ingestion/dead_letters?per_page=1000'));
  const positions = new Set(messages.map(({ position }) => position));
  return dead_letters
    .filter((letter: { position: string }) => positions.has(letter.position))
    .map((letter: { svc_id: string }) => letter.svc_id)
    .reverse();
}
const event = (id: string, fields: object = {}) =>
  JSON.stringify({ transaction_id: id, external_subscription_id: 's', code: 'calls', ...fields });
const shown = async (id: string) => (await ok(org.get(`/ingestion/dead_letters/${id}`))).dead_letter;
const stored = async (id: string, owner = org) => (await owner.get(`/events/${id}`)).body.event;

test('a connector is shown with its state and counts, and is paused and resumed', async () => {
  const owner = await service.org();
  await read([event('a'), event('a'), 'no'], owner);
  const path = '/ingestion/connectors/stream';
  const expected = {
    code: 'stream',
    type: 'kafka',
    status: 'stopped',
    error: null,
    processes: 0,
    messages_received: 3,
    events_stored: 1,
    events_replayed: 1,
    dead_letters: 1,
    lag_messages: null,
    lag_seconds: null,
    paused_at: null,
  };
  expect((await ok(owner.get(path))).connector).toMatchObject(expected);
  expect((await ok(owner.get('/ingestion/connectors'))).connectors).toEqual([expect.objectContaining(expected)]);
  const paused = (await ok(owner.post(`${path}/pause`, {}))).connector;
  expect(paused).toMatchObject({ status: 'paused', paused_at: expect.any(String) });
  expect((await ok(owner.post(`${path}/pause`, {}))).connector.paused_at).toBe(paused.paused_at);
  expect((await ok(owner.post(`${path}/resume`, {}))).connector).toMatchObject({ status: 'stopped', paused_at: null });
  await service.sql`
    insert into ingest_readers (organization_id, connector, id, status, error, lag_seconds, lag_messages, said_at)
    select ${owner.organization.organization_id}, 'stream', gen_random_uuid(), status, error, lag, lag, clock_timestamp()
    from (values ('running', null, 2), ('retrying', 'away', 5)) as reader (status, error, lag)`;
  expect((await ok(owner.get(path))).connector).toMatchObject({
    status: 'retrying',
    error: 'away',
    processes: 2,
    lag_messages: 7,
    lag_seconds: 5,
  });
});

test('a dead letter shows what came, also when it is no text', async () => {
  const bytes = Buffer.from([0x7b, 0xff, 0x00]);
  const [text, binary] = await read([event('b', { timestamp: 'soon' }), bytes]);
  expect(await shown(text!)).toMatchObject({
    connector: 'stream',
    event_number: 1,
    error_code: 'invalid_timestamp',
    error_message: 'timestamp: invalid_format',
    attempts: 1,
    status: 'open',
    is_cut: false,
    source_time: '2026-03-10T12:00:00Z',
    payload: event('b', { timestamp: 'soon' }),
    payload_base64: null,
    resolved_at: null,
  });
  expect(await shown(binary!)).toMatchObject({
    error_code: 'invalid_json',
    payload: null,
    payload_base64: bytes.toString('base64'),
  });
});

test('a dead letter is corrected by a value or a text, and is stored as it should have come', async () => {
  const [one, other] = await read([event('c', { code: '' }), event('d', { timestamp: 'soon' })]);
  const path = (id: string) => `/ingestion/dead_letters/${id}/retry`;
  const answer = await ok(org.post(path(one!), { dead_letter: { payload: JSON.parse(event('c')) } }));
  expect(answer.dead_letter).toMatchObject({ status: 'retried', attempts: 2, resolved_at: expect.any(String) });
  expect(await stored('c')).toMatchObject({ timestamp: '2026-03-10T12:00:00.123Z' });
  const text = `{"transaction_id":"d","external_subscription_id":"s","code":"calls","properties":{"n":1.00000000000000000001}}`;
  await ok(org.post(path(other!), { dead_letter: { payload: text } }));
  expect((await org.get('/events/d')).text).toContain('1.00000000000000000001');
  expect((await org.post(path(one!), {})).body).toMatchObject({ status: 405, code: 'invalid_status' });
});

test('a dead letter that fails again stays open with the new reason, and nothing of it is stored', async () => {
  const [id] = await read([event('e', { timestamp: 'soon' })]);
  const retry = (payload?: unknown) =>
    ok(org.post(`/ingestion/dead_letters/${id}/retry`, payload === undefined ? {} : { dead_letter: { payload } }));
  expect((await retry()).dead_letter).toMatchObject({ status: 'open', attempts: 2, error_code: 'invalid_timestamp' });
  const taken = {
    events: [JSON.parse(event('f')), JSON.parse(event('a1')), JSON.parse(event('f', { properties: { n: 2 } }))],
  };
  await read([event('f', { properties: { n: 1 } })]);
  expect((await retry(taken)).dead_letter).toMatchObject({ error_code: 'value_already_exist', attempts: 3 });
  expect(await stored('a1')).toBeUndefined();
  expect((await retry(7)).dead_letter).toMatchObject({ error_code: 'invalid_event', attempts: 4, status: 'open' });
  expect(await shown(id!)).toMatchObject({ payload: event('e', { timestamp: 'soon' }) });
});

test('a payload of which only a part was kept needs a corrected one', async () => {
  const [id] = await read([event('g', { properties: { text: 'x'.repeat(1_200_000) } })]);
  const path = `/ingestion/dead_letters/${id}/retry`;
  expect((await org.post(path, {})).body).toMatchObject({ error_details: { payload: ['value_is_mandatory'] } });
  expect((await ok(org.post(path, { dead_letter: { payload: event('g') } }))).dead_letter.status).toBe('retried');
});

const cloud = (id: string, fields: object = {}) => ({
  specversion: '1.0',
  id,
  source: '/gw',
  type: 'calls',
  subject: 's',
  ...fields,
});

test('a CloudEvent of a list is tried again alone, as it came or corrected', async () => {
  const type = { 'content-type': 'application/cloudevents-batch+json' };
  const list = JSON.stringify([cloud('1'), cloud('2', { subject: '' }), cloud('3', { time: 'soon' })]);
  const [second, third] = await read([list], org, type);
  const retry = (id: string | undefined, body: object) => ok(org.post(`/ingestion/dead_letters/${id}/retry`, body));
  expect((await retry(second, {})).dead_letter).toMatchObject({
    status: 'open',
    error_code: 'value_is_mandatory',
    error_message: 'subject: value_is_mandatory',
  });
  for (const [id, name] of [
    [second, '2'],
    [third, '3'],
  ] as const)
    expect((await retry(id, { dead_letter: { payload: cloud(name) } })).dead_letter.status).toBe('retried');
  expect(await stored('%2Fgw%203')).toMatchObject({ code: 'calls' });
});

test('codes of CloudEvents are those of the settings, in a stream and when tried again', async () => {
  const owner = await service.org();
  const types = { cloud_event_types: { 'com.acme.call': 'calls' } };
  await ok(owner.put('/organizations/settings', { settings: { ai: types } }));
  const named = (id: string, fields: object = {}) => cloud(id, { type: 'com.acme.call', ...fields });
  const [letter] = await read([JSON.stringify(named('1')), JSON.stringify(named('2', { subject: '' }))], owner);
  await ok(owner.post(`/ingestion/dead_letters/${letter}/retry`, { dead_letter: { payload: named('2') } }));
  for (const id of ['1', '2']) expect(await stored(`%2Fgw%20${id}`, owner)).toMatchObject({ code: 'calls' });
});

test('a message for another organization stays put aside, however many headers it has', async () => {
  const flood = Object.fromEntries(Array.from({ length: 2000 }, (_, index) => [`x-${index}`, 'x'.repeat(20)]));
  const another = { 'svc-organization-id': '01990000-0000-7000-8000-00000000000f' };
  const [id] = await read([event('h')], org, { ...flood, ...another });
  const path = `/ingestion/dead_letters/${id}/retry`;
  expect((await ok(org.post(path, {}))).dead_letter).toMatchObject({
    status: 'open',
    error_code: 'organization_mismatch',
  });
  expect(await stored('h')).toBeUndefined();
  const long = Object.fromEntries(Array.from({ length: 60 }, (_, index) => [`ce_x${index}`, 'x'.repeat(1000)]));
  const [cut] = await read([event('i')], org, { ...long, ...another });
  expect((await org.post(`/ingestion/dead_letters/${cut}/retry`, {})).body).toMatchObject({
    error_details: { payload: ['value_is_mandatory'] },
  });
  expect(await shown(cut!)).toMatchObject({ is_cut: true });
});

test('a corrected message is read without the headers that were wrong', async () => {
  const [id] = await read([event('j')], org, { 'content-type': 'text/plain' });
  const path = `/ingestion/dead_letters/${id}/retry`;
  expect((await ok(org.post(path, {}))).dead_letter.error_code).toBe('unsupported_format');
  expect((await ok(org.post(path, { dead_letter: { payload: event('j') } }))).dead_letter.status).toBe('retried');
});

test('of a retry and another at once, or a discard, one counts', async () => {
  const [one, other] = await read([event('k', { code: '' }), event('l', { code: '' })]);
  const retry = (id: string | undefined, name: string) =>
    org.post(`/ingestion/dead_letters/${id}/retry`, { dead_letter: { payload: event(name) } });
  const twice = await Promise.all([retry(one, 'k'), retry(one, 'k'), retry(one, 'k')]);
  expect(twice.map(({ status }) => status).sort()).toEqual([200, 405, 405]);
  const [retried, discarded] = await Promise.all([
    retry(other, 'l'),
    org.post(`/ingestion/dead_letters/${other}/discard`, {}),
  ]);
  expect([retried.status, discarded.status].sort()).toEqual([200, 405]);
  const { status } = await shown(other!);
  expect(status).toBe(retried.status === 200 ? 'retried' : 'discarded');
  expect((await stored('l')) !== undefined).toBe(status === 'retried');
});

test('a dead letter is discarded once', async () => {
  const [id] = await read(['no']);
  const path = `/ingestion/dead_letters/${id}/discard`;
  expect((await ok(org.post(path, {}))).dead_letter).toMatchObject({ status: 'discarded', attempts: 1 });
  expect((await org.post(path, {})).body).toMatchObject({ status: 405, code: 'invalid_status' });
  const open = await ok(org.get('/ingestion/dead_letters?statuses[]=open&per_page=1000'));
  expect(open.dead_letters.map((letter: { svc_id: string }) => letter.svc_id)).not.toContain(id);
  const found = await ok(
    org.get('/ingestion/dead_letters?statuses[]=discarded&error_codes[]=invalid_json&connector=stream'),
  );
  expect(found.dead_letters.map((letter: { svc_id: string }) => letter.svc_id)).toContain(id);
});

test('what no charge takes is stored and unmatched, and a value that is no number is none, nor is it 0', async () => {
  const owner = await service.org();
  const { metric, plan, customer, subscribe } = wordsOf(owner);
  const { svc_id: id } = await metric('storage', { aggregation_type: 'sum_agg', field_name: 'gb' });
  const charge = { billable_metric_id: id, charge_model: 'standard', properties: { amount: '1' } };
  await plan({ amount_cents: 0, charges: [charge] });
  await customer();
  await ok(subscribe());
  const timestamp = Math.ceil(Date.now() / 1000);
  const ofSub = (transaction: string, fields: object) =>
    event(transaction, { external_subscription_id: 'sub', code: 'storage', timestamp, ...fields });
  const letters = await read(
    [
      ofSub('known', { properties: { gb: 2.5 } }),
      ofSub('text', { properties: { gb: 'much' } }),
      ofSub('comma', { properties: { gb: '1,5' } }),
      ofSub('absent', {}),
      ofSub('metric', { code: 'unknown' }),
      ofSub('subscription', { external_subscription_id: 'unknown' }),
    ],
    owner,
  );
  expect(letters).toEqual([]);
  const summary = async () => (await ok(owner.get('/events/unmatched/summary'))).unmatched_summary;
  const found = await until(async () => {
    const rows: { reason: string; sample_transaction_ids: string[] }[] = await summary();
    const ids = rows.flatMap((row) => row.sample_transaction_ids.map((each) => `${row.reason} ${each}`));
    return ids.length === 5 ? ids.sort() : undefined;
  });
  expect(found).toEqual([
    'metric_not_found metric',
    'property_missing absent',
    'property_not_numeric comma',
    'property_not_numeric text',
    'subscription_not_found subscription',
  ]);
  const { customer_usage: usage } = await ok(
    owner.get('/customers/acme/current_usage?external_subscription_id=sub&apply_taxes=false'),
  );
  expect(usage.charges_usage[0]).toMatchObject({ events_count: 1, units: '2.5' });
});

test('nobody sees or touches what is another organization’s', async () => {
  const [id] = await read(['no']);
  const stranger = await service.org();
  for (const path of [`/ingestion/dead_letters/${id}/retry`, `/ingestion/dead_letters/${id}/discard`]) {
    expect((await stranger.post(path, {})).body).toMatchObject({ status: 404, resource: 'dead_letter' });
  }
  expect((await stranger.get(`/ingestion/dead_letters/${id}`)).status).toBe(404);
  for (const verb of ['pause', 'resume'])
    expect((await stranger.post(`/ingestion/connectors/stream/${verb}`, {})).body).toMatchObject({
      status: 404,
      resource: 'connector',
    });
  expect((await ok(stranger.get('/ingestion/dead_letters'))).dead_letters).toEqual([]);
  expect((await ok(stranger.get('/ingestion/connectors'))).connectors).toEqual([]);
});

test('dead letters are kept thirty days', async () => {
  const [old, young] = await read(['old', 'young']);
  const now = Temporal.Instant.from('2026-05-01T01:15:00Z');
  await service.sql`update ingest_dead_letters set failed_at = '2026-04-01T01:14:59Z' where id = ${old!}`;
  await service.sql`update ingest_dead_letters set failed_at = '2026-04-01T01:15:00Z' where id = ${young!}`;
  await cleanDeadLetters.sweep({ sql: service.sql } as never, now);
  const left = await service.sql`select id from ingest_dead_letters where id = any (${[old!, young!]})`;
  expect(left.map(({ id }) => id)).toEqual([young]);
});
