import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import type { Client } from '../../support/client.ts';
import { startService, type TestService } from '../../support/service.ts';

let service: TestService;
let client: Client & { organization: { organization_id: string } };

beforeAll(async () => {
  service = await startService({ pools: ['events', 'writes', 'billing', 'aggregation'] });
});
afterAll(() => service.stop());
beforeEach(async () => {
  client = await service.org();
});

const event = (changes: object = {}) => ({
  transaction_id: 't1',
  external_subscription_id: 'sub',
  code: 'calls',
  timestamp: 1651240791.123,
  properties: { region: 'eu' },
  ...changes,
});
const post = (changes: object = {}, headers: Record<string, string> = {}) =>
  client.post('/events', { event: event(changes) }, { headers });
const postBatch = (events: unknown, headers: Record<string, string> = {}) =>
  client.post('/events/batch', { events }, { headers });

describe('POST /events', () => {
  test('POST /events answers with the stored event', async () => {
    const { status, body, headers } = await post({ precise_total_amount_cents: '12.5' });
    expect(status).toBe(200);
    expect(body).toEqual({
      event: {
        svc_id: expect.stringMatching(/^[0-9a-f-]{36}$/),
        transaction_id: 't1',
        svc_customer_id: null,
        code: 'calls',
        timestamp: '2022-04-29T13:59:51.123Z',
        precise_total_amount_cents: '12.5',
        properties: { region: 'eu' },
        svc_subscription_id: null,
        external_subscription_id: 'sub',
        created_at: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/),
      },
    });
    expect(headers['x-svc-replayed']).toBeUndefined();
    expect((await client.get('/events/t1')).body).toEqual(body);
  });

  test('sending the same event again is a replay with the same body; a different one is refused', async () => {
    const first = await post();
    const again = await post();
    expect(again.body).toEqual(first.body);
    expect(again.headers['x-svc-replayed']).toBe('true');
    const other = await post({ properties: { region: 'us' } });
    expect(other.status).toBe(422);
    expect(other.body).toMatchObject({
      code: 'validation_errors',
      error_details: { transaction_id: ['value_already_exist'] },
    });
  });

  test('numbers in events keep the written value', async () => {
    const raw = JSON.stringify({ event: event() }).replace('"eu"', '"eu","long":12345678901234567890.10,"short":1.10');
    const answer = await client.post('/events', undefined, { raw, headers: { 'content-type': 'application/json' } });
    expect(answer.text).toContain('"long":12345678901234567890.1,');
    expect(answer.text).toContain('"short":1.1}');
    expect((await client.get('/events/t1')).text).toContain('12345678901234567890.1');
    const [stored] = await service.sql<{ long: string; short: string }[]>`
      select properties ->> 'long' as long, properties ->> 'short' as short from events
      where organization_id = ${client.organization.organization_id}`;
    expect(stored).toEqual({ long: '12345678901234567890.1', short: '1.1' });
  });

  test('an event body without its root, or with an empty one, is malformed', async () => {
    for (const body of [{}, { event: {} }, { event: null }, { event: 'x' }, { event: [1] }, [], null]) {
      expect((await client.post('/events', body)).status).toBe(400);
    }
  });

  test('a refused event names all its faults', async () => {
    const { status, body } = await post({ transaction_id: ' ', code: undefined, timestamp: '2024-01-01T00:00:00Z' });
    expect(status).toBe(422);
    expect(body.error_details).toEqual({
      transaction_id: ['value_is_mandatory'],
      code: ['value_is_mandatory'],
      timestamp: ['invalid_format'],
    });
  });

  test('an event may name a subscription that does not exist', async () => {
    const { body } = await post({ external_subscription_id: undefined });
    expect(body.event.external_subscription_id).toBe('');
  });
});

