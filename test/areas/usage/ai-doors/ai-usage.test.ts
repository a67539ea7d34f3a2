import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import type { Client } from '../../../support/client.ts';
import { startService, type TestService } from '../../../support/service.ts';
import { until } from '../../../support/until.ts';
import { ok } from '../../../support/words.ts';

let service: TestService;
let client: Client & { organization: { organization_id: string; api_key: string } };

beforeAll(async () => {
  service = await startService({ pools: ['events', 'writes', 'billing', 'aggregation'] });
});
afterAll(() => service.stop());
beforeEach(async () => {
  client = await service.org();
});

const chat = (usage: object, fields: object = {}) => ({ id: 'chatcmpl-1', model: 'alpha', usage, ...fields });
const AI2 = chat({ prompt_tokens: 3819, prompt_tokens_details: { cached_tokens: 3712 }, completion_tokens: 20 });
const usage = (fields: object = {}) => ({ body: AI2, external_subscription_id: 'ada-1', ...fields });
const send = (fields: object = {}, headers: Record<string, string> = {}) =>
  client.post('/ai/usage', { ai_usage: usage(fields) }, { headers });
const detailsOf = async (answer: ReturnType<typeof send>) => {
  const { status, body } = await answer;
  return [status, body.error_details];
};
const stored = async () => {
  const [row] = await service.sql<{ count: number }[]>`
    select count(*)::int as count from events where organization_id = ${client.organization.organization_id}`;
  return row!.count;
};

test('a call becomes one ordinary event with a property for each part (AI2)', async () => {
  const first = await send({ properties: { agent: 'planner', step: 3, cached: true } });
  expect(first.status, first.text).toBe(200);
  expect(first.body.event).toMatchObject({
    transaction_id: 'openai:chatcmpl-1',
    external_subscription_id: 'ada-1',
    code: 'ai_usage',
  });
  expect(first.body.event.properties).toMatchObject({
    provider: 'openai',
    model: 'alpha',
    tier: 'standard',
    calls: '1',
    tokens: '3839',
    input_tokens: '3819',
    output_tokens: '20',
    tokens_input: '107',
    tokens_cache_read: '3712',
    tokens_output: '20',
    ai_format: 'openai_chat/1',
    agent: 'planner',
    step: 3,
    cached: true,
  });
  expect(first.body.ai_usage).toMatchObject({
    transaction_id: 'openai:chatcmpl-1',
    format: 'openai_chat/1',
    provider: 'openai',
    model: 'alpha',
    tier: 'standard',
    input_tokens: 3819,
    output_tokens: 20,
    tokens: 3839,
    currency: 'USD',
    parts: [
      { kind: 'input', quantity: '107.0' },
      { kind: 'cache_read', quantity: '3712.0' },
      { kind: 'output', quantity: '20.0' },
    ],
    unmapped: {},
  });
  const again = await send({ properties: { agent: 'planner', step: 3, cached: true } });
  expect(again.body).toEqual(first.body);
  expect(again.headers['x-svc-replayed']).toBe('true');
  expect(await detailsOf(send())).toEqual([422, { transaction_id: ['value_already_exist'] }]);
  const { body } = await client.get('/ai/usage/openai%3Achatcmpl-1');
  expect(body.ai_usage).toMatchObject({ parts: first.body.ai_usage.parts, tokens: 3839 });
  expect((await client.get('/events/openai%3Achatcmpl-1')).body.event).toEqual(first.body.event);
});

test('a call is shown by its subscription, and an ordinary event is no call', async () => {
  await ok(send());
  await ok(send({ external_subscription_id: 'bob-1', tier: 'batch' }));
  const of = async (subscription: string) =>
    (await client.get(`/ai/usage/openai%3Achatcmpl-1?external_subscription_id=${subscription}`)).body;
  expect([(await of('ada-1')).ai_usage.tier, (await of('bob-1')).ai_usage.tier]).toEqual(['standard', 'batch']);
  expect(await of('eve-1')).toMatchObject({ status: 404, resource: 'event' });
  await ok(client.post('/events', { event: { transaction_id: 'plain', external_subscription_id: 'a', code: 'c' } }));
  expect((await client.get('/ai/usage/plain')).status).toBe(404);
  const other = await service.org();
  expect((await other.get('/ai/usage/openai%3Achatcmpl-1')).status).toBe(404);
});

