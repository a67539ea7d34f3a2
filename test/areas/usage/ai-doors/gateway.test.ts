import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
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

const payload = (id: string, fields: object = {}) => ({
  id,
  call_type: 'acompletion',
  status: 'success',
  custom_llm_provider: 'anthropic',
  model: 'beta',
  startTime: 1_893_456_000.25,
  endTime: 1_893_456_001.5,
  prompt_tokens: 100,
  completion_tokens: 20,
  total_tokens: 120,
  metadata: { requester_metadata: { external_subscription_id: 'ada-1' } },
  messages: [{ role: 'user', content: 'hello' }],
  ...fields,
});
const post = (body: unknown, headers: Record<string, string> = {}) =>
  client.post('/ai/usage/litellm', body, { headers });
const raw = (sent: string | Buffer, headers: Record<string, string> = {}) =>
  client.post('/ai/usage/litellm', undefined, {
    raw: sent,
    headers: { 'content-type': 'application/json', ...headers },
  });
const eventOf = async (id: string) => (await client.get(`/events/${encodeURIComponent(id)}`)).body.event;
const stored = async () => (await client.get('/events')).body.meta.total_count;

test('of a payload without a subscription and one of a mapped team the second is stored (PB15)', async () => {
  await ok(
    client.put('/ai/subjects', { subjects: [{ kind: 'team', value: 'red', external_subscription_id: 'ada-1' }] }),
  );
  const { status, body } = await post([
    payload('a', { metadata: {} }),
    payload('b', { metadata: { user_api_key_team_id: 'red' } }),
  ]);
  expect(status).toBe(200);
  expect(body).toEqual({
    results: [
      {
        index: 0,
        transaction_id: 'anthropic:a',
        status: 'rejected',
        error_details: { external_subscription_id: ['value_is_mandatory'] },
      },
      { index: 1, transaction_id: 'anthropic:b', status: 'stored' },
    ],
    counts: { stored: 1, replayed: 0, rejected: 1, ignored: 0 },
  });
});

test('a payload becomes the event of its call, whose cached tokens are within its prompt (AI27)', async () => {
  const usage_object = {
    prompt_tokens: 50050,
    completion_tokens: 1200,
    cache_read_input_tokens: 40000,
    cache_creation_input_tokens: 10000,
  };
  const metadata = {
    usage_object,
    user_api_key_hash: 'hash',
    user_api_key_user_id: 'u1',
    user_api_key_team_alias: 'red',
    requester_metadata: { external_subscription_id: 'ada-1', feature: 'search', agent: 'planner', text: 'hello' },
  };
  await ok(post(payload('x', { metadata, total_tokens: 51250 })));
  const { properties, timestamp, external_subscription_id } = await eventOf('anthropic:x');
  expect({ timestamp, external_subscription_id }).toEqual({
    timestamp: '2030-01-01T00:00:01.500Z',
    external_subscription_id: 'ada-1',
  });
  expect(properties).toMatchObject({
    tokens_input: '50',
    tokens_cache_read: '40000',
    tokens_cache_write: '10000',
    tokens_output: '1200',
    ai_format: 'litellm/1',
    user: 'u1',
    team: 'red',
    api_key: 'hash',
    feature: 'search',
    agent: 'planner',
  });
  expect(JSON.stringify(properties)).not.toContain('hello');
});

test('a payload is stored once, and its failed or broken neighbours harm nobody', async () => {
  const sent = [
    payload('a'),
    'text',
    payload('f', { status: 'failure', prompt_tokens: 0, completion_tokens: 0, total_tokens: 0 }),
    payload('n', { prompt_tokens: -1 }),
    null,
    payload('a'),
  ];
  const statuses = async () => (await post(sent)).body.results.map(({ status }: { status: string }) => status);
  expect(await statuses()).toEqual(['stored', 'rejected', 'ignored', 'rejected', 'rejected', 'replayed']);
  expect(await statuses()).toEqual(['replayed', 'rejected', 'ignored', 'rejected', 'rejected', 'replayed']);
  expect(await stored()).toBe(1);
});

test.each(['application/json', 'application/x-ndjson'])('lines of payloads are read as %s too', async (type) => {
  const lines = [JSON.stringify(payload('a')), '', JSON.stringify(payload('b')), '{"id":', '5'];
  const { body } = await raw(lines.join('\r\n'), { 'content-type': type });
  expect(body.results).toEqual([
    { index: 0, transaction_id: 'anthropic:a', status: 'stored' },
    { index: 1, transaction_id: 'anthropic:b', status: 'stored' },
    { index: 2, transaction_id: null, status: 'rejected', error_details: { line: ['invalid_json'] } },
    { index: 3, transaction_id: null, status: 'rejected', error_details: { body: ['value_is_invalid'] } },
  ]);
});

test('a payload over several lines is one value', async () => {
  const { body } = await raw(JSON.stringify(payload('a'), null, 2));
  expect(body.counts).toEqual({ stored: 1, replayed: 0, rejected: 0, ignored: 0 });
});

test('a row of the spend log has its own times, and a metadata key may name the subscription', async () => {
  await ok(client.put('/organizations/settings', { settings: { ai: { subscription_keys: ['user_api_key_org_id'] } } }));
  const row = {
    request_id: 'r1',
    call_type: 'acompletion',
    spend: 0.002,
    custom_llm_provider: 'openai',
    model: 'alpha',
    prompt_tokens: 8,
    completion_tokens: 2,
    total_tokens: 10,
    startTime: '2030-01-01 00:00:05.5',
    metadata: { user_api_key_org_id: 'bob-1' },
  };
  await ok(post(row));
  expect(await eventOf('openai:r1')).toMatchObject({
    timestamp: '2030-01-01T00:00:05.500Z',
    external_subscription_id: 'bob-1',
  });
});

test('a thousand payloads are read, and one more is refused', async () => {
  const many = Array.from({ length: 1001 }, (_, n) => payload(`p${n}`));
  const refused = await post(many);
  expect([refused.status, refused.body.error_details]).toEqual([422, { ai_usages: ['too_many_events'] }]);
  expect((await post([])).body.error_details).toEqual({ ai_usages: ['no_events'] });
  const { body } = await raw(gzipSync(JSON.stringify(many.slice(1))), { 'content-encoding': 'gzip' });
  expect(body.counts).toEqual({ stored: 1000, replayed: 0, rejected: 0, ignored: 0 });
  expect(await stored()).toBe(1000);
});

test('a prompt of a megabyte is read past, and a body beyond eight is refused', async () => {
  const long = (megabytes: number) => [payload('l', { messages: 'x'.repeat(megabytes * 1024 * 1024) })];
  expect((await post(long(1))).body.counts).toMatchObject({ stored: 1 });
  expect((await post(long(8))).status).toBe(413);
});

test('each hundred payloads count as one request', async () => {
  const many = Array.from({ length: 301 }, (_, n) => payload(`p${n}`));
  const used = async () => {
    const { headers } = await post(many);
    return Number(headers['x-ratelimit-limit']) - Number(headers['x-ratelimit-remaining']);
  };
  // A second may end between two of them.
  await until(async () => (await used()) === 4);
});
