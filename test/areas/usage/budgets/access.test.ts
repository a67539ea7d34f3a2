import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { startService, type TestService } from '../../../support/service.ts';
import { ok } from '../../../support/words.ts';
import { budget, decide, event, figures, type Org, subscribe } from './words.ts';

let service: TestService;
let org: Org;

beforeAll(async () => {
  service = await startService({ pools: ['writes', 'events', 'budgets'] });
});
afterAll(() => service.stop());
beforeEach(async () => {
  org = await service.org();
  await subscribe(org);
  await budget(org, 'user', '100', { group_by: ['user'] });
});

const check = async (asked: object | undefined, fields: object = {}) =>
  (await ok(org.post('/access/check', { access: { external_subscription_id: 'ada-1', budget: asked, ...fields } })))
    .access;

test('an access check asks budgets too, and holds nothing', async () => {
  await org.post('/events', { event: event('t1', '70', { properties: { calls: 1, user: 'u1' } }) });
  await ok(decide(org, { hold_key: 'a', amount: '20', properties: { user: 'u1' } }));
  const allowed = await check({ amount: '10', properties: { user: 'u1' } });
  expect(allowed).toMatchObject({
    allowed: true,
    reasons: [],
    budgets: [
      { code: 'user', group: { user: 'u1' }, spent: '70.0', held: '20.0', requested: '10.0', remaining: '10.0' },
    ],
  });
  expect(await check({ amount: '10.01', properties: { user: 'u1' } })).toMatchObject({
    allowed: false,
    reasons: ['budget_exceeded'],
  });
  expect((await check({ amount: '100', properties: { user: 'u2' } })).allowed).toBe(true);
  expect(await figures(org, 'user')).toBe('100.0 70.0 20.0 open');
});

test('without a question about budgets none is answered, and reasons of both are told', async () => {
  expect(await check(undefined)).not.toHaveProperty('budgets');
  expect(await check({ amount: '101' }, { feature_code: 'nothing' })).toMatchObject({
    allowed: false,
    reasons: ['feature_not_granted', 'budget_exceeded'],
  });
  expect((await check({ amount: '1' }, { external_subscription_id: 'nobody' })).reasons).toEqual([
    'subscription_not_active',
  ]);
});

test('a question about budgets without a figure is 422', async () => {
  const { status, body } = await org.post('/access/check', {
    access: { external_subscription_id: 'ada-1', budget: {} },
  });
  expect([status, body.error_details]).toEqual([422, { estimate: ['value_is_mandatory'] }]);
});
