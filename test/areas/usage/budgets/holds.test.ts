import { Temporal } from 'temporal-polyfill';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { startService, type TestService } from '../../../support/service.ts';
import { until } from '../../../support/until.ts';
import { budget, decide, event, figures, type Org, subscribe } from './words.ts';

let service: TestService;
let org: Org;

beforeAll(async () => {
  service = await startService({ settings: { RATE_LIMIT_BUDGETS: '100000' } });
});
afterAll(() => service.stop());
beforeEach(async () => {
  org = await service.org({ sandbox: true });
  await org.post('/test_clock', { test_clock: { frozen_time: '2030-03-10T03:59:59Z' } });
  await subscribe(org);
});

const advance = async (to: string) => {
  await org.post('/test_clock/advance', { test_clock: { frozen_time: to } });
  await until(async () => (await org.get('/test_clock')).body.test_clock.status === 'ready');
};
/** Moves the clock without running what falls due meanwhile. */
const jump = (to: string) => service.sql`
  update test_clocks set frozen_time = ${Temporal.Instant.from(to)}
  where organization_id = ${org.organization.organization_id}`;
const hold = (key: string, amount: string, fields: object = {}) => decide(org, { hold_key: key, amount, ...fields });

test('an expired hold is free for the next decision without the sweep; its late settlement counts (BU9)', async () => {
  await budget(org, 'month', '100');
  await hold('a', '30', { expires_in_seconds: 60 });
  await hold('b', '70', { expires_in_seconds: 3600 });
  expect((await hold('c', '30')).body.decision.allowed).toBe(false);
  await jump('2030-03-10T04:00:59Z');
  expect((await hold('c', '30')).body.decision.allowed).toBe(true);
  const settled = await org.post('/budget_holds/key:a/settle', { hold: { amount: '25' } });
  expect(settled.body.hold).toMatchObject({ status: 'settled', late: true });
  expect(await figures(org, 'month')).toBe('100.0 25.0 100.0 open');
});

test('a hold and its settlement after midnight count in the day of the hold, and the new day starts at 0 (BU15)', async () => {
  await budget(org, 'day', '100', { period: 'day', timezone: 'America/New_York' });
  await hold('a', '40', { expires_in_seconds: 3600 });
  await jump('2030-03-10T05:00:02Z');
  await decide(org, { settle: [{ hold_key: 'a', event: event('t1', '35') }] });
  expect((await hold('b', '1')).body.decision.budgets).toMatchObject([{ spent: '0.0', held: '1.0' }]);
  const { body } = await org.get('/budgets/day/windows');
  expect(body.windows.map(({ spent, state }: { spent: string; state: string }) => [spent, state])).toEqual([
    ['0.0', 'open'],
    ['35.0', 'closed'],
  ]);
});

test('a released hold gives back what it held, once (BU4)', async () => {
  await budget(org, 'month', '100');
  const { body } = await hold('a', '80');
  expect((await hold('b', '25')).body.decision.allowed).toBe(false);
  const path = `/budget_holds/${body.decision.svc_hold_id}`;
  expect((await org.post(`${path}/release`)).body.hold.status).toBe('released');
  const again = await org.post(`${path}/release`);
  expect([again.status, again.body.code]).toEqual([405, 'hold_not_open']);
  expect((await hold('b', '25')).body.decision.allowed).toBe(true);
  expect((await hold('a', '80')).body.decision).toMatchObject({ allowed: false, reasons: ['hold_closed'] });
});

test('a hold is prolonged and grows within the room', async () => {
  await budget(org, 'month', '100');
  await hold('a', '30', { expires_in_seconds: 60 });
  const grown = await org.put('/budget_holds/key:a', { hold: { expires_in_seconds: 600, amount: '100' } });
  expect(grown.body.hold).toMatchObject({ expires_at: '2030-03-10T04:09:59Z', budgets: [{ held: '100.0' }] });
  const refused = await org.put('/budget_holds/key:a', { hold: { amount: '100.01' } });
  expect([refused.status, refused.body.error_details]).toEqual([422, { amount: ['budget_exceeded'] }]);
  const tooLong = await org.put('/budget_holds/key:a', { hold: { expires_in_seconds: 86_401 } });
  expect(tooLong.body.error_details).toEqual({ expires_in_seconds: ['value_is_out_of_range'] });
});

