import { afterAll, beforeAll, expect, test } from 'vitest';
import { startService, type TestService } from '../../../support/service.ts';
import { type Invoice, openStory, type Story } from './story.ts';

// What kind of switch a change of plan was is decided when it is made; what its plans cost later changes nothing about it.
// Rules: plans.md#comparison-amount, plans.md#charges-of-a-plan, plan-changes.md#upgrade, plan-changes.md#downgrade,
// billing-periods.md#windows `up`, `down`.
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

test('the closing draft of an upgrade stays one when the new plan becomes the cheaper one', async () => {
  const story = await openSwitch('2024-02-01T00:00:00Z', { amount_cents: 2900 }, { amount_cents: 29_000 });
  await story.advance('2024-02-12T00:00:00Z');
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
  await story.advance('2024-02-12T00:00:00Z');
  await story.subscribe({ plan_code: 'other' });
  await story.advance('2024-03-01T02:00:00Z');
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
  await story.advance('2024-02-12T00:00:00Z');
  await story.subscribe({ plan_code: 'other' });
  await reprice(story, 'plan', 2600); // 10400 a year, less than the 10800 of the plan that waits
  await story.advance('2024-04-01T02:00:00Z');
  const [closing] = await story.invoices(1);
  expect(fees(closing)).toEqual([2600]);
});

test('a plan paid in advance after an upgrade bills its days once, whatever the former plan costs later', async () => {
  const story = await openSwitch(
    '2024-02-01T00:00:00Z',
    { amount_cents: 2900 },
    { amount_cents: 29_000, pay_in_advance: true },
  );
  await story.advance('2024-02-12T00:00:00Z');
  await story.subscribe({ plan_code: 'other' });
  const [invoice] = await story.invoices(1);
  expect(fees(invoice).toSorted()).toEqual([1100, 18_000]);
  await reprice(story, 'plan', 99_000);
  const later = await refresh(story, invoice);
  // The closing line bears the new amount, as every fee that is computed anew: 99000 × 11/29.
  expect(fees(later).toSorted()).toEqual([18_000, 37_552]);
});
