import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import type { Client, ClientAnswer } from '../support/client.ts';
import { startService, type TestService } from '../support/service.ts';

let service: TestService;
let client: Client;

beforeAll(async () => {
  service = await startService({ pools: ['events', 'writes', 'billing', 'aggregation'] });
});
afterAll(() => service.stop());
beforeEach(async () => {
  client = await service.org();
});

const STRUCTURED = 'application/cloudevents+json';
const BATCH = 'application/cloudevents-batch+json';
const beyondContract = 'cloud-events.md#modes';

const event = (changes: object = {}) => ({
  specversion: '1.0',
  id: '7',
  source: '/gw',
  type: 'calls',
  subject: 'ada-1',
  time: '2026-03-09T23:59:59.999Z',
  data: { tokens: 10 },
  ...changes,
});
const BINARY = {
  'ce-specversion': '1.0',
  'ce-id': '7',
  'ce-source': '/gw',
  'ce-type': 'calls',
  'ce-subject': 'ada-1',
  'ce-time': '2026-03-09T23:59:59.999Z',
};
const send = (path: string, type: string, body: unknown, headers: Record<string, string> = {}) =>
  client.post(path, undefined, {
    raw: typeof body === 'string' ? body : JSON.stringify(body),
    headers: { 'content-type': type, ...headers },
    beyondContract,
  });
const structured = (body: unknown, headers?: Record<string, string>) => send('/events', STRUCTURED, body, headers);
const batch = (body: unknown, query = '') => send(`/events/batch${query}`, BATCH, body);
const binary = (data: unknown, headers: Record<string, string | undefined> = {}, type = 'application/json') =>
  send(
    '/events',
    type,
    data,
    Object.fromEntries(Object.entries({ ...BINARY, ...headers }).filter(([, value]) => value !== undefined)) as never,
  );
const detailsOf = ({ status, body }: ClientAnswer) => [status, body.error_details];

test('structured, binary, in a batch and in our own form it is one event (PB14)', async () => {
  const first = await structured(event());
  expect(first.status).toBe(200);
  expect(first.body.event).toMatchObject({
    transaction_id: '/gw 7',
    external_subscription_id: 'ada-1',
    code: 'calls',
    timestamp: '2026-03-09T23:59:59.999Z',
    properties: { tokens: 10 },
    precise_total_amount_cents: null,
  });
  expect(first.headers['x-svc-replayed']).toBeUndefined();
  const plain = {
    transaction_id: '/gw 7',
    external_subscription_id: 'ada-1',
    code: 'calls',
    timestamp: 1773100799.999,
    properties: { tokens: 10 },
  };
  const again = [await binary({ tokens: 10 }), await client.post('/events', { event: plain })];
  for (const answer of again) {
    expect(answer.body).toEqual(first.body);
    expect(answer.headers['x-svc-replayed']).toBe('true');
  }
  const inBatch = await batch([event(), event()]);
  expect(inBatch.body).toEqual({ events: [first.body.event, first.body.event] });
  expect(inBatch.headers['x-svc-replayed']).toBe('true');
  expect((await client.get('/events')).body.meta.total_count).toBe(1);
});

test('another content under the same source and id is refused as in our own form', async () => {
  await structured(event());
  const other = await structured(event({ data: { tokens: 11 } }));
  expect(detailsOf(other)).toEqual([422, { transaction_id: ['value_already_exist'] }]);
  expect(other.body.error_places).toBeUndefined();
  expect(detailsOf(await binary({ tokens: 10 }, { 'ce-type': 'others' }))).toEqual([
    422,
    { transaction_id: ['value_already_exist'] },
  ]);
});

test('header values are decoded once: percent, quotes, extensions', async () => {
  const { status, body } = await binary('{"a":1}', {
    'ce-id': '%C3%A9%20%E2%82%AC%2541',
    'Ce-Subject': '"ada \\"1\\" %41"',
    'ce-subject': undefined,
    'ce-tenant': '7',
    'ce-retries': 'true',
    'ce-data': 'dropped',
    'content-type': 'application/vnd.calls+json; charset=utf-8',
  });
  expect(status).toBe(200);
  expect(body.event).toMatchObject({
    transaction_id: '/gw é €%41',
    external_subscription_id: 'ada "1" A',
    properties: { a: 1, ce_tenant: '7', ce_retries: 'true' },
  });
});

