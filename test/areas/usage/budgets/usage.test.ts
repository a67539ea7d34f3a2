import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { startService, type TestService } from '../../../support/service.ts';
import { until } from '../../../support/until.ts';
import { announced, budget, decide, event, figures, type Org, subscribe } from './words.ts';

let service: TestService;
let org: Org;

beforeAll(async () => {
  service = await startService({ settings: { RATE_LIMIT_BUDGETS: '100000' } });
});
afterAll(() => service.stop());
beforeEach(async () => {
  org = await service.org();
  await subscribe(org);
});

const send = async (...events: object[]) => {
  const { status } = await org.post('/events/batch', { events });
  expect(status).toBe(200);
};
const ones = (count: number, from = 0) => Array.from({ length: count }, (_, index) => event(`t${from + index}`, '1'));
const entries = async (code: string) => (await org.get(`/budgets/${code}/entries`)).body.entries;

test('95 events of 1 without holds count at once: 5 more are allowed and 6 are refused (BU10)', async () => {
  await budget(org, 'month', '100');
  await send(...ones(95));
  const refused = await decide(org, { hold_key: 'a', amount: '6' });
  expect(refused.body.decision).toMatchObject({ allowed: false, reasons: ['budget_exceeded'] });
  const allowed = await decide(org, { hold_key: 'b', amount: '5' });
  expect(allowed.body.decision.allowed).toBe(true);
  expect(await figures(org, 'month')).toBe('100.0 95.0 5.0 open');
  expect(await entries('month')).toMatchObject([{ source: 'usage', events: 95, amount: '95.0' }]);
});

test('a repeated event counts once', async () => {
  await budget(org, 'month', '100');
  await send(event('t1', '7'));
  await send(event('t1', '7'), event('t2', '3'));
  expect(await figures(org, 'month')).toBe('100.0 10.0 0.0 open');
});

test('an event that came before its settlement frees the hold and counts once (BU19, by an ordinary event)', async () => {
  await budget(org, 'month', '10000');
  await decide(org, { hold_key: 'k', amount: '8.544' });
  await send(event('t1', '11.115', { timestamp: 1_893_456_000 }));
  const { body } = await decide(org, {
    settle: [{ hold_key: 'k', event: event('t1', '11.115', { timestamp: 1_893_456_000 }) }],
  });
  expect(body.decision.settled).toMatchObject([{ status: 'settled', event: { replayed: true } }]);
  const all = await entries('month');
  expect(all.map(({ amount }: { amount: string }) => amount)).toEqual(['11.115']);
});

test('usage counts by user, in the customer’s budgets only, and from their creation on', async () => {
  await send(event('t0', '50'));
  await budget(org, 'ada', '100', { scope: 'customer', external_customer_id: 'ada', group_by: ['user'] });
  await send(
    event('t1', '10', { properties: { calls: 1, user: 'u1' } }),
    event('t2', '20', { properties: { calls: 1, user: 'u1' } }),
    event('t3', '40'),
    event('t4', '80', { external_subscription_id: 'unknown-1' }),
  );
  const { body } = await org.get('/budgets/ada/windows');
  const spent = body.windows.map((each: { group: { user: string | null }; spent: string }) => [
    each.group.user,
    each.spent,
  ]);
  expect(new Map(spent)).toEqual(
    new Map([
      ['u1', '30.0'],
      [null, '40.0'],
    ]),
  );
});

test.each([
  ['units', { billable_metric_code: 'ai_usage' }, '5.0'],
  ['tokens', {}, '1200.0'],
  ['cost', { currency: 'USD' }, '0.45'],
  ['amount', { currency: 'USD' }, '0.54'],
])('a budget of %s adds its figure of an event, and none where the event lacks it', async (measure, fields, spent) => {
  await budget(org, 'm', '100000', { measure, currency: undefined, ...fields });
  await send(event('t1', '0.54', { properties: { calls: 5, tokens: 1200, ai_cost_cents: '0.45' } }), {
    transaction_id: 't2',
    external_subscription_id: 'ada-1',
    code: 'other',
  });
  expect((await entries('m')).map((each: { amount: string; events: number }) => [each.amount, each.events])).toEqual([
    [spent, 1],
  ]);
});

test('a lower limit blocks and unsettles nothing; a top-up frees the window (BU13, BU12)', async () => {
  await budget(org, 'day', '100', { period: 'day' });
  await send(event('t1', '70'));
  await org.put('/budgets/day', { budget: { limit: '50' } });
  const refused = await decide(org, { hold_key: 'a', amount: '1' });
  expect(refused.body.decision).toMatchObject({ allowed: false, budgets: [{ state: 'blocked', remaining: '0.0' }] });
  const { body } = await org.get('/budgets/day/windows');
  expect(body.windows).toMatchObject([{ limit: '50.0', spent: '70.0', overrun: '20.0', state: 'blocked' }]);
  const topped = await org.post('/budgets/day/top_ups', { top_up: { amount: '35', reason: 'launch' } });
  expect(topped.body.window).toMatchObject({ limit: '85.0', topped_up: '35.0', state: 'open' });
  const allowed = await decide(org, { hold_key: 'b', amount: '15' });
  expect(allowed.body.decision.allowed).toBe(true);
});

test('after a reset nothing is spent, and open holds stay held', async () => {
  await budget(org, 'month', '100');
  await send(event('t1', '70'));
  await decide(org, { hold_key: 'a', amount: '20' });
  await org.post('/budgets/month/reset', { reset: { reason: 'test' } });
  expect(await figures(org, 'month')).toBe('100.0 0.0 20.0 open');
  expect((await entries('month')).map((each: { amount: string }) => each.amount).sort()).toEqual(['-70.0', '70.0']);
});

test('events of a deleted budget count nowhere, and its code is free again', async () => {
  await budget(org, 'month', '100');
  await send(event('t1', '70'));
  await org.delete('/budgets/month');
  await send(event('t2', '20'));
  expect((await budget(org, 'month', '30')).status).toBe(200);
  expect((await decide(org, { hold_key: 'a', amount: '30' })).body.decision.allowed).toBe(true);
  expect(await figures(org, 'month')).toBe('30.0 0.0 30.0 open');
});

test('a window that is used up announces it, and that it is free again after a top-up (BU12, BU18)', async () => {
  await budget(org, 'month', '100');
  await decide(org, { hold_key: 'a', amount: '90' });
  await decide(org, { settle: [{ hold_key: 'a', amount: '102' }] });
  await until(async () => (await announced(service, org, 'budget.overrun')).length === 1);
  expect(await announced(service, org, 'budget.blocked')).toMatchObject([
    { budget_code: 'month', spent: '102.0', limit: '100.0' },
  ]);
  await org.post('/budgets/month/top_ups', { top_up: { amount: '20', reason: 'launch' } });
  await until(async () => (await announced(service, org, 'budget.unblocked')).length === 1);
});
