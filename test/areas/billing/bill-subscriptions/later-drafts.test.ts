import { afterAll, beforeAll, expect, test } from 'vitest';
import { startService, type TestService } from '../../../support/service.ts';
import { type Invoice, openStory, type Story } from '../../../support/story.ts';

// What happens in the grace period of a draft, after the instant at which its lines were billed, is not on it. Rules:
// billing-periods.md#windows "T", subscription-fees.md#when-a-line-gets-a-fee (3),
// invoice-operations.md#refresh-and-finalize.
let service: TestService;
beforeAll(async () => {
  service = await startService();
});
afterAll(() => service.stop());

const fees = (invoice: Invoice): number[] => invoice.fees.map((fee: Invoice) => fee.amount_cents);
const subscriptionFees = (invoices: Invoice[]): number[][] =>
  invoices.map((invoice) =>
    invoice.fees.filter((fee: Invoice) => fee.item.type === 'subscription').map((fee: Invoice) => fee.amount_cents),
  );

const inGrace = (story: Story, days: number, fields = {}) =>
  story.customer({ billing_configuration: { invoice_grace_period: days }, ...fields });

test.each([
  [0, 'monthly', 10, '2024-03-25T10:00:00Z', 31000, '2024-05-03T00:00:00Z', [[], [27900], [31000]]],
  [5, 'monthly', 10, '2024-03-25T10:00:00Z', 31000, '2024-05-03T00:00:00Z', [[], [27900], [31000]]],
  [30, 'monthly', 10, '2024-03-25T10:00:00Z', 31000, '2024-05-03T00:00:00Z', [[], [27900], [31000]]],
  [3, 'weekly', 3, '2024-10-12T18:06:00Z', 7000, '2024-10-24T00:00:00Z', [[], [7000 - 1000], [7000]]],
])('a trial that ends while a draft waits (%i days, %s) bills its period once', async (grace, ...given) => {
  const [interval, trial_period, start, amount_cents, end, expected] = given;
  const story = await openStory(service, start);
  await inGrace(story, grace);
  await story.plan({ interval, amount_cents, pay_in_advance: true, trial_period });
  await story.subscribe();
  await story.advanceTo(end);
  expect(subscriptionFees(await story.invoices(expected.length))).toEqual(expected);
});

/** Four metrics, each used with 10 units in the first second of March. */
async function openMarch(): Promise<Story> {
  const story = await openStory(service, '2024-03-01T00:00:00Z');
  await inGrace(story, 5);
  const metric = async (code: string, aggregation_type: string, recurring: boolean): Promise<string> => {
    const weighted = aggregation_type === 'weighted_sum_agg' ? { weighted_interval: 'seconds' } : {};
    const billable_metric = { name: code, code, aggregation_type, recurring, field_name: 'v', ...weighted };
    return (await story.client.post('/billable_metrics', { billable_metric })).body.billable_metric.svc_id;
  };
  const charge = (billable_metric_id: string, fields = {}) => ({
    billable_metric_id,
    charge_model: 'standard',
    properties: { amount: '1' },
    ...fields,
  });
  const [rec, met, pro, ws] = [
    await metric('rec', 'sum_agg', true),
    await metric('met', 'sum_agg', false),
    await metric('pro', 'sum_agg', true),
    await metric('ws', 'weighted_sum_agg', true),
  ];
  const others = [charge(pro, { prorated: true }), charge(ws)];
  await story.plan({
    amount_cents: 3100,
    charges: [charge(rec), charge(met, { min_amount_cents: 31000 }), ...others],
  });
  await story.plan({ code: 'big', amount_cents: 10000, charges: [charge(rec), charge(met), ...others] });
  await story.subscribe();
  for (const code of ['rec', 'met', 'pro', 'ws']) {
    const event = { transaction_id: code, external_subscription_id: 'sub', code, properties: { v: 10 } };
    const timestamp = Date.parse('2024-03-01T00:00:01Z') / 1000;
    expect((await story.client.post('/events', { event: { ...event, timestamp } })).status).toBe(200);
  }
  await story.advanceTo('2024-04-01T01:00:00Z');
  return story;
}

