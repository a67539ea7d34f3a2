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

const TRACE = '5B8EFFF798038103D269B633813FC60C';
const CLIENT = 3;

const attributes = (values: Record<string, unknown>) =>
  Object.entries(values).map(([key, value]) => ({
    key,
    value: typeof value === 'number' ? { intValue: String(value) } : { stringValue: value },
  }));
const CHAT = {
  'gen_ai.operation.name': 'chat',
  'gen_ai.provider.name': 'anthropic',
  'gen_ai.request.model': 'beta-latest',
  'gen_ai.response.model': 'beta',
  'gen_ai.usage.input_tokens': 100,
  'gen_ai.usage.output_tokens': 20,
};
const span = (id: number, values: Record<string, unknown> = {}, fields: object = {}) => ({
  traceId: TRACE,
  spanId: id.toString(16).padStart(16, '0'),
  name: 'chat beta',
  kind: CLIENT,
  startTimeUnixNano: '1893456000000000000',
  endTimeUnixNano: '1893456001500000999',
  attributes: attributes({ ...CHAT, ...values }),
  ...fields,
});
const RESOURCE = { external_subscription_id: 'ada-1', 'service.name': 'shop' };
const traces = (spans: object[], resource: Record<string, unknown> = RESOURCE) => ({
  resourceSpans: [{ resource: { attributes: attributes(resource) }, scopeSpans: [{ scope: {}, spans }] }],
});
const logs = (logRecords: object[]) => ({
  resourceLogs: [{ resource: { attributes: attributes(RESOURCE) }, scopeLogs: [{ logRecords }] }],
});
const post = (body: unknown, signal = 'traces') => client.post(`/otlp/v1/${signal}`, body);
const raw = (sent: string | Buffer, headers: Record<string, string> = {}) =>
  client.post('/otlp/v1/traces', undefined, { raw: sent, headers: { 'content-type': 'application/json', ...headers } });
const id = (n: number) => `otel:${TRACE.toLowerCase()}:${n.toString(16).padStart(16, '0')}`;
const eventOf = async (n: number) => (await client.get(`/events/${encodeURIComponent(id(n))}`)).body.event;
const stored = async () => (await client.get('/events')).body.meta.total_count;

test('of a chat and the agent around it, which repeats its tokens, one event is stored (PB13)', async () => {
  const { status, body } = await post(
    traces([
      span(1),
      span(2, { 'gen_ai.operation.name': 'invoke_agent' }),
      span(3, { 'gen_ai.operation.name': 'execute_tool' }),
    ]),
  );
  expect([status, body]).toEqual([200, {}]);
  expect(await stored()).toBe(1);
  expect(await eventOf(1)).toMatchObject({
    timestamp: '2030-01-01T00:00:01.500Z',
    external_subscription_id: 'ada-1',
    properties: { provider: 'anthropic', model: 'beta', tokens_input: '100', tokens_output: '20', ai_format: 'otel/1' },
  });
});

test('what was cached is within the input; where it exceeds it, it stands beside it (AI25, AI26)', async () => {
  const cached = { 'gen_ai.usage.cache_read.input_tokens': 40000, 'gen_ai.usage.output_tokens': 1200 };
  await ok(
    post(
      traces([
        span(25, { ...cached, 'gen_ai.usage.input_tokens': 50050, 'gen_ai.usage.cache_creation.input_tokens': 10000 }),
        span(26, { ...cached, 'gen_ai.usage.input_tokens': 50 }),
      ]),
    ),
  );
  const parts = { tokens_input: '50', tokens_cache_read: '40000', tokens_output: '1200' };
  expect((await eventOf(25)).properties).toMatchObject({ ...parts, tokens_cache_write: '10000' });
  expect((await eventOf(26)).properties).toMatchObject({
    ...parts,
    ai_flags: expect.stringContaining('parts_exceed_total'),
  });
});

test('a call that is a span and a log record is stored once', async () => {
  const { traceId, spanId, attributes: own } = span(1);
  const record = { traceId, spanId, timeUnixNano: '1893456001400000000', body: { stringValue: 'hi' }, attributes: own };
  expect((await post(logs([record]), 'logs')).body).toEqual({});
  expect((await post(traces([span(1)]))).body).toEqual({});
  expect(await stored()).toBe(1);
});

test('the names of an agent, a conversation and a user are properties, and a user may be mapped', async () => {
  await ok(
    client.put('/ai/subjects', { subjects: [{ kind: 'user', value: 'u1', external_subscription_id: 'bob-1' }] }),
  );
  const named = { 'gen_ai.agent.name': 'planner', 'gen_ai.conversation.id': 'c7', 'user.id': 'u1' };
  await ok(post(traces([span(1, named)], {})));
  expect(await eventOf(1)).toMatchObject({
    external_subscription_id: 'bob-1',
    properties: { agent: 'planner', session: 'c7', user: 'u1' },
  });
});