describe('POST /events/batch', () => {
  test('POST /events/batch answers with the stored events in order', async () => {
    const { status, body } = await postBatch([event({ transaction_id: 'b' }), event({ transaction_id: 'a' })]);
    expect(status).toBe(200);
    expect(body.events.map((each: { transaction_id: string }) => each.transaction_id)).toEqual(['b', 'a']);
    expect(Object.keys(body)).toEqual(['events']);
  });

  test.each([
    [undefined, { events: ['no_events'] }],
    [[], { events: ['no_events'] }],
    ['x', { events: ['no_events'] }],
    [
      Array.from({ length: 101 }, (_, index) => ({ transaction_id: `${index}`, code: 'c' })),
      { events: ['too_many_events'] },
    ],
  ])('a batch is refused when its list is missing, empty or too long', async (events, errors) => {
    const { status, body } = await postBatch(events);
    expect(status).toBe(422);
    expect(body.error_details).toEqual(errors);
  });

  test('one bad event rejects the batch with its index', async () => {
    const { status, body } = await postBatch([event(), event({ transaction_id: 't2', timestamp: 'abc' }), 5]);
    expect(status).toBe(422);
    expect(body.error_details).toEqual({
      1: { timestamp: ['invalid_format'] },
      2: { transaction_id: ['value_is_mandatory'], code: ['value_is_mandatory'] },
    });
    expect((await client.get('/events')).body.meta.total_count).toBe(0);
  });

  test('a used transaction id rejects the batch too; only a batch of replays is marked as replayed', async () => {
    await post();
    const conflict = await postBatch([event({ transaction_id: 'n' }), event({ timestamp: 1 })]);
    expect(conflict.status).toBe(422);
    expect(conflict.body.error_details).toEqual({ 1: { transaction_id: ['value_already_exist'] } });
    const mixed = await postBatch([event(), event({ transaction_id: 'n' })]);
    expect(mixed.status).toBe(200);
    expect(mixed.headers['x-svc-replayed']).toBeUndefined();
    const replay = await postBatch([event(), event({ transaction_id: 'n' })]);
    expect(replay.headers['x-svc-replayed']).toBe('true');
    expect(replay.body).toEqual(mixed.body);
  });

  test('an expression that fails is reported by the index of its event', async () => {
    await client.post('/billable_metrics', {
      billable_metric: {
        name: 'Sum',
        code: 'sum',
        aggregation_type: 'sum_agg',
        field_name: 'total',
        expression: 'event.properties.a + event.properties.b',
      },
    });
    const { body } = await postBatch([event({ code: 'sum', properties: { a: 1 } })]);
    expect(body.error_details).toEqual({ 0: { expression: ['expression_evaluation_failed: Variable: b not found'] } });
    const single = await post({ code: 'sum', properties: { a: 1, b: 2 } });
    expect(single.body.event.properties).toEqual({ a: 1, b: 2, total: '3.0' });
  });
});

describe('events with an Idempotency-Key', () => {
  const key = { 'idempotency-key': 'k1' };

  test('an answer to events with an Idempotency-Key is stored and replayed, in its own transaction', async () => {
    const first = await post({}, key);
    expect(first.status).toBe(200);
    const again = await post({}, key);
    expect(again.text).toBe(first.text);
    expect(again.headers['x-svc-replayed']).toBe('true');
    expect((await post({ timestamp: 5 }, key)).body.error_details).toEqual({
      idempotency_key: ['value_already_exist'],
    });
    expect((await client.get('/events/t1')).body).toEqual(first.body);
    expect(await service.sql`select 1 from api_logs where request_path like '%/events%'`).toHaveLength(0);
  });

  test('faults, conflicts and replays with an Idempotency-Key are the same as without', async () => {
    await post();
    expect((await post({ timestamp: 'abc' }, key)).body.error_details).toEqual({ timestamp: ['invalid_format'] });
    expect((await post({ timestamp: 5 }, { 'idempotency-key': 'k2' })).body.error_details).toEqual({
      transaction_id: ['value_already_exist'],
    });
    expect((await post({}, { 'idempotency-key': 'k3' })).headers['x-svc-replayed']).toBe('true');
    expect((await postBatch([], { 'idempotency-key': 'k4' })).body.error_details).toEqual({ events: ['no_events'] });
    expect((await client.post('/events', {}, { headers: { 'idempotency-key': 'k5' } })).status).toBe(400);
    const batch = await postBatch([event({ transaction_id: 'x' }), event()], { 'idempotency-key': 'k6' });
    expect(batch.body.events).toHaveLength(2);
    const numbers = JSON.stringify({ event: event({ transaction_id: 'n' }) }).replace(
      '"eu"',
      '"eu","n":12345678901234567890',
    );
    const answer = await client.post('/events', undefined, {
      raw: numbers,
      headers: { 'content-type': 'application/json', 'idempotency-key': 'k7' },
    });
    expect(answer.text).toContain('"n":12345678901234567890');
  });
});

