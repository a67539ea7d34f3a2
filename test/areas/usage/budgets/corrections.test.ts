import { Temporal } from 'temporal-polyfill';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { startService, type TestService } from '../../../support/service.ts';
import { until } from '../../../support/until.ts';
import { ok } from '../../../support/words.ts';
import { announced, budget, decide, event, figures, type Org, subscribe } from './words.ts';

let service: TestService;
let org: Org;
const NOW = '2030-03-10T12:00:00Z';

beforeAll(async () => {
  service = await startService({ settings: { RATE_LIMIT_BUDGETS: '100000' } });
});
afterAll(() => service.stop());
beforeEach(async () => {
  org = await service.org({ sandbox: true });
  await org.post('/test_clock', { test_clock: { frozen_time: NOW } });
  await subscribe(org);
});

const at = (iso: string) => Date.parse(iso) / 1000;
const send = async (...events: object[]) => ok(org.post('/events/batch', { events }));
const correct = (fields: object) =>
  ok(
    org.post('/events/corrections', {
      correction: { reason: 'test', external_subscription_id: 'ada-1', ...fields },
    }),
  );
const jump = (to: string) => service.sql`
  update test_clocks set frozen_time = ${Temporal.Instant.from(to)}
  where organization_id = ${org.organization.organization_id}`;
/** `from group spent` of the windows of a budget, those of one start by group. */
async function windows(code: string): Promise<string[]> {
  const { body } = await org.get(`/budgets/${code}/windows`);
  return body.windows
    .map((each: { from: string; group: object; spent: string }) =>
      [each.from.slice(0, 10), ...Object.values(each.group), each.spent].join(' '),
    )
    .sort();
}
const corrections = async (code: string) =>
  (await org.get(`/budgets/${code}/entries`)).body.entries
    .filter(({ source }: { source: string }) => source === 'correction')
    .map(({ amount, events }: { amount: string; events: number }) => `${amount} of ${events}`);

test('a soft budget announces each percentage once, also after a retraction and usage anew (BU11)', async () => {
  await budget(org, 'soft', '100', { mode: 'soft' });
  await send(event('t1', '90'), event('t2', '40'));
  expect((await decide(org, { hold_key: 'a', amount: '5' })).body.decision).toMatchObject({
    allowed: true,
    budgets: [{ state: 'over', spent: '130.0' }],
  });
  await until(async () => (await announced(service, org, 'budget.threshold_reached')).length === 3);
  await correct({ kind: 'retract', transaction_id: 't1' });
  expect((await decide(org, { hold_key: 'b', amount: '5' })).body.decision).toMatchObject({
    allowed: true,
    budgets: [{ state: 'open', spent: '40.0' }],
  });
  await send(event('t3', '90'));
  expect((await decide(org, { hold_key: 'c', amount: '5' })).body.decision).toMatchObject({
    allowed: true,
    budgets: [{ state: 'over', spent: '130.0' }],
  });
  await decide(org, { hold_key: 'd', amount: '5' });
  const percents = (await announced(service, org, 'budget.threshold_reached')).map(({ percent }) => percent);
  expect(percents).toEqual([50, 80, 100]);
  expect(await corrections('soft')).toEqual(['-90.0 of 1']);
});

test('an amended amount counts its difference, and the next decision sees it', async () => {
  await budget(org, 'month', '100');
  await send(event('t1', '70'));
  await correct({ kind: 'amend', transaction_id: 't1', precise_total_amount_cents: '95.5' });
  expect(await figures(org, 'month')).toBe('100.0 95.5 0.0 open');
  expect(await corrections('month')).toEqual(['25.5 of 1']);
  expect((await decide(org, { hold_key: 'a', amount: '5' })).body.decision.allowed).toBe(false);
});

test('an amended time or property moves what counted to the window and group that it belongs to now', async () => {
  await budget(org, 'day', '100', { period: 'day', timezone: 'UTC' });
  await budget(org, 'user', '100', { group_by: ['user'], timezone: 'UTC' });
  await send(event('t1', '30', { timestamp: at('2030-03-09T10:00:00Z'), properties: { calls: 1, user: 'u1' } }));
  await correct({ kind: 'amend', transaction_id: 't1', timestamp: at('2030-03-10T10:00:00Z') });
  expect(await windows('day')).toEqual(['2030-03-09 0.0', '2030-03-10 30.0']);
  expect(await windows('user')).toEqual(['2030-03-01 u1 30.0']);
  await correct({ kind: 'amend', transaction_id: 't1', properties: { calls: 1, user: 'u2' } });
  expect(await windows('user')).toEqual(['2030-03-01 u1 0.0', '2030-03-01 u2 30.0']);
  expect((await corrections('day')).sort()).toEqual(['-30.0 of 1', '30.0 of 1']);
});

test('the event of a settlement is corrected in the window of its hold, one that came before in its own', async () => {
  await budget(org, 'day', '100', { period: 'day', timezone: 'UTC' });
  await decide(org, { hold_key: 'a', amount: '40', expires_in_seconds: 86_400 });
  await decide(org, { hold_key: 'b', amount: '40', expires_in_seconds: 86_400 });
  await jump('2030-03-11T00:00:02Z');
  await decide(org, { settle: [{ hold_key: 'a', event: event('t1', '35') }] });
  const early = event('t2', '20', { timestamp: at('2030-03-11T00:00:01Z') });
  await send(early);
  await decide(org, { settle: [{ hold_key: 'b', event: early }] });
  expect(await windows('day')).toEqual(['2030-03-10 35.0', '2030-03-11 20.0']);
  await correct({ kind: 'amend', transaction_id: 't1', precise_total_amount_cents: '30' });
  await correct({ kind: 'amend', transaction_id: 't2', precise_total_amount_cents: '21' });
  expect(await windows('day')).toEqual(['2030-03-10 30.0', '2030-03-11 21.0']);
});

test('a retracted range counts nowhere any more, but in a budget that is younger it never did', async () => {
  await budget(org, 'old', '1000');
  await send(...Array.from({ length: 30 }, (_, index) => event(`t${index}`, '2')));
  await budget(org, 'young', '1000');
  await send(event('t30', '7'));
  const range = { timestamp_from: '2030-03-01T00:00:00Z', timestamp_to: '2030-04-01T00:00:00Z' };
  const { correction } = await correct({ kind: 'retract_range', ...range });
  await until(async () => {
    const { body } = await org.get(`/events/corrections/${correction.svc_id}`);
    return body.correction.status === 'settled';
  });
  expect(await figures(org, 'old')).toBe('1000.0 0.0 0.0 open');
  expect(await figures(org, 'young')).toBe('1000.0 0.0 0.0 open');
  expect(await corrections('old')).toEqual(['-67.0 of 31']);
  expect(await corrections('young')).toEqual(['-7.0 of 1']);
});

test('a dry run of a correction counts nothing', async () => {
  await budget(org, 'month', '100');
  await send(event('t1', '70'));
  await correct({ kind: 'retract', transaction_id: 't1', dry_run: true });
  expect(await figures(org, 'month')).toBe('100.0 70.0 0.0 open');
  expect(await corrections('month')).toEqual([]);
});
