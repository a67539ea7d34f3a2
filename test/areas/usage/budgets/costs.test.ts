import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { startService, type TestService } from '../../../support/service.ts';
import { until } from '../../../support/until.ts';
import { ok } from '../../../support/words.ts';
import { budget, decide, event, figures, type Org, subscribe } from './words.ts';

// Budgets of what models cost, by the sample book of the golden cases.
let service: TestService;
let org: Org;

beforeAll(async () => {
  service = await startService({
    pools: ['writes', 'events', 'budgets', 'billing', 'aggregation'],
    settings: { RATE_LIMIT_BUDGETS: '100000' },
  });
});
afterAll(() => service.stop());

const BETA = {
  input: '3',
  cache_read: '0.3',
  cache_write: '3.75',
  cache_write_1h: '6',
  output: '15',
  web_search: '10',
};

const FREE = Object.fromEntries(Object.keys(BETA).map((kind) => [kind, '0']));

const pricesOf = (model: string, costs: Record<string, string>) =>
  Object.entries(costs).map(([kind, cost]) => ({
    provider: 'anthropic',
    model,
    kind,
    cost,
    per: kind === 'web_search' ? 1000 : 1_000_000,
    valid_from: '2020-01-01T00:00:00Z',
  }));

beforeEach(async () => {
  org = await service.org();
  await subscribe(org);
  await ok(org.post('/price_book/entries', { entries: pricesOf('beta', BETA) }));
});

const month = (limit: string, fields: object = {}) => budget(org, 'month', limit, { measure: 'cost', ...fields });
const ask = async (decision: object) => (await ok(decide(org, decision))).decision;
const estimate = (fields: object = {}) => ({
  provider: 'anthropic',
  model: 'beta',
  parts: { input: 8000, output: 4096 },
  ...fields,
});
/** The call of AI10, which costs 11.115 cents. */
const AI10 = {
  format: 'anthropic_messages',
  body: {
    id: 'msg10',
    type: 'message',
    model: 'beta',
    usage: {
      input_tokens: 50,
      cache_creation_input_tokens: 10_000,
      cache_creation: { ephemeral_5m_input_tokens: 4000, ephemeral_1h_input_tokens: 6000 },
      cache_read_input_tokens: 40_000,
      output_tokens: 1200,
      output_tokens_details: { thinking_tokens: 700 },
      server_tool_use: { web_search_requests: 3 },
    },
  },
};
const sources = async () =>
  (await org.get('/budgets/month/entries')).body.entries.map(
    ({ source, amount }: Record<string, string>) => `${source} ${amount}`,
  );

test('an estimate is rated by the book of now, and leaves the limit less its cost (BU1)', async () => {
  await month('10000');
  const decision = await ask({ hold_key: 'a', estimate: estimate() });
  expect(decision).toMatchObject({
    allowed: true,
    budgets: [{ requested: '8.544', held: '8.544', remaining: '9991.456' }],
  });
});

test('a call that costs more than was held for it is booked in full (BU2)', async () => {
  await month('10000');
  await ask({ hold_key: 'a', estimate: estimate() });
  const { settled } = await ask({ settle: [{ hold_key: 'a', usage: AI10 }] });
  expect(settled).toMatchObject([{ status: 'settled', overrun: '0.0' }]);
  const { body } = await org.get('/budgets/month/windows');
  expect(body.windows).toMatchObject([{ spent: '11.115', held: '0.0', remaining: '9988.885' }]);
});

test('a call that came to its door first frees its hold and counts once (BU19)', async () => {
  await month('10000');
  await ask({ hold_key: 'a', estimate: estimate() });
  await ok(org.post('/ai/usage', { ai_usage: { ...AI10, external_subscription_id: 'ada-1' } }));
  const { settled } = await ask({ settle: [{ hold_key: 'a', usage: AI10 }] });
  expect(settled).toMatchObject([{ status: 'settled', event: { replayed: true } }]);
  expect(await figures(org, 'month')).toBe('10000.0 11.115 0.0 open');
  expect(await sources()).toEqual(['usage 11.115']);
});

test('a call without a price keeps what was held for it (BU14, until the price is known)', async () => {
  await month('100');
  await ask({ hold_key: 'a', amount: '8' });
  await ask({ settle: [{ hold_key: 'a', usage: { ...AI10, model: 'omega' } }] });
  expect(await figures(org, 'month')).toBe('100.0 8.0 0.0 open');
  expect(await sources()).toEqual(['provisional 8.0']);
});

