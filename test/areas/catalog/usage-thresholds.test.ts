import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Client } from '../../support/client.ts';
import { startService, type TestService } from '../../support/service.ts';

let service: TestService;
let client: Client;
beforeAll(async () => {
  service = await startService();
  client = await service.org();
  await client.post('/customers', { customer: { external_id: 'acme', currency: 'EUR' } });
});
afterAll(() => service.stop());

const planOf = (code: string, usage_thresholds?: unknown) => ({
  plan: {
    name: code,
    code,
    interval: 'monthly',
    amount_cents: 100,
    amount_currency: 'EUR',
    pay_in_advance: false,
    usage_thresholds,
  },
});
const amounts = (thresholds: { amount_cents: number; recurring: boolean }[]) =>
  thresholds.map(({ amount_cents, recurring }) => (recurring ? `every ${amount_cents}` : amount_cents));

describe('thresholds of a plan', () => {
  test('a plan lists its fixed thresholds in ascending order and the recurring one last', async () => {
    const { status, body } = await client.post(
      '/plans',
      planOf('listed', [
        { amount_cents: 50, recurring: true, threshold_display_name: 'Step' },
        { amount_cents: 500 },
        { amount_cents: 100 },
      ]),
    );
    expect(status).toBe(200);
    expect(amounts(body.plan.usage_thresholds)).toEqual([100, 500, 'every 50']);
    expect(body.plan.usage_thresholds[2]).toEqual({
      svc_id: expect.any(String),
      threshold_display_name: 'Step',
      amount_cents: 50,
      recurring: true,
      created_at: expect.any(String),
      updated_at: expect.any(String),
    });
    expect(body.plan.applicable_usage_thresholds[0]).toEqual({
      threshold_display_name: null,
      amount_cents: 100,
      recurring: false,
    });
  });

  test('a new list of thresholds replaces the old one, and a threshold that stays keeps its id', async () => {
    const made = await client.post('/plans', planOf('replaced', [{ amount_cents: 100 }, { amount_cents: 200 }]));
    const kept = made.body.plan.usage_thresholds[1].svc_id;
    const { body } = await client.put('/plans/replaced', {
      plan: { usage_thresholds: [{ amount_cents: 200, threshold_display_name: 'Two' }, { amount_cents: 300 }] },
    });
    expect(amounts(body.plan.usage_thresholds)).toEqual([200, 300]);
    expect(body.plan.usage_thresholds[0]).toMatchObject({ svc_id: kept, threshold_display_name: 'Two' });
    const untouched = await client.put('/plans/replaced', { plan: { name: 'Other' } });
    expect(amounts(untouched.body.plan.usage_thresholds)).toEqual([200, 300]);
    const emptied = await client.put('/plans/replaced', { plan: { usage_thresholds: [] } });
    expect(emptied.body.plan.usage_thresholds).toEqual([]);
  });

  test.each([
    ['no amount', [{ recurring: false }], { usage_thresholds: ['missing_amount_cents'] }],
    ['the same twice', [{ amount_cents: 1 }, { amount_cents: 1 }], { usage_thresholds: ['duplicated_values'] }],
    [
      'two recurring',
      [
        { amount_cents: 1, recurring: true },
        { amount_cents: 2, recurring: true },
      ],
      { usage_thresholds: ['multiple_recurring_thresholds'] },
    ],
    ['nothing to pass', [{ amount_cents: 0 }], { amount_cents: ['value_is_out_of_range'] }],
    ['a negative amount', [{ amount_cents: -5 }], { amount_cents: ['value_is_out_of_range'] }],
  ])('a usage threshold is refused: %s', async (_name, thresholds, details) => {
    const { status, body } = await client.post('/plans', planOf('refused', thresholds));
    expect([status, body.error_details]).toEqual([422, details]);
  });
});

describe('thresholds of a subscription', () => {
  const subscribe = (external_id: string, fields: object) =>
    client.post('/subscriptions', {
      subscription: { external_customer_id: 'acme', external_id, plan_code: 'base', ...fields },
    });
  beforeAll(async () => {
    await client.post('/plans', planOf('base', [{ amount_cents: 1000 }]));
  });

  test('a subscription without thresholds has those of its plan, its own replace them, and none apply when switched off', async () => {
    const plain = await subscribe('plain', {});
    expect(amounts(plain.body.subscription.applicable_usage_thresholds)).toEqual([1000]);
    const own = await subscribe('own', { usage_thresholds: [{ amount_cents: 70 }] });
    expect(amounts(own.body.subscription.applicable_usage_thresholds)).toEqual([70]);
    const off = await subscribe('off', { progressive_billing_disabled: true });
    expect(off.body.subscription.applicable_usage_thresholds).toEqual([]);
  });

  test('an update replaces the thresholds of a subscription, and an empty list restores those of the plan', async () => {
    await subscribe('changing', { usage_thresholds: [{ amount_cents: 70 }] });
    const update = async (usage_thresholds: unknown) => {
      const { status } = await client.put('/subscriptions/changing', { subscription: { usage_thresholds } });
      expect(status).toBe(200);
      const { body } = await client.get('/subscriptions/changing');
      return amounts(body.subscription.applicable_usage_thresholds);
    };
    expect(await update([{ amount_cents: 80 }, { amount_cents: 5, recurring: true }])).toEqual([80, 'every 5']);
    expect(await update([])).toEqual([1000]);
    const bad = await client.put('/subscriptions/changing', {
      subscription: { usage_thresholds: [{ amount_cents: 0 }] },
    });
    expect([bad.status, bad.body.error_details]).toEqual([422, { amount_cents: ['value_is_out_of_range'] }]);
  });
});