test('what a provider answers may hold anything; faults are named by their field, all together', async () => {
  const faulty = { body: { model: 'alpha', usage: { prompt_tokens: -1, completion_tokens: 1.5 } }, timestamp: 'soon' };
  const answer = await client.post('/ai/usage', { ai_usage: { ...faulty, properties: { tier: 'x' }, emit: 'both' } });
  expect([answer.status, answer.body.error_details]).toEqual([
    422,
    {
      'body.usage.prompt_tokens': ['invalid_format'],
      'body.usage.completion_tokens': ['invalid_format'],
      timestamp: ['invalid_format'],
      properties: ['value_is_reserved'],
      emit: ['value_is_invalid'],
      external_subscription_id: ['value_is_mandatory'],
    },
  ]);
  expect(await stored()).toBe(0);
});

test.each([
  [
    { body: chat({ prompt_tokens: 1, completion_tokens: 1 }, { id: undefined }) },
    { transaction_id: ['value_is_mandatory'] },
  ],
  [{ external_subscription_id: ' ' }, { external_subscription_id: ['value_is_mandatory'] }],
  [{ external_subscription_id: 'x'.repeat(1001) }, { external_subscription_id: ['value_is_too_long'] }],
  [{ transaction_id: 'x'.repeat(1001) }, { transaction_id: ['value_is_too_long'] }],
  [{ transaction_id: '\ud83d' }, { transaction_id: ['invalid_format'] }],
  [{ properties: { a: { b: 1 } } }, { properties: ['value_is_invalid'] }],
  [{ properties: { a: '\ud83d' } }, { properties: ['invalid_format'] }],
  [{ properties: { ai_status: 'priced' } }, { properties: ['value_is_reserved'] }],
  [
    { properties: Object.fromEntries(Array.from({ length: 31 }, (_, n) => [`p${n}`, n])) },
    { properties: ['value_is_too_long'] },
  ],
  [{ subject: { kind: 'planet', value: 'x' } }, { 'subject.kind': ['value_is_invalid'] }],
  [{ subject: 'ada' }, { subject: ['value_is_invalid'] }],
  [{ hold_key: 7 }, { hold_key: ['value_is_invalid'] }],
  [{ format: 'nobody' }, { format: ['unsupported_value'] }],
] as [object, object][])('a call with %j is refused', async (fields, details) => {
  expect(await detailsOf(send(fields))).toEqual([422, details]);
});

test.each([
  '{"ai_usage":[]}',
  '{"ai_usage":{}}',
  '{}',
  '[]',
  '{"ai_usage":{"body":{"usage":{"prompt_tokens":5}}}',
  `{"ai_usage":{"body":${'['.repeat(80)}${']'.repeat(80)}}}`,
])('a body that holds no call is 400: %s', async (raw) => {
  expect((await client.post('/ai/usage', undefined, { raw })).status).toBe(400);
});

test('of a name that stands twice the last counts, and numbers beyond a double are refused', async () => {
  const raw = (number: string) =>
    `{"ai_usage":{"external_subscription_id":"a","transaction_id":"t","body":{"model":"m","usage":{"prompt_tokens":9,"prompt_tokens":${number},"completion_tokens":1,"__proto__":{"total_tokens":7},"constructor":5}}}}`;
  expect((await client.post('/ai/usage', undefined, { raw: raw('1e999') })).status).toBe(422);
  expect((await client.post('/ai/usage', undefined, { raw: raw('1000000000001') })).body.error_details).toEqual({
    'body.usage.prompt_tokens': ['invalid_format'],
  });
  const { body } = await client.post('/ai/usage', undefined, { raw: raw('7.0') });
  expect(body.ai_usage).toMatchObject({
    input_tokens: 7,
    flags: expect.arrayContaining(['unmapped_field:__proto__.total_tokens', 'unmapped_field:constructor']),
  });
});

test('a body of 256 KiB is taken and one of a byte more is not', async () => {
  const filled = (bytes: number) => {
    const empty = Buffer.byteLength(JSON.stringify({ ...AI2, text: '' }));
    return { ...AI2, text: 'x'.repeat(bytes - empty) };
  };
  expect((await send({ body: filled(256 * 1024) })).status).toBe(200);
  expect((await send({ body: filled(256 * 1024 + 1), transaction_id: 'b' })).status).toBe(413);
  const packed = gzipSync(JSON.stringify({ ai_usage: usage({ body: filled(256 * 1024 + 1), transaction_id: 'c' }) }));
  const headers = { 'content-encoding': 'gzip' };
  expect((await client.post('/ai/usage', undefined, { raw: packed, headers })).status).toBe(413);
  expect(await stored()).toBe(1);
});