test.each<[string, Record<string, string | undefined>, object]>([
  ['a percent sign alone', { 'ce-id': '100%' }, { id: ['invalid_format'] }],
  ['bytes that are no UTF-8', { 'ce-subject': '%FF' }, { subject: ['invalid_format'] }],
  ['an encoded U+0000', { 'ce-tenant': '%00' }, { tenant: ['invalid_format'] }],
  ['letters beyond ASCII', { 'ce-subject': 'é' }, { subject: ['invalid_format'] }],
  ['another version', { 'ce-specversion': '0.3' }, { specversion: ['unsupported_value'] }],
  ['an empty version', { 'ce-specversion': '' }, { specversion: ['value_is_mandatory'] }],
  ['no source', { 'ce-source': undefined }, { source: ['value_is_mandatory'] }],
  ['a time without zone', { 'ce-time': '2026-03-10T00:00:00' }, { time: ['invalid_format'] }],
  ['a name with another letter', { 'ce-my_tenant': 'a' }, { extensions: ['invalid_format'] }],
  ['data of another type', { 'ce-datacontenttype': 'text/xml' }, { datacontenttype: ['unsupported_value'] }],
  ['data in base64', { 'ce-data_base64': 'e30=' }, { data_base64: ['unsupported_value'] }],
])('binary mode: %s is refused', async (_, headers, details) => {
  expect(detailsOf(await binary({}, headers))).toEqual([422, details]);
});

test('a header that is there twice is refused', async () => {
  const response = await client.post('/events', undefined, {
    raw: '{}',
    headers: { ...BINARY, 'Ce-Id': '8' },
    beyondContract,
  });
  expect(detailsOf(response)).toEqual([422, { id: ['invalid_format'] }]);
});

test('an event in binary mode may be without data, and its data must be an object', async () => {
  expect((await client.post('/events', undefined, { headers: BINARY, beyondContract })).body.event).toMatchObject({
    transaction_id: '/gw 7',
    properties: {},
  });
  expect(detailsOf(await binary('[1]'))).toEqual([422, { data: ['invalid_format'] }]);
  expect(detailsOf(await binary('{"a":{"b":1e999}}'))).toEqual([422, { 'data.a.b': ['invalid_format'] }]);
  expect((await binary('<a/>', {}, 'text/xml')).status).toBe(415);
  expect((await binary('{')).status).toBe(400);
});

test('errors of a structured event have their places', async () => {
  const { status, body } = await structured(
    event({ specversion: '0.3', time: 'x', data_base64: 'e30=', id: undefined }),
  );
  expect(status).toBe(422);
  expect(body.error_details).toEqual({
    id: ['value_is_mandatory'],
    specversion: ['unsupported_value'],
    time: ['invalid_format'],
    data_base64: ['unsupported_value'],
  });
  expect(body.error_places).toEqual(
    expect.arrayContaining([
      { path: 'id', code: 'value_is_mandatory' },
      { path: 'time', code: 'invalid_format' },
    ]),
  );
  expect(detailsOf(await structured('{"data":{"x":1e999}}'))).toEqual([422, { 'data.x': ['invalid_format'] }]);
  for (const broken of ['[]', '7', '"x"', 'null', '{', '']) expect((await structured(broken)).status).toBe(400);
  expect((await client.get('/events')).body.meta.total_count).toBe(0);
});