const MARCH = [3100, 1000, 1000, 30000, 1000, 1000];

test('an upgrade while a draft waits takes nothing from the period before it', async () => {
  const story = await openMarch();
  const [draft] = await story.invoices(1);
  expect(draft).toMatchObject({ status: 'draft', fees_amount_cents: 37100 });
  await story.advanceTo('2024-04-02T10:00:00Z');
  await story.subscribe({ plan_code: 'big' });
  await story.invoices(2);
  expect((await story.client.put(`/invoices/${draft.svc_id}/refresh`)).status).toBe(200);
  expect((await story.invoices(2))[0]).toMatchObject({ status: 'draft', fees_amount_cents: 37100 });
  await story.advanceTo('2024-04-15T00:00:00Z');
  const [march] = await story.invoices(2);
  expect(march).toMatchObject({ status: 'finalized', fees_amount_cents: 37100 });
  expect(fees(march).sort((a, b) => a - b)).toEqual([...MARCH].sort((a, b) => a - b));
});

test('a termination at the very instant at which a draft was made takes nothing from that draft', async () => {
  const story = await openStory(service, '2024-03-01T00:00:00Z');
  await inGrace(story, 5);
  await story.plan({ amount_cents: 3100 });
  await story.subscribe();
  await story.advanceTo('2024-04-01T00:10:00Z');
  await story.invoices(1);
  await story.client.delete('/subscriptions/sub');
  await story.advanceTo('2024-04-15T00:00:00Z');
  expect((await story.invoices(2)).map(fees)).toEqual([[3100], [103]]);
});

test('a time zone that the customer moves to while a draft waits does not move the period of the draft', async () => {
  const story = await openStory(service, '2024-03-01T00:00:00Z');
  await inGrace(story, 5);
  await story.plan({ amount_cents: 3100 });
  await story.subscribe();
  await story.advanceTo('2024-04-01T01:00:00Z');
  const window = (invoice: Invoice) => {
    const { charges_from_datetime, charges_to_datetime } = invoice.billing_periods[0];
    return [charges_from_datetime, charges_to_datetime];
  };
  await inGrace(story, 5, { timezone: 'America/New_York' });
  await story.advanceTo('2024-04-15T00:00:00Z');
  const [march] = await story.invoices(1);
  expect(march).toMatchObject({ status: 'finalized', fees_amount_cents: 3100 });
  expect(window(march)).toEqual(['2024-03-01T00:00:00Z', '2024-03-31T23:59:59Z']);
});

test('a subscription record that is created later and starts earlier moves no trial that a draft was billed by', async () => {
  const story = await openStory(service, '2024-03-05T12:12:00Z');
  await inGrace(story, 5);
  await story.plan({ amount_cents: 31000, pay_in_advance: true, trial_period: 45 });
  await story.subscribe();
  await story.advanceTo('2024-04-02T10:00:00Z');
  const [draft] = await story.invoices(1);
  expect([draft.status, fees(draft)]).toEqual(['draft', []]);
  const { client } = story;
  expect((await client.delete('/subscriptions/sub?on_termination_invoice=skip')).status).toBe(200);
  const again = await story.subscribe({ subscription_at: '2024-01-10T00:00:00Z' });
  expect(again.body.subscription).toMatchObject({ started_at: '2024-01-10T00:00:00.000Z' });
  expect(fees((await client.put(`/invoices/${draft.svc_id}/refresh`)).body.invoice)).toEqual([]);
  // The new one began in January: its 45 days were over in February.
  await story.advanceTo('2024-05-01T02:00:00Z');
  expect((await client.get('/subscriptions/sub')).body.subscription.trial_ended_at).toBe('2024-02-24T00:00:00Z');
});
