import { afterAll, beforeAll, expect, test } from 'vitest';
import { startService, type TestService } from '../../../support/service.ts';
import { type Invoice, openStory } from '../../../support/story.ts';

// Golden cases of golden-invoices.md#trial.
let service: TestService;
beforeAll(async () => {
  service = await startService();
});
afterAll(() => service.stop());

test.each([
  ['G22', 10, '2024-03-15T13:00:00Z', [2741935], '2024-03-15T12:12:00Z'],
  ['G24', 45, '2024-04-19T13:00:00Z', [0, 2000000], '2024-04-19T12:12:00Z'],
])('golden case %s: a trial lasts %i days', async (_name, trial_period, until, totals, endedAt) => {
  const story = await openStory(service, '2024-03-05T12:12:00Z');
  await story.customer();
  await story.plan({ amount_cents: 5000000, pay_in_advance: true, trial_period });
  await story.subscribe();
  await story.advanceTo(until);
  const invoices = await story.invoices(totals.length);
  expect(invoices.map((invoice) => invoice.total_amount_cents)).toEqual(totals);
  const { subscription } = (await story.client.get('/subscriptions/sub')).body;
  expect(subscription.trial_ended_at).toBe(endedAt);
});

test('the run of the last trial day bills the fee, and the end of the trial bills nothing more (G26)', async () => {
  const story = await openStory(service, '2024-03-22T01:12:00Z');
  await story.customer({ timezone: 'Europe/Paris' });
  await story.plan({ amount_cents: 5000000, pay_in_advance: true, trial_period: 10 });
  await story.subscribe();
  await story.advanceTo('2024-04-01T12:00:00Z');
  const [april] = await story.invoices(1);
  expect(april).toMatchObject({ total_amount_cents: 5000000, created_at: '2024-03-31T22:10:00Z' });
});

test('a trial that ends the day after the run is billed from its end (G27)', async () => {
  const story = await openStory(service, '2024-03-22T18:12:00Z');
  await story.customer({ timezone: 'Asia/Tokyo' });
  await story.plan({ amount_cents: 5000000, pay_in_advance: true, trial_period: 10 });
  await story.subscribe();
  await story.advanceTo('2024-04-01T19:00:00Z');
  const invoices = await story.invoices(2);
  expect(invoices.map((invoice) => invoice.total_amount_cents)).toEqual([0, 4833333]);
  expect(invoices[0].created_at).toBe('2024-03-31T15:10:00Z');
  expect(invoices[1].created_at).toBe('2024-04-01T18:35:00Z');
});

test.each([
  ['an upgrade', 1000, 20, '2024-04-03T00:00:00Z', [[129, 500], [11000], [500, 31000]], '2024-03-21T10:35:00Z'],
  ['a downgrade', 99000, 45, '2024-04-20T00:00:00Z', [[500, 99000], [16533]], '2024-04-15T10:35:00Z'],
])(
  '%s into a trial with a fixed charge in advance is billed when the trial ends',
  async (_name, amount_cents, ...given) => {
    const [trial_period, until, expected, endedAt] = given;
    const story = await openStory(service, '2024-03-01T10:00:00Z');
    await story.customer();
    const add_on = { name: 'Seat', code: 'seat', amount_cents: 100, amount_currency: 'USD' };
    await story.client.post('/add_ons', { add_on });
    const seat = { add_on_code: 'seat', charge_model: 'standard', units: '1', properties: { amount: '5' } };
    const fixed_charges = [{ ...seat, pay_in_advance: true }];
    await story.plan({ amount_cents });
    await story.plan({ code: 'next', amount_cents: 31000, pay_in_advance: true, trial_period, fixed_charges });
    await story.subscribe();
    await story.advanceTo('2024-03-05T11:00:00Z');
    await story.subscribe({ plan_code: 'next' });
    await story.advanceTo(until);
    const invoices = await story.invoices(expected.length);
    const amountsOf = (invoice: Invoice): number[] => invoice.fees.map((fee: Invoice) => fee.amount_cents);
    expect(invoices.map((each) => amountsOf(each).sort((a, b) => a - b))).toEqual(expected);
    expect(invoices[1].created_at).toBe(endedAt);
    // Both lines start the subscription: one made anew keeps its place beside the other.
    const { svc_id, fees } = invoices[1];
    expect((await story.client.post(`/invoices/${svc_id}/void`, {})).status).toBe(200);
    const invoice = { fees: [{ id: fees[0].svc_id }] };
    const again = await story.client.post(`/invoices/${svc_id}/regenerate`, { invoice });
    expect(amountsOf(again.body.invoice)).toEqual(expected[1]);
    expect(again.body.invoice.billing_periods).toHaveLength(1);
  },
);