test('spans that are no calls are ignored; without an operation only a client with usage is one', async () => {
  const unnamed = (n: number, kind: number) => {
    const own = span(n, {}, { kind });
    return { ...own, attributes: own.attributes.filter(({ key }) => key !== 'gen_ai.operation.name') };
  };
  const other = { ...span(4), attributes: attributes({ 'http.method': 'GET' }) };
  const without = { ...span(5), attributes: attributes({ 'gen_ai.operation.name': 'chat' }) };
  expect((await post(traces([unnamed(1, CLIENT), unnamed(2, 1), other, without]))).body).toEqual({});
  expect((await post({})).body).toEqual({});
  expect(await stored()).toBe(1);
});

test('refused calls are counted in a partial success with the first five reasons', async () => {
  const wrong = Array.from({ length: 6 }, (_, n) => span(n + 10, { 'gen_ai.usage.input_tokens': -1 }));
  const { status, body } = await post(
    traces([span(1), { ...span(2), spanId: '0000000000000000' }, ...wrong, span(3, {}, { endTimeUnixNano: 'soon' })]),
  );
  expect(status).toBe(200);
  expect(body.partialSuccess.rejectedSpans).toBe('8');
  expect(body.partialSuccess.errorMessage.split('; ')).toEqual([
    'span 1: transaction_id: value_is_mandatory',
    ...[2, 3, 4, 5].map((place) => `span ${place}: body.gen_ai.usage.input_tokens: invalid_format`),
  ]);
  const { traceId: _, ...nameless } = span(1);
  expect((await post(logs([nameless]), 'logs')).body.partialSuccess).toEqual({
    rejectedLogRecords: '1',
    errorMessage: 'log record 0: transaction_id: value_is_mandatory',
  });
  expect(await stored()).toBe(1);
});

test('errors have the body of OTLP, and a binary request is told which exporter to take', async () => {
  const shown = async (answer: ReturnType<typeof raw>) => {
    const { status, body } = await answer;
    return [status, body.code, Object.keys(body)];
  };
  const keys = ['code', 'message'];
  expect(await shown(raw('{"resourceSpans":'))).toEqual([400, 3, keys]);
  expect(await shown(raw('{"resourceSpans":{}}'))).toEqual([400, 3, keys]);
  expect(await shown(raw('[]'))).toEqual([400, 3, keys]);
  expect(await shown(raw('{}', { authorization: 'Bearer no' }))).toEqual([401, 16, keys]);
  const binary = await raw(Buffer.from([10, 0]), { 'content-type': 'application/x-protobuf' });
  expect(binary.status).toBe(415);
  expect(binary.body.message).toContain('encoding: json');
});

test('a body is refused before it costs anything: too large, packed to a bomb, too deep, too many spans', async () => {
  const gzip = { 'content-encoding': 'gzip' };
  const statusOf = async (answer: ReturnType<typeof raw>) => (await answer).status;
  expect(await statusOf(raw(gzipSync(JSON.stringify(traces([span(1)]))), gzip))).toBe(200);
  expect(await statusOf(raw('x'.repeat(8 * 1024 * 1024 + 1)))).toBe(413);
  expect(await statusOf(raw(gzipSync(Buffer.alloc(64 * 1024 * 1024, ' ')), gzip))).toBe(413);
  expect(await statusOf(raw(`{"resourceSpans":${'['.repeat(100_000)}`))).toBe(400);
  expect(await statusOf(raw('not packed', gzip))).toBe(400);
  const small = { spanId: '1' };
  expect(await statusOf(raw(JSON.stringify(traces(Array.from({ length: 10_001 }, () => small)))))).toBe(413);
});

test('each hundred calls count as one request, and other spans do not', async () => {
  const other = Array.from({ length: 500 }, (_, n) => ({ ...span(n), attributes: [] }));
  const used = async (calls: number) => {
    const { headers } = await post(traces([...Array.from({ length: calls }, (_, n) => span(n + 1)), ...other]));
    return Number(headers['x-ratelimit-limit']) - Number(headers['x-ratelimit-remaining']);
  };
  // A second may end between two of them.
  await until(async () => (await used(100)) === 1);
  await until(async () => (await used(101)) === 2);
});

test('two large requests of an organization are read at a time, and a third waits', async () => {
  const key = `${service.config.REDIS_PREFIX}:records:${client.organization.organization_id}`;
  const [seconds] = await service.redis.time();
  const untilMs = Number(seconds) * 1000 + 2000;
  await service.redis.zadd(key, untilMs, 'one', untilMs, 'two');
  const started = performance.now();
  expect((await post(traces([span(1)]))).status).toBe(200);
  expect(performance.now() - started).toBeGreaterThan(500);
});
