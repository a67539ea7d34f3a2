import { afterAll, beforeAll, expect, test } from 'vitest';
import { startService, type TestService } from '../../../support/service.ts';
import { type Invoice, openStory, type Story } from '../../../support/story.ts';
import { until } from '../../../support/until.ts';

// What kind of switch a change of plan was is decided when it is made; what its plans cost later changes nothing about
// it. Rules: plans.md#comparison-amount, plans.md#charges-of-a-plan, plan-changes.md#upgrade,
// plan-changes.md#downgrade, billing-periods.md#windows `up`, `down`.
let service: TestService;
beforeAll(async () => {
  service = await startService();
});
afterAll(() => service.stop());

const fees = (invoice: Invoice): number[] => invoice.fees.map((fee: Invoice) => fee.amount_cents);

/** A customer in grace whose plans are `plan` and `other`, subscribed to the first one. */
async function openSwitch(start: string, plan: object, other: object, grace = 5): Promise<Story> {
  const story = await openStory(service, start);
  await story.customer({ billing_configuration: { invoice_grace_period: grace } });
  await story.plan(plan);
  await story.plan({ code: 'other', ...other });
  await story.subscribe();
  return story;
}

async function reprice({ client }: Story, code: string, amount_cents: number): Promise<void> {
  const { status, text } = await client.put(`/plans/${code}`, { plan: { amount_cents } });
  expect(status, text).toBe(200);
}

const refresh = async ({ client }: Story, { svc_id }: Invoice): Promise<Invoice> =>
  (await client.put(`/invoices/${svc_id}/refresh`)).body.invoice;

test('the closing draft of an upgrade stays an upgrade when the new plan becomes the cheaper one', async () => {
  const story = await openSwitch('2024-02-01T00:00:00Z', { amount_cents: 2900 }, { amount_cents: 29_000 });
  await story.advanceTo('2024-02-12T00:00:00Z');
  await story.subscribe({ plan_code: 'other' });
  const [closing] = await story.invoices(1);
  expect(fees(closing)).toEqual([1100]);
  await reprice(story, 'other', 100);
  const later = await refresh(story, closing);
  expect([fees(later), later.billing_periods]).toEqual([[1100], closing.billing_periods]);
  expect((await story.client.get('/subscriptions/sub?status=terminated')).body.subscription).toMatchObject({
    next_plan_code: 'other',
    downgrade_plan_date: null,
  });
});

test('the closing draft of a downgrade bills its whole period when the new plan becomes the dearer one', async () => {
  const story = await openSwitch('2024-02-01T00:00:00Z', { amount_cents: 2900 }, { amount_cents: 100 });
  await story.advanceTo('2024-02-12T00:00:00Z');
  await story.subscribe({ plan_code: 'other' });
  await story.advanceTo('2024-03-01T02:00:00Z');
  const [closing] = await story.invoices(1);
  expect(fees(closing)).toEqual([2900]);
  await reprice(story, 'other', 50_000);
  const later = await refresh(story, closing);
  expect([fees(later), later.billing_periods]).toEqual([[2900], closing.billing_periods]);
  expect((await story.client.get('/subscriptions/sub?status=terminated')).body.subscription.downgrade_plan_date).toBe(
    '2024-03-01',
  );
});

test('a downgrade that waits bills the whole last period when the former plan has become the cheaper one', async () => {
  const story = await openSwitch(
    '2024-01-01T00:00:00Z',
    { amount_cents: 3000, interval: 'quarterly' },
    { amount_cents: 900 },
    0,
  );
  await story.advanceTo('2024-02-12T00:00:00Z');
  await story.subscribe({ plan_code: 'other' });
  await reprice(story, 'plan', 2600); // 10400 a year, less than the 10800 of the plan that waits
  await story.advanceTo('2024-04-01T02:00:00Z');
  const [closing] = await story.invoices(1);
  expect(fees(closing)).toEqual([2600]);
});

test('a plan paid in advance after an upgrade bills its days once, whatever the former plan costs later', async () => {
  const story = await openSwitch(
    '2024-02-01T00:00:00Z',
    { amount_cents: 2900 },
    { amount_cents: 29_000, pay_in_advance: true },
  );
  await story.advanceTo('2024-02-12T00:00:00Z');
  await story.subscribe({ plan_code: 'other' });
  const [invoice] = await story.invoices(1);
  expect(fees(invoice).toSorted()).toEqual([1100, 18_000]);
  await reprice(story, 'plan', 99_000);
  const later = await refresh(story, invoice);
  // The closing line bears the new amount, as every fee that is computed anew: 99000 × 11/29.
  expect(fees(later).toSorted()).toEqual([18_000, 37_552]);
});

test('a late event in advance costs what its charge costs when the fee is made, also after an override', async () => {
  const story = await openStory(service, '2024-02-01T00:00:00Z');
  const { client } = story;
  const billable_metric = { name: 'Calls', code: 'calls', aggregation_type: 'count_agg' };
  const metric = (await client.post('/billable_metrics', { billable_metric })).body.billable_metric;
  const terms = { charge_model: 'standard', pay_in_advance: true, invoiceable: false, properties: { amount: '1' } };
  await story.customer();
  await story.plan({ amount_cents: 0, charges: [{ billable_metric_id: metric.svc_id, code: 'calls', ...terms }] });
  await story.subscribe();
  const billed = async (transaction_id: string, count: number) => {
    const event = { transaction_id, external_subscription_id: 'sub', code: 'calls' };
    const timestamp = Date.parse('2024-02-02T00:00:00Z') / 1000;
    expect((await client.post('/events', { event: { ...event, timestamp } })).status).toBe(200);
    return until(async () => {
      const { fees: all } = (await client.get('/fees?external_subscription_id=sub&fee_type=charge')).body;
      return all.length === count ? all.map((fee: Invoice) => fee.amount_cents).sort() : undefined;
    });
  };
  await story.advanceTo('2024-02-03T00:00:00Z');
  expect(await billed('before', 1)).toEqual([100]);
  // Rule: plans.md#charges-of-a-plan (3). A new price is used from the next fee computed, and none that is made
  // already changes.
  const { status, text } = await client.put('/subscriptions/sub/charges/calls', {
    charge: { properties: { amount: '3' } },
  });
  expect(status, text).toBe(200);
  expect(await billed('late', 2)).toEqual([100, 300]);
});