describe('POST /ai/usage/batch', () => {
  const call = (id: string, fields: object = {}) => usage({ transaction_id: id, ...fields });
  const batch = (ai_usages: unknown, query = '') => client.post(`/ai/usage/batch${query}`, { ai_usages });

  test('all calls of a batch are stored, or none', async () => {
    const wrong = await batch([call('a'), call('b', { tier: 7 })]);
    expect([wrong.status, wrong.body.error_details]).toEqual([422, { 1: { tier: ['value_is_invalid'] } }]);
    expect(await stored()).toBe(0);
    const { body } = await batch([call('a'), call('b')]);
    expect(body.events.map((event: { transaction_id: string }) => event.transaction_id)).toEqual(['a', 'b']);
    expect(body.ai_usages.map((each: { tokens: number }) => each.tokens)).toEqual([3839, 3839]);
    const conflict = await batch([call('c'), call('a', { tier: 'batch' })]);
    expect([conflict.status, conflict.body.error_details]).toEqual([
      422,
      { 1: { transaction_id: ['value_already_exist'] } },
    ]);
    expect(await stored()).toBe(2);
  });

  test.each([[[]], [undefined], [{}]])('a batch without calls is refused: %j', async (sent) => {
    const { status, body } = await batch(sent);
    expect([status, body.error_details]).toEqual([422, { ai_usages: ['no_events'] }]);
  });

  test('at most 100 calls make a batch', async () => {
    const { body } = await batch(Array.from({ length: 101 }, (_, n) => call(String(n))));
    expect(body.error_details).toEqual({ ai_usages: ['too_many_events'] });
  });

  test('each call of a tolerant batch is stored or refused for itself', async () => {
    await batch([call('old'), call('taken')]);
    const sent = [call('old'), call('new'), call('bad', { tier: 7 }), call('taken', { tier: 'batch' }), 5, FAILED];
    const { body } = await batch(sent, '?mode=tolerant');
    expect(body.counts).toEqual({ stored: 1, replayed: 1, rejected: 3, ignored: 1 });
    expect(body.results).toMatchObject([
      { index: 0, transaction_id: 'old', status: 'replayed' },
      { index: 1, transaction_id: 'new', status: 'stored' },
      {
        index: 2,
        transaction_id: 'bad',
        status: 'rejected',
        error_details: { tier: ['value_is_invalid'] },
        error_places: [{ path: 'ai_usages[2].tier', code: 'value_is_invalid' }],
      },
      { index: 3, status: 'rejected', error_details: { transaction_id: ['value_already_exist'] } },
      { index: 4, transaction_id: null, status: 'rejected', error_details: { ai_usage: ['value_is_invalid'] } },
      { index: 5, status: 'ignored' },
    ]);
    expect(body.ai_usages).toHaveLength(2);
  });

  const FAILED = {
    body: { call_type: 'completion', custom_llm_provider: 'openai', model: 'm', status: 'failure', prompt_tokens: 0 },
    external_subscription_id: 'ada-1',
  };
});