describe('GET /events', () => {
  const ids = async (query: string) =>
    (await client.get(`/events?${query}`)).body.events.map((each: { transaction_id: string }) => each.transaction_id);

  beforeEach(async () => {
    await postBatch([
      event({ transaction_id: 'b', timestamp: 100 }),
      event({ transaction_id: 'a', timestamp: 100 }),
      event({ transaction_id: 'c', timestamp: '200.5004', code: 'other' }),
      event({ transaction_id: 'd', timestamp: 300, external_subscription_id: 'two' }),
      event({ transaction_id: 'd', timestamp: 50 }),
    ]);
  });

  test('events are listed newest timestamp first, then by transaction id', async () => {
    const { body } = await client.get('/events?per_page=2&page=2');
    expect(await ids('')).toEqual(['d', 'c', 'a', 'b', 'd']);
    expect(body.meta).toEqual({
      current_page: 2,
      next_page: 3,
      prev_page: 1,
      total_pages: 3,
      total_count: 5,
      next_cursor: expect.any(String),
    });
    expect(body.events).toHaveLength(2);
  });

  test('events are listed with filters', async () => {
    expect(await ids('code=other')).toEqual(['c']);
    expect(await ids('external_subscription_id=two')).toEqual(['d']);
    expect(await ids('transaction_id=d')).toEqual(['d', 'd']);
    expect(await ids('timestamp_from=1970-01-01T00:01:40Z&timestamp_to=1970-01-01T00:03:20.500Z')).toEqual([
      'c',
      'a',
      'b',
    ]);
    expect(await ids('timestamp_to=1970-01-01')).toHaveLength(5);
    expect(await ids('timestamp_to=9999-12-31')).toHaveLength(5);
    expect(await ids('code=none')).toEqual([]);
  });

  test.each([
    ['timestamp_from=x', { timestamp_from: ['invalid_date'] }],
    ['timestamp_to=x', { timestamp_to: ['invalid_date'] }],
    ['timestamp_from_started_at=maybe', { timestamp_from_started_at: ['value_is_invalid'] }],
    ['timestamp_from_started_at=true', { external_subscription_id: ['required with timestamp_from_started_at'] }],
    [
      'timestamp_from_started_at=true&external_subscription_id=sub&timestamp_from=2020-01-01T00:00:00Z',
      { timestamp_from: ['cannot be used with timestamp_from_started_at'] },
    ],
  ])('a list of events is refused: %s', async (query, errors) => {
    const { status, body } = await client.get(`/events?${query}`);
    expect(status).toBe(422);
    expect(body.error_details).toEqual(errors);
  });

  test('of several events with one transaction id the newest is found; unknown and deleted ones are not', async () => {
    await post({ transaction_id: 'd', external_subscription_id: 'three' });
    expect((await client.get('/events/d')).body.event.external_subscription_id).toBe('three');
    const missing = await client.get('/events/none');
    expect(missing.status).toBe(404);
    expect(missing.body).toMatchObject({ code: 'object_not_found', resource: 'event' });
    expect((await client.get(`/events/${encodeURIComponent('a.b c')}`)).status).toBe(404);
  });
});

test('an event of one organization is not seen by another', async () => {
  await post();
  const other = await service.org();
  expect((await other.get('/events/t1')).status).toBe(404);
  expect((await other.get('/events')).body.meta.total_count).toBe(0);
});

test('enriched events show the fields that their metric reads, in the order and with the filters of the list', async () => {
  const metric = (fields: object) =>
    client.post('/billable_metrics', { billable_metric: { name: 'Metric', aggregation_type: 'sum_agg', ...fields } });
  await metric({ code: 'calls', field_name: 'n' });
  await metric({ code: 'logins', aggregation_type: 'count_agg' });
  await postBatch([
    event({ transaction_id: 'a', timestamp: 400, properties: { n: 1.5 }, precise_total_amount_cents: '12' }),
    event({ transaction_id: 'b', timestamp: 300, properties: { n: 'many' } }),
    event({ transaction_id: 'c', timestamp: 200, code: 'logins', properties: {} }),
    event({ transaction_id: 'd', timestamp: 100, code: 'unknown' }),
    event({ transaction_id: 'e', timestamp: 50, properties: {} }),
  ]);
  const { body } = await client.get('/events_enriched');
  expect(body.meta.total_count).toBe(5);
  expect(body.events[0]).toEqual({
    transaction_id: 'a',
    external_subscription_id: 'sub',
    code: 'calls',
    timestamp: '1970-01-01T00:06:40.000Z',
    enriched_at: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/),
    value: '1.5',
    decimal_value: '1.5',
    precise_total_amount_cents: '12.0',
    properties: { n: 1.5 },
  });
  const values = body.events.map(({ value, decimal_value }: Record<string, unknown>) => [value, decimal_value]);
  expect(values).toEqual([
    ['1.5', '1.5'],
    ['many', '0.0'],
    ['1', '1.0'],
    [null, '0.0'],
    [null, '0.0'],
  ]);
  expect((await client.get('/events_enriched?code=logins&per_page=1')).body.events).toHaveLength(1);
  expect((await client.get('/events_enriched?timestamp_from=x')).status).toBe(422);
});