test('the same settlement again changes nothing, another one is 405, and a refused event leaves the hold open', async () => {
  await budget(org, 'month', '100');
  await hold('a', '30');
  const bad = await org.post('/budget_holds/key:a/settle', { hold: { event: { ...event('t1', '12'), code: '' } } });
  expect(bad.status).toBe(422);
  const good = { hold: { event: event('t1', '12') } };
  expect((await org.post('/budget_holds/key:a/settle', good)).body.hold.status).toBe('settled');
  expect((await org.post('/budget_holds/key:a/settle', good)).status).toBe(200);
  expect((await org.post('/budget_holds/key:a/settle', { hold: { amount: '13' } })).status).toBe(405);
  expect((await org.post('/budget_holds/key:b/settle', { hold: { amount: '13' } })).status).toBe(404);
  expect(await figures(org, 'month')).toBe('100.0 12.0 0.0 open');
});

test('the sweep folds what no decision has folded and marks what has expired, under a test clock too', async () => {
  await budget(org, 'month', '100', { mode: 'soft' });
  await hold('a', '30', { expires_in_seconds: 60 });
  await org.post('/events', { event: event('t1', '130') });
  await advance('2030-03-10T05:00:00Z');
  const [left] = await service.sql`
    select count(*)::int as open from budget_entries
    where organization_id = ${org.organization.organization_id} and folded_at is null`;
  expect(left!.open).toBe(0);
  expect((await org.get('/budget_holds/key:a')).body.hold).toMatchObject({
    status: 'expired',
    closed_at: '2030-03-10T04:00:59Z',
  });
  expect(await figures(org, 'month')).toBe('100.0 130.0 0.0 over');
});

test('a top-up frees the window of the day alone: the next day has its own limit again (BU12)', async () => {
  await budget(org, 'day', '100', { period: 'day', timezone: 'UTC' });
  await hold('a', '100', { expires_in_seconds: 86_400 });
  await decide(org, { settle: [{ hold_key: 'a', amount: '100' }] });
  expect(await figures(org, 'day')).toBe('100.0 100.0 0.0 blocked');
  expect((await hold('b', '15')).body.decision.allowed).toBe(false);
  await org.post('/budgets/day/top_ups', { top_up: { amount: '20', reason: 'launch' } });
  expect((await hold('c', '15')).body.decision.allowed).toBe(true);
  expect(await figures(org, 'day')).toBe('120.0 100.0 15.0 open');
  await jump('2030-03-11T00:00:01Z');
  expect((await hold('d', '1')).body.decision.budgets).toMatchObject([{ limit: '100.0', spent: '0.0', held: '1.0' }]);
});

test('another organization neither sees nor settles a hold', async () => {
  await budget(org, 'month', '100');
  const { body } = await hold('a', '30');
  const other = await service.org();
  const path = `/budget_holds/${body.decision.svc_hold_id}`;
  expect((await other.get(path)).status).toBe(404);
  expect((await other.post(`${path}/settle`, { hold: { amount: '1' } })).status).toBe(404);
  expect((await other.get('/budget_holds')).body.holds).toEqual([]);
});

test.each([
  ['a negative figure', { hold_key: 'a', amount: '-1' }, { amount: ['value_is_out_of_range'] }],
  ['an absurd figure', { hold_key: 'a', amount: '1e999' }, { amount: ['value_is_out_of_range'] }],
  ['too many digits', { hold_key: 'a', amount: '1e-19' }, { amount: ['value_is_out_of_range'] }],
  ['no figure', { hold_key: 'a' }, { estimate: ['value_is_mandatory'] }],
  [
    'a life of 0',
    { hold_key: 'a', amount: '1', expires_in_seconds: 0 },
    { expires_in_seconds: ['value_is_out_of_range'] },
  ],
  [
    'a life of two days',
    { hold_key: 'a', amount: '1', expires_in_seconds: 172_800 },
    { expires_in_seconds: ['value_is_out_of_range'] },
  ],
])('a decision with %s is 422', async (_, fields, details) => {
  await budget(org, 'month', '100');
  const { status, body } = await decide(org, fields);
  expect([status, body.error_details]).toEqual([422, details]);
});

test('a subscription that is not there, or not active, is a refusal with its reason', async () => {
  const { body } = await decide(org, { external_subscription_id: 'nobody', hold_key: 'a', amount: '1' });
  expect(body.decision).toMatchObject({ allowed: false, reasons: ['subscription_not_found'] });
});