describe('one event a part', () => {
  test('emit kinds makes an event of each part, all or nothing', async () => {
    const { body } = await send({ emit: 'kinds', properties: { agent: 'a' } });
    const shown = body.events.map((event: { transaction_id: string; code: string; properties: object }) => event);
    expect(shown).toMatchObject([
      {
        transaction_id: 'openai:chatcmpl-1#input',
        code: 'ai_usage_tokens',
        properties: { kind: 'input', tokens: '107', tokens_input: '107', input_tokens: '3819', agent: 'a' },
      },
      { transaction_id: 'openai:chatcmpl-1#cache_read', properties: { kind: 'cache_read', tokens: '3712' } },
      { transaction_id: 'openai:chatcmpl-1#output', properties: { kind: 'output', tokens: '20' } },
    ]);
    expect(body.ai_usage).toMatchObject({ transaction_id: 'openai:chatcmpl-1', tokens: 3839 });
    expect(body.ai_usage.parts).toHaveLength(3);
    const changed = chat({
      prompt_tokens: 3819,
      prompt_tokens_details: { cached_tokens: 3712 },
      completion_tokens: 21,
    });
    expect(await detailsOf(send({ emit: 'kinds', properties: { agent: 'a' }, body: changed }))).toEqual([
      422,
      { transaction_id: ['value_already_exist'] },
    ]);
    expect(await stored()).toBe(3);
  });

  test('a call with an event a part is shown by its own id, with all of its parts and prices', async () => {
    const entries = ['input', 'output'].map((kind) => ({ provider: 'openai', model: 'alpha', kind, cost: '2' }));
    await ok(
      client.post('/price_book/entries', {
        entries: entries.map((entry) => ({ ...entry, valid_from: '2020-01-01T00:00:00Z' })),
      }),
    );
    await ok(send({ emit: 'kinds' }));
    await ok(send({ emit: 'kinds', external_subscription_id: 'bob-1', tier: 'batch' }));
    const of = async (query = '') => (await client.get(`/ai/usage/openai%3Achatcmpl-1${query}`)).body;
    const { ai_usage } = await of('?external_subscription_id=ada-1');
    expect(ai_usage).toMatchObject({
      transaction_id: 'openai:chatcmpl-1',
      tier: 'standard',
      status: 'plan',
      tokens: 3839,
      precise_cost_cents: '0.7678',
      precise_amount_cents: null,
      matches: true,
    });
    expect(ai_usage.parts.map(({ kind, cost }: Record<string, string>) => [kind, cost])).toEqual([
      ['input', '2.0'],
      ['cache_read', '2.0'],
      ['output', '2.0'],
    ]);
    expect((await of()).ai_usage).toMatchObject({ tier: 'batch', parts: [{}, {}, {}] });
    expect(await of('?external_subscription_id=eve-1')).toMatchObject({ status: 404, resource: 'event' });
    // A call whose own id ends like that of a part is no part of another call.
    await ok(send({ transaction_id: 'own#input' }));
    expect((await client.get('/ai/usage/own')).status).toBe(404);
  });

  test('in a tolerant batch a conflict of one part leaves none of its call stored', async () => {
    await ok(send({ emit: 'kinds' }));
    const changed = chat({
      prompt_tokens: 3819,
      completion_tokens: 20,
      completion_tokens_details: { reasoning_tokens: 4 },
    });
    const ai_usages = [usage({ emit: 'kinds', body: changed }), usage({ emit: 'kinds', transaction_id: 'x' }), usage()];
    const { body } = await client.post('/ai/usage/batch?mode=tolerant', { ai_usages });
    expect(body.results).toMatchObject([{ status: 'rejected' }, { status: 'stored' }, { status: 'stored' }]);
    expect(await stored()).toBe(7);
  });
});