describe('what was held for a call without a price', () => {
  beforeEach(async () => {
    await month('100');
    await ask({ hold_key: 'a', amount: '8' });
    await ask({ settle: [{ hold_key: 'a', usage: { ...AI10, model: 'omega' } }] });
  });

  test('gives way to the cost once the price is known (BU14)', async () => {
    await ok(org.post('/price_book/entries', { entries: pricesOf('omega', { ...FREE, web_search: '10' }) }));
    await until(async () => (await figures(org, 'month')) === '100.0 3.0 0.0 open');
    expect((await sources()).sort()).toEqual(['correction 3.0', 'provisional -8.0', 'provisional 8.0']);
  });

  test('is taken back by a retraction', async () => {
    const called = { external_subscription_id: 'ada-1', transaction_id: 'anthropic:msg10' };
    await ok(org.post('/events/corrections', { correction: { kind: 'retract', reason: 'test', ...called } }));
    expect(await figures(org, 'month')).toBe('100.0 0.0 0.0 open');
    expect((await sources()).sort()).toEqual(['provisional -8.0', 'provisional 8.0']);
  });
});

test('tokens in and out stand for parts, and count for budgets of tokens', async () => {
  await month('10000');
  await budget(org, 'tokens', '20000', { measure: 'tokens', currency: undefined });
  const { parts: _, ...model } = estimate();
  const decision = await ask({ hold_key: 'a', estimate: { ...model, input_tokens: 8000, max_output_tokens: 4096 } });
  expect(decision.budgets).toMatchObject([
    { code: 'month', requested: '8.544' },
    { code: 'tokens', requested: '12096.0' },
  ]);
});

test('a figure of the caller wins over the estimate of its measure', async () => {
  await month('10000');
  const decision = await ask({ hold_key: 'a', amount: '5', estimate: estimate() });
  expect(decision.budgets).toMatchObject([{ requested: '5.0' }]);
});

test.each([
  ['hard', {}, { allowed: false, reasons: ['price_unknown'] }],
  ['hard, that does not mind', { unknown_price: 'allow' }, { allowed: true, reasons: [] }],
  ['soft', { mode: 'soft' }, { allowed: true, reasons: [] }],
])('a model without a price in a budget that is %s', async (_, fields, expected) => {
  await month('100', fields);
  expect(await ask({ hold_key: 'a', estimate: estimate({ model: 'omega' }) })).toMatchObject(expected);
  expect(await ask({ estimate: estimate({ model: 'omega' }) })).toMatchObject(expected);
});

test('the same estimate is replayed as it was held, also at another price', async () => {
  await month('10000');
  await ask({ hold_key: 'a', estimate: estimate() });
  await ok(
    org.post('/price_book/entries', {
      entries: [
        { provider: 'anthropic', model: 'beta', kind: 'output', cost: '30', valid_from: '2021-01-01T00:00:00Z' },
      ],
    }),
  );
  const again = await decide(org, { hold_key: 'a', estimate: estimate() });
  expect([again.headers['x-svc-replayed'], again.body.decision.budgets[0].requested]).toEqual(['true', '8.544']);
  expect((await ask({ hold_key: 'b', estimate: estimate() })).budgets).toMatchObject([{ requested: '14.688' }]);
});

test.each([
  ['no model', { model: undefined }, { 'estimate.model': ['value_is_mandatory'] }],
  ['no parts', { parts: {} }, { 'estimate.parts': ['value_is_mandatory'] }],
  ['an unknown kind', { parts: { dreams: 1 } }, { 'estimate.parts': ['value_is_invalid'] }],
  ['half a token', { parts: { input: 0.5 } }, { 'estimate.parts': ['value_is_invalid'] }],
  ['less than nothing', { parts: { input: -1 } }, { 'estimate.parts.input': ['value_is_out_of_range'] }],
])('an estimate with %s is 422', async (_, fields, details) => {
  await month('100');
  const { status, body } = await decide(org, { hold_key: 'a', estimate: estimate(fields) });
  expect([status, body.error_details]).toEqual([422, details]);
});

test('a hold of the last digit is allowed and one of a digit more is refused, and the window stays open (BU3)', async () => {
  await month('100');
  await ask({ hold_key: 'spent', amount: '60' });
  await ask({ settle: [{ hold_key: 'spent', amount: '60' }] });
  await ask({ hold_key: 'held', amount: '30' });
  const refused = await ask({ hold_key: 'more', amount: '10.000000000000001' });
  expect(refused).toMatchObject({ allowed: false, reasons: ['budget_exceeded'], exceeded: ['month'] });
  const allowed = await ask({ hold_key: 'rest', amount: '10' });
  expect(allowed).toMatchObject({ allowed: true, budgets: [{ remaining: '0.0', state: 'open' }] });
});

test('of two decisions of one statement the one that does not fit takes nothing from the other (BU7)', async () => {
  await month('10');
  const [large, small] = await Promise.all([
    ask({ hold_key: 'large', amount: '50' }),
    ask({ hold_key: 'small', amount: '5' }),
  ]);
  expect([large.allowed, small.allowed]).toEqual([false, true]);
});

test('usage of an ordinary event without a cost counts nothing, and frees its hold', async () => {
  await month('100');
  await ask({ hold_key: 'a', amount: '8' });
  await ask({ settle: [{ hold_key: 'a', event: event('t1', '5') }] });
  expect(await figures(org, 'month')).toBe('100.0 0.0 0.0 open');
});
