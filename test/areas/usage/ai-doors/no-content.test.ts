import { afterAll, beforeAll, expect, test } from 'vitest';
import { startService, type TestService } from '../../../support/service.ts';
import { until } from '../../../support/until.ts';
import { ok } from '../../../support/words.ts';

let service: TestService;

beforeAll(async () => {
  service = await startService({ pools: ['events', 'writes', 'billing', 'aggregation', 'webhooks'] });
});
afterAll(() => service.stop());

const MARKER = 'MARKER-9f3b71';

/** A call with the marker wherever a provider has texts, and where a careless client may put some. */
const call = (id: string, fields: object = {}) => ({
  external_subscription_id: 'ada-1',
  transaction_id: id,
  body: {
    model: 'alpha',
    messages: [{ role: 'user', content: MARKER }],
    choices: [{ message: { content: MARKER, tool_calls: [{ function: { arguments: MARKER } }] } }],
    usage: { prompt_tokens: 3, completion_tokens: 4, note: MARKER, prompt_tokens_details: { text: MARKER } },
  },
  note: MARKER,
  ...fields,
});

const SIGNALS = [
  ['traces', 'resourceSpans', 'scopeSpans', 'spans'],
  ['logs', 'resourceLogs', 'scopeLogs', 'logRecords'],
] as const;

/** A call as a span or a log record, with a text in its attributes, events and body. */
const span = (id: string, text: string, tokens: unknown = '7') => ({
  traceId: 'a',
  spanId: id,
  name: text,
  kind: 3,
  body: { stringValue: text },
  events: [{ name: text }],
  attributes: [
    ['gen_ai.operation.name', { stringValue: 'chat' }],
    ['gen_ai.provider.name', { stringValue: 'openai' }],
    ['gen_ai.request.model', { stringValue: 'alpha' }],
    ['gen_ai.usage.input_tokens', { intValue: tokens }],
    ['gen_ai.usage.note', { stringValue: text }],
    ['gen_ai.input.messages', { stringValue: text }],
    ['external_subscription_id', { stringValue: 'ada-1' }],
  ].map(([key, value]) => ({ key, value })),
});

/** All rows of all tables that hold a text, as text. */
async function tablesWith(text: string): Promise<string[]> {
  const tables = await service.sql<{ name: string }[]>`
    select quote_ident(schemaname) || '.' || quote_ident(tablename) as name from pg_tables
    where schemaname not in ('pg_catalog', 'information_schema')`;
  const found: string[] = [];
  for (const { name } of tables) {
    const [row] = await service.sql.unsafe(
      `select exists (select from ${name} t where position('${text}' in t::text) > 0) as found`,
    );
    if (row!.found) found.push(name);
  }
  return found;
}

/** Keys of Redis that hold a text. */
async function keysWith(text: string): Promise<string[]> {
  const found: string[] = [];
  for (const key of await service.redis.keys('*')) {
    const dumped = await service.redis.dumpBuffer(key);
    if (dumped?.includes(text)) found.push(key);
  }
  return found;
}

test('a text that is sent in prompts and answers is in no table, queue or answer afterwards (P9)', async () => {
  const client = await service.org();
  const post = (path: string, body: unknown, headers: Record<string, string> = {}) =>
    client.post(path, body, { headers });
  const answers = [
    await ok(post('/ai/usage', { ai_usage: call('a') })),
    await ok(post('/ai/usage', { ai_usage: call('b') }, { 'idempotency-key': 'k' })),
    await ok(post('/ai/usage/batch', { ai_usages: [call('c'), call('d', { emit: 'kinds' })] })),
    await ok(post('/ai/usage/batch?mode=tolerant', { ai_usages: [call('e'), call('f', { tier: 7 })] })),
    await ok(post('/ai/usage/preview', { ai_usage: call('g') })),
  ];
  const refused = [
    await post('/ai/usage', { ai_usage: call('h', { tier: 7 }) }),
    await post('/ai/usage', { ai_usage: call('i', { tier: 7 }) }, { 'idempotency-key': 'l' }),
    await post('/ai/usage', { ai_usage: call('a', { tier: 'batch' }) }, { 'idempotency-key': 'm' }),
  ];
  expect(refused.map(({ status }) => status)).toEqual([422, 422, 422]);
  const lines = [call('j'), call('k', { tier: 7 })].map((each) => JSON.stringify({ ai_usage: each })).join('\n');
  const bulk = { raw: lines, headers: { 'content-type': 'application/x-ndjson' } };
  answers.push(await ok(client.post('/events/bulk', undefined, bulk)));
  const { body } = call('p');
  const metadata = { requester_metadata: { external_subscription_id: 'ada-1', note: MARKER } };
  const logged = { ...body, ...body.usage, id: 'p', custom_llm_provider: 'openai', metadata, response: MARKER };
  answers.push(await ok(post('/ai/usage/litellm', [logged, { ...logged, id: 'q', prompt_tokens: MARKER }])));
  for (const [signal, resources, scopes, records] of SIGNALS) {
    const sent = [span('1', MARKER), span('2', MARKER, 'soon')];
    const request = { [resources]: [{ [scopes]: [{ [records]: sent }] }] };
    answers.push(await ok(post(`/otlp/v1/${signal}`, request)));
  }
  expect(JSON.stringify([answers, refused])).not.toContain(MARKER);

  await ok(post('/ai/setup', { setup: {} }));
  await until(async () => (await service.sql`select from api_logs`).length > 0);
  expect(await tablesWith('prompt_tokens')).toEqual([]);
  expect(await tablesWith(MARKER)).toEqual([]);
  expect(await keysWith(MARKER)).toEqual([]);
  // The scan finds what is there.
  expect(await tablesWith('tokens_input')).toContain('public.events');
});
