import { Temporal } from 'temporal-polyfill';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { startService, type TestService } from '../../../support/service.ts';
import { until } from '../../../support/until.ts';
import { ok } from '../../../support/words.ts';
import { announced, budget, decide, event, figures, type Org, subscribe } from './words.ts';

let service: TestService;
let org: Org;

beforeAll(async () => {
  service = await startService({ settings: { RATE_LIMIT_BUDGETS: '100000', BUDGET_WINDOWS_MAX: '3' } });
});
afterAll(() => service.stop());
beforeEach(async () => {
  org = await service.org();
  await subscribe(org);
});

const send = (...events: object[]) => ok(org.post('/events/batch', { events }));
const ofUser = (id: string, user: string) => event(id, '10', { properties: { calls: 1, user } });
const statusOf = async (key: string) => (await org.get(`/budget_holds/key:${key}`)).body.hold.status;
const storedStates = async (): Promise<string[]> => {
  const rows = await service.sql<{ state: string }[]>`
    select state from budget_windows where organization_id = ${org.organization.organization_id} order by id`;
  return rows.map(({ state }) => state);
};

// No tick runs in these services: what is announced was woken.
test('usage that no decision folds is folded soon, and what it passes is announced', async () => {
  await budget(org, 'month', '100');
  await send(event('t1', '85'));
  await until(async () => (await announced(service, org, 'budget.threshold_reached')).length === 2);
  expect(await figures(org, 'month')).toBe('100.0 85.0 0.0 open');
});

test('a correction wakes the sweep too: a window that it frees is announced', async () => {
  await budget(org, 'month', '100');
  await send(event('t1', '85'), event('t2', '30'));
  await until(async () => (await announced(service, org, 'budget.blocked')).length === 1);
  await ok(
    org.post('/events/corrections', {
      correction: { kind: 'retract', reason: 'test', external_subscription_id: 'ada-1', transaction_id: 't2' },
    }),
  );
  await until(async () => (await announced(service, org, 'budget.unblocked')).length === 1);
});

test('states follow a change of the limit or the mode, without a decision', async () => {
  await budget(org, 'month', '100');
  await send(event('t1', '70'));
  await until(async () => (await announced(service, org, 'budget.threshold_reached')).length === 1);
  await ok(org.put('/budgets/month', { budget: { limit: '50' } }));
  await until(async () => (await storedStates()).join() === 'blocked');
  await until(async () => (await announced(service, org, 'budget.blocked')).length === 1);
  expect(await announced(service, org, 'budget.blocked')).toMatchObject([{ limit: '50.0', spent: '70.0' }]);
  await ok(org.put('/budgets/month', { budget: { mode: 'soft' } }));
  await until(async () => (await storedStates()).join() === 'over');
  await ok(org.put('/budgets/month', { budget: { limit: '500' } }));
  await until(async () => (await storedStates()).join() === 'open');
});

test('a transaction that changes a window twice waits for no sweep that waits for this window', async () => {
  await budget(org, 'month', '100');
  await send(event('t1', '70'));
  await until(async () => (await announced(service, org, 'budget.threshold_reached')).length === 1);
  const { organization_id: organizationId } = org.organization;
  await service.sql.begin(async (tx) => {
    const change = () => tx`
      update budget_windows set topped_up = topped_up where organization_id = ${organizationId}`;
    await change();
    await ok(org.put('/budgets/month', { budget: { limit: '50' } }));
    await until(async () => (await waitingForRows()) > 0);
    await tx`set local lock_timeout = '500ms'`; // before Postgres ends one of two that wait for each other
    await change();
  });
  await until(async () => (await storedStates()).join() === 'blocked');
});

const waitingForRows = async (): Promise<number> => {
  const [row] = await service.sql<{ waiting: number }[]>`
    select count(*)::int as waiting from pg_stat_activity
    where datname = current_database() and wait_event_type = 'Lock' and query like '%decide_budgets%'`;
  return row!.waiting;
};

test('what a deleted budget held is released, and what others hold stays', async () => {
  await budget(org, 'gone', '100');
  await decide(org, { hold_key: 'only', amount: '30' });
  await budget(org, 'stays', '100');
  await decide(org, { hold_key: 'both', amount: '20' });
  await ok(org.delete('/budgets/gone'));
  await until(async () => (await statusOf('only')) === 'released');
  expect(await statusOf('both')).toBe('open');
  expect(await figures(org, 'stays')).toBe('100.0 0.0 20.0 open');
  const held = await service.sql`
    select held::text as held from budget_windows
    where organization_id = ${org.organization.organization_id} order by held`;
  expect(held.map((each) => each.held)).toEqual(['0', '20']);
  const { hold } = await ok(org.post('/budget_holds/key:both/settle', { hold: { amount: '15' } }));
  expect(hold).toMatchObject({ status: 'settled', late: false });
  expect(await figures(org, 'stays')).toBe('100.0 15.0 0.0 open');
});

test('a budget with too many live windows makes no more, says so, and makes them again when some have ended', async () => {
  const sandbox = await service.org({ sandbox: true });
  await sandbox.post('/test_clock', { test_clock: { frozen_time: '2030-03-10T12:00:00Z' } });
  org = sandbox;
  await subscribe(org);
  await budget(org, 'user', '100', { group_by: ['user'], period: 'day', timezone: 'UTC' });
  await send(ofUser('t1', 'u1'), ofUser('t2', 'u2'), ofUser('t3', 'u3'), ofUser('t4', 'u4'));
  await advance('2030-03-10T13:00:00Z');
  const full = await decide(org, { hold_key: 'a', amount: '1', properties: { user: 'u5' } });
  expect(full.body.decision).toMatchObject({ allowed: false, reasons: ['too_many_windows'] });
  const asked = await decide(org, { amount: '1', properties: { user: 'u5' } });
  expect(asked.body.decision).toMatchObject({ allowed: false, reasons: ['too_many_windows'] });
  const known = await decide(org, { hold_key: 'b', amount: '1', properties: { user: 'u4' } });
  expect(known.body.decision.allowed).toBe(true);
  await send(ofUser('t5', 'u5'), ofUser('t6', 'u1'));
  const { windows } = (await org.get('/budgets/user/windows')).body;
  const spent = windows.map((each: { group: { user: string }; spent: string }) => `${each.group.user} ${each.spent}`);
  expect(spent.sort()).toEqual(['u1 20.0', 'u2 10.0', 'u3 10.0', 'u4 10.0']);
  await until(async () => (await toldFull()).length === 1);
  expect(await toldFull()).toMatchObject([{ budget_code: 'user', reason: 'too_many_windows', windows_limit: 3 }]);
  await jump('2030-03-11T00:00:01Z');
  await send(ofUser('t7', 'u1'));
  await advance('2030-03-11T01:00:00Z');
  const again = await decide(org, { hold_key: 'c', amount: '1', properties: { user: 'u5' } });
  expect(again.body.decision.allowed).toBe(true);
});

const advance = async (to: string) => {
  await org.post('/test_clock/advance', { test_clock: { frozen_time: to } });
  await until(async () => (await org.get('/test_clock')).body.test_clock.status === 'ready');
};
const jump = (to: string) => service.sql`
  update test_clocks set frozen_time = ${Temporal.Instant.from(to)}
  where organization_id = ${org.organization.organization_id}`;

/** Announcements that a budget is full. */
async function toldFull(): Promise<object[]> {
  const rows = await service.sql<{ payload: string }[]>`
    select payload from webhook_events
    where organization_id = ${org.organization.organization_id} and webhook_type = 'budget.overrun'`;
  return rows.map(({ payload }) => JSON.parse(payload).budget);
}