describe('with what events have too', () => {
  test('an Idempotency-Key stores a call once, and its answer is the first one', async () => {
    const headers = { 'idempotency-key': 'k1' };
    const first = await send({}, headers);
    expect(first.status, first.text).toBe(200);
    const again = await send({}, headers);
    expect(again.body).toEqual(first.body);
    expect((await send({ tier: 'batch' }, headers)).status).toBe(422);
    expect(await stored()).toBe(1);
  });

  test('an explanation stands beside the usage', async () => {
    const { body } = await send({}, { 'x-svc-explain': 'true' });
    expect(body.verdict).toMatchObject({ outcome: 'not_counted' });
    expect(body.ai_usage.tokens).toBe(3839);
  });

  test('a key without the right to write events may not send usage', async () => {
    const { body } = await client.get('/events');
    expect(body.meta.total_count).toBe(0);
    expect(
      (await client.post('/ai/usage', { ai_usage: usage() }, { headers: { authorization: 'Bearer no' } })).status,
    ).toBe(401);
  });

  test('lines of a bulk request may hold usage', async () => {
    const lines = [
      { ai_usage: usage() },
      { event: { transaction_id: 't', external_subscription_id: 's', code: 'c' } },
      { ai_usage: usage({ tier: 7 }) },
      { ai_usage: usage({ emit: 'kinds', transaction_id: 'k' }) },
      { ai_usage: usage() },
    ];
    const raw = lines.map((line) => JSON.stringify(line)).join('\n');
    const headers = { 'content-type': 'application/x-ndjson' };
    const { body } = await client.post('/events/bulk', undefined, { raw, headers });
    expect(body.bulk).toMatchObject({ lines: 5, stored: 3, replayed: 1, rejected: 1 });
    expect(body.bulk.errors).toMatchObject([{ line: 3, error_details: { tier: ['value_is_invalid'] } }]);
    expect(await stored()).toBe(5);
  });

  test('a CloudEvent may carry a call', async () => {
    const event = (fields: object = {}) => ({
      specversion: '1.0',
      id: '7',
      source: '/gw',
      type: 'ai_usage',
      subject: 'ada-1',
      time: '2026-03-09T23:59:59.999Z',
      data: { body: AI2 },
      region: 'eu',
      ...fields,
    });
    const headers = { 'content-type': 'application/cloudevents+json' };
    const post = (sent: object) => client.post('/ai/usage', undefined, { raw: JSON.stringify(sent), headers });
    const { body } = await post(event());
    expect(body.event).toMatchObject({
      transaction_id: '/gw 7',
      code: 'ai_usage',
      external_subscription_id: 'ada-1',
      timestamp: '2026-03-09T23:59:59.999Z',
      properties: { ce_region: 'eu', tokens_input: '107' },
    });
    expect((await post(event({ source: '/g w', data: 5 }))).body.error_details).toEqual({
      source: ['invalid_format'],
      data: ['invalid_format'],
    });
    const batch = { 'content-type': 'application/cloudevents-batch+json' };
    const raw = JSON.stringify([event(), event({ id: '8', data: { body: AI2, tier: 7 } }), event({ id: '9' })]);
    const tolerant = await client.post('/ai/usage/batch?mode=tolerant', undefined, { raw, headers: batch });
    expect(tolerant.body.results).toMatchObject([{ status: 'replayed' }, { status: 'rejected' }, { status: 'stored' }]);
  });
});

test('a preview answers what would be stored, and stores nothing', async () => {
  const preview = await ok(client.post('/ai/usage/preview', { ai_usage: usage() }));
  expect(await stored()).toBe(0);
  const { ai_usage } = (await send()).body;
  expect(ai_usage.tokens).toBe(preview.ai_usage.tokens);
  expect((await ok(client.get('/ai/usage/openai%3Achatcmpl-1'))).ai_usage.parts).toEqual(preview.ai_usage.parts);
  const faulty = await client.post('/ai/usage/preview', { ai_usage: usage({ tier: 7 }) });
  expect([faulty.status, faulty.body.error_details]).toEqual([422, { tier: ['value_is_invalid'] }]);
});

test('the formats are listed from their tables', async () => {
  const { formats } = await ok(client.get('/ai/formats'));
  expect(formats).toHaveLength(11);
  const chatFormat = formats.find(({ code }: { code: string }) => code === 'openai_chat');
  expect(chatFormat.versions).toEqual([{ version: 1, from: '2026-01-01T00:00:00Z' }]);
  expect(chatFormat.fields).toContainEqual({
    path: 'prompt_tokens_details.cached_tokens',
    kind: 'cache_read',
    within: 'prompt_tokens',
  });
  const pathsOf = (code: string) =>
    formats.find((format: { code: string }) => format.code === code).fields.map(({ path }: { path: string }) => path);
  expect(pathsOf('cohere')).toEqual(expect.arrayContaining(['billed_units.search_units', 'tokens.input_tokens']));
  expect(pathsOf('openai_responses')).toContain('output[type=web_search_call]');
  expect(new Set(pathsOf('anthropic_messages')).size).toBe(pathsOf('anthropic_messages').length);
});

test('setting up makes the metric of calls once', async () => {
  const first = await ok(client.post('/ai/setup', { setup: {} }));
  expect(first.setup.billable_metrics).toMatchObject([{ code: 'ai_usage', is_new: true }]);
  const again = await ok(client.post('/ai/setup'));
  expect(again.setup.billable_metrics).toEqual([{ ...first.setup.billable_metrics[0], is_new: false }]);
  expect((await client.get('/billable_metrics/ai_usage')).body.billable_metric).toMatchObject({
    aggregation_type: 'sum_agg',
    field_name: 'calls',
  });
});