test('a batch is all or nothing, and names errors by position', async () => {
  const refused = await batch([event(), event({ id: '8', type: '' }), 7]);
  expect(detailsOf(refused)).toEqual([
    422,
    {
      1: { type: ['value_is_mandatory'] },
      2: {
        specversion: ['value_is_mandatory'],
        id: ['value_is_mandatory'],
        source: ['value_is_mandatory'],
        type: ['value_is_mandatory'],
      },
    },
  ]);
  expect(refused.body.error_places).toContainEqual({ path: '[1].type', code: 'value_is_mandatory' });
  expect((await client.get('/events')).body.meta.total_count).toBe(0);
  for (const none of ['[]', '{}', '{"events":[]}', 'null', '7'])
    expect(detailsOf(await batch(none))).toEqual([422, { events: ['no_events'] }]);
  const many = Array.from({ length: 101 }, (_, index) => event({ id: String(index) }));
  expect(detailsOf(await batch(many))).toEqual([422, { events: ['too_many_events'] }]);
  expect((await batch(many.slice(1))).body.events).toHaveLength(100);
});

test('each event of a tolerant batch is stored or refused alone', async () => {
  const { status, body } = await batch([event(), event({ id: '8', time: 'x' }), event()], '?mode=tolerant');
  expect(status).toBe(200);
  expect(body.counts).toEqual({ stored: 1, replayed: 1, rejected: 1 });
  expect(body.results[1]).toEqual({
    index: 1,
    transaction_id: '/gw 8',
    status: 'rejected',
    error_details: { time: ['invalid_format'] },
    error_places: [{ path: '[1].time', code: 'invalid_format' }],
  });
});

test('a form that a route does not take is 415', async () => {
  expect((await send('/events/batch', STRUCTURED, event())).status).toBe(415);
  expect((await send('/events', BATCH, [event()])).status).toBe(415);
  expect((await send('/events/batch', 'application/json', { events: [] }, BINARY)).status).toBe(415);
  for (const type of ['application/cloudevents', 'application/cloudevents+xml', 'application/cloudevents+avro'])
    expect((await send('/events', type, event())).status).toBe(415);
  const shouting = await send('/events', 'Application/CloudEvents+JSON; charset=UTF-8', event());
  expect(shouting.body.event).toMatchObject({ transaction_id: '/gw 7' });
});

test('a structured type wins over attributes in headers', async () => {
  const { body } = await structured(event(), { ...BINARY, 'ce-id': '9' });
  expect(body.event.transaction_id).toBe('/gw 7');
});

test('an Idempotency-Key holds for the attributes in headers too', async () => {
  const key = { 'idempotency-key': 'k' };
  const first = await binary({}, key);
  expect(first.status).toBe(200);
  expect((await binary({}, key)).text).toBe(first.text);
  expect(detailsOf(await binary({}, { ...key, 'ce-id': '8' }))).toEqual([
    422,
    { idempotency_key: ['value_already_exist'] },
  ]);
});

test('the verdict is that of our own form', async () => {
  const { body } = await send('/events?explain=true', STRUCTURED, event());
  const plain = { transaction_id: 'p', external_subscription_id: 'ada-1', code: 'calls', timestamp: 1773100799.999 };
  expect(body.verdict).toEqual((await client.post('/events?explain=true', { event: plain })).body.verdict);
  expect(body.verdict).toMatchObject({ outcome: 'not_counted', reasons: ['metric_not_found'] });
});

test('hostile sizes are refused before work is done', async () => {
  const headers = (count: number) =>
    Object.fromEntries(Array.from({ length: count }, (_, n) => [`ce-x${n}`, '%C3%A9']));
  expect((await binary({}, headers(64))).body.event.properties).toMatchObject({ ce_x63: 'é' });
  expect(detailsOf(await binary({}, headers(65)))).toEqual([422, { extensions: ['value_is_too_long'] }]);
  const deep = `${'{"a":'.repeat(70)}1${'}'.repeat(70)}`;
  expect((await structured(`{"specversion":"1.0","data":${deep}}`)).status).toBe(400);
  expect((await structured(event({ data: { a: 'x'.repeat(1024 * 1024) } }))).status).toBe(413);
  expect((await batch([event({ data: { a: 'x'.repeat(5 * 1024 * 1024) } })])).status).toBe(413);
  const megabyte = Array.from({ length: 64 }, (_, n) => event({ id: `m${n}`, data: { a: 'x'.repeat(16 * 1024) } }));
  expect((await batch(megabyte)).body.events).toHaveLength(64);
  expect((await batch(`[${'[],'.repeat(200_000)}[]]`)).status).toBe(413);
});
