import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { startService, type TestService } from '../../../support/service.ts';
import { budget, decide, event, figures, type Org, subscribe } from './words.ts';

let service: TestService;
let org: Org;

beforeAll(async () => {
  service = await startService({
    pools: ['writes', 'events', 'budgets', 'billing', 'aggregation'],
    settings: { RATE_LIMIT_BUDGETS: '100000' },
  });
});
afterAll(() => service.stop());
beforeEach(async () => {
  org = await service.org();
  await subscribe(org);
});

test('a hold leaves the limit less what it holds, and the window shows it (BU1)', async () => {
  await budget(org, 'month', '10000');
  const { status, body } = await decide(org, { hold_key: 'k1', amount: '8.544' });
  expect(status).toBe(200);
  expect(body.decision).toMatchObject({ allowed: true, reasons: [], exceeded: [], hold_key: 'k1' });
  expect(body.decision.budgets).toMatchObject([
    {
      code: 'month',
      requested: '8.544',
      held: '8.544',
      spent: '0.0',
      remaining: '9991.456',
      state: 'open',
      decision_no: 1,
    },
  ]);
  expect(await figures(org, 'month')).toBe('10000.0 0.0 8.544 open');
});

test('a settlement by an event books it in full and stores it in the same transaction (BU2, by amount)', async () => {
  await budget(org, 'month', '10000');
  await decide(org, { hold_key: 'k1', amount: '8.544' });
  const { body } = await decide(org, { settle: [{ hold_key: 'k1', event: event('t1', '11.115') }] });
  expect(body.decision.settled).toEqual([
    {
      hold_key: 'k1',
      status: 'settled',
      late: false,
      overrun: '0.0',
      event: { transaction_id: 't1', replayed: false },
    },
  ]);
  expect(await figures(org, 'month')).toBe('10000.0 11.115 0.0 open');
  expect((await org.get('/events/t1')).status).toBe(200);
});

test('64 callers ask 1 each of a limit of 40: 40 are allowed and 24 refused (BU5)', async () => {
  await budget(org, 'month', '40');
  const answers = await Promise.all(
    Array.from({ length: 64 }, (_, index) => decide(org, { hold_key: `k${index}`, amount: '1' })),
  );
  const allowed = answers.filter(({ body }) => body.decision.allowed);
  expect(allowed).toHaveLength(40);
  for (const { body } of answers.filter(({ body: each }) => !each.decision.allowed)) {
    const [shown] = body.decision.budgets;
    expect(body.decision).toMatchObject({ reasons: ['budget_exceeded'], exceeded: ['month'] });
    expect(Number(shown.spent) + Number(shown.held) + Number(shown.requested)).toBeGreaterThan(Number(shown.limit));
  }
  expect(await figures(org, 'month')).toBe('40.0 0.0 40.0 open');
});

test('one call settles 12 of 30 and holds 88 of 100 (BU6)', async () => {
  await budget(org, 'month', '100');
  await decide(org, { hold_key: 'k1', amount: '30' });
  const { body } = await decide(org, {
    hold_key: 'k2',
    amount: '88',
    settle: [{ hold_key: 'k1', amount: '12' }],
  });
  expect(body.decision).toMatchObject({ allowed: true, settled: [{ status: 'settled' }] });
  expect(await figures(org, 'month')).toBe('100.0 12.0 88.0 open');
});

test('a team of 100 with users of 40 each refuses the third user, and names the team (BU8)', async () => {
  await budget(org, 'team', '100');
  await budget(org, 'user', '40', { group_by: ['user'] });
  const ask = async (user: string, amount: string) =>
    (await decide(org, { hold_key: `${user}-${amount}`, amount, properties: { user } })).body.decision;
  expect((await ask('u1', '40')).allowed).toBe(true);
  expect((await ask('u2', '40')).allowed).toBe(true);
  expect(await ask('u3', '40')).toMatchObject({ allowed: false, exceeded: ['team'] });
  expect((await ask('u3', '20')).allowed).toBe(true);
});

test('the same key is replayed for the same question and refused for another one (BU16)', async () => {
  await budget(org, 'month', '100');
  const first = await decide(org, { hold_key: 'k1', amount: '30' });
  const again = await decide(org, { hold_key: 'k1', amount: '30' });
  expect(again.headers['x-svc-replayed']).toBe('true');
  expect(again.body.decision.svc_hold_id).toBe(first.body.decision.svc_hold_id);
  const other = await decide(org, { hold_key: 'k1', amount: '31' });
  expect(other.status).toBe(422);
  expect(other.body.error_details).toEqual({ hold_key: ['value_already_exist'] });
  expect(await figures(org, 'month')).toBe('100.0 0.0 30.0 open');
});

test('a settlement of 62 on a hold of 50 at 40 of 100 is an overrun of 2 and blocks (BU18)', async () => {
  await budget(org, 'month', '100');
  await decide(org, { hold_key: 'a', amount: '40' });
  await decide(org, { settle: [{ hold_key: 'a', amount: '40' }] });
  await decide(org, { hold_key: 'b', amount: '50' });
  const { body } = await decide(org, { settle: [{ hold_key: 'b', amount: '62' }] });
  expect(body.decision.settled).toMatchObject([{ status: 'settled', overrun: '2.0' }]);
  expect(await figures(org, 'month')).toBe('100.0 102.0 0.0 blocked');
});