test('settings say which event a call makes, and the currency of the book stays once there are events', async () => {
  const put = (ai: object) => client.put('/organizations/settings', { settings: { ai } });
  const first = await ok(put({ event_code: 'tokens', subscription_keys: ['seat'], book_currency: 'EUR' }));
  expect(first.settings.ai).toMatchObject({ event_code: 'tokens', subscription_keys: ['seat'], book_currency: 'EUR' });
  const types = { cloud_event_types: { 'com.acme.call': 'tokens' } };
  expect((await ok(put(types))).settings.ai).toMatchObject({ event_code: 'tokens', ...types });
  const sent = { body: AI2, properties: { seat: 'ada-1' } };
  const { body } = await client.post('/ai/usage', { ai_usage: sent });
  expect(body.event).toMatchObject({ code: 'tokens', external_subscription_id: 'ada-1' });
  expect(body.ai_usage.currency).toBe('EUR');
  const event = { specversion: '1.0', id: '7', source: '/gw', type: 'com.acme.call', subject: 'ada-1' };
  const headers = { 'content-type': 'application/cloudevents+json' };
  const beyondContract = 'cloud-events.md#modes';
  const cloud = await client.post('/events', undefined, { raw: JSON.stringify(event), headers, beyondContract });
  expect(cloud.body.event.code).toBe('tokens');
  expect((await put({ book_currency: 'USD' })).body.error_details).toEqual({ 'ai.book_currency': ['value_is_frozen'] });
  expect((await put({ cost_source: 'reported' })).status).toBe(200);
});

describe('the map of subjects', () => {
  const put = (subjects: unknown) => client.put('/ai/subjects', { subjects });
  const of = (kind: string, value: string, id: string) =>
    client.post('/ai/usage', { ai_usage: { body: AI2, transaction_id: id, subject: { kind, value } } });

  test('a subject leads to its subscription from the next time on that the map is read', async () => {
    await ok(put([{ kind: 'team', value: 'red', external_subscription_id: 'ada-1' }]));
    const { body } = await of('team', 'red', 'a');
    expect(body.event.external_subscription_id).toBe('ada-1');
    expect((await of('user', 'red', 'b')).body.error_details).toEqual({
      external_subscription_id: ['value_is_mandatory'],
    });
    await ok(put([{ kind: 'team', value: 'red', external_subscription_id: 'bob-1' }]));
    let tries = 0;
    await until(async () => {
      tries += 1;
      return (await of('team', 'red', `c${tries}`)).body.event.external_subscription_id === 'bob-1';
    });
    await ok(put([{ kind: 'team', value: 'red', external_subscription_id: null }]));
    expect((await ok(client.get('/ai/subjects'))).subjects).toEqual([]);
  });

  test('a name among the properties that is the subscription itself comes before the map', async () => {
    await ok(put([{ kind: 'team', value: 'red', external_subscription_id: 'ada-1' }]));
    const properties = { external_subscription_id: 'eve-1' };
    const subject = { kind: 'team', value: 'red' };
    const { body } = await client.post('/ai/usage', { ai_usage: { body: AI2, properties, subject } });
    expect(body.event.external_subscription_id).toBe('eve-1');
  });

  test('subjects are listed by kind and value, of one organization', async () => {
    await ok(
      put([
        { kind: 'user', value: 'u2', external_subscription_id: 's' },
        { kind: 'team', value: 't1', external_subscription_id: 's' },
        { kind: 'user', value: 'u1', external_subscription_id: 's' },
        { kind: 'user', value: 'u1', external_subscription_id: 'last' },
      ]),
    );
    const all = await ok(client.get('/ai/subjects'));
    expect(all.subjects.map(({ value }: { value: string }) => value)).toEqual(['t1', 'u1', 'u2']);
    expect(all.subjects[1].external_subscription_id).toBe('last');
    expect((await ok(client.get('/ai/subjects?kind=user&value=u2'))).subjects).toHaveLength(1);
    expect((await ok((await service.org()).get('/ai/subjects'))).subjects).toEqual([]);
  });

  test.each([
    [undefined, { subjects: ['value_is_mandatory'] }],
    [[{ kind: 'planet', value: 'x', external_subscription_id: 's' }], { 'subjects.0.kind': ['value_is_invalid'] }],
    [[{ kind: 'team', value: '', external_subscription_id: 's' }], { 'subjects.0.value': ['value_is_mandatory'] }],
    [[{ kind: 'team', value: 'x' }], { 'subjects.0.external_subscription_id': ['value_is_mandatory'] }],
  ])('a wrong map is refused: %j', async (subjects, details) => {
    const { status, body } = await put(subjects);
    expect([status, body.error_details]).toEqual([422, details]);
  });
});
