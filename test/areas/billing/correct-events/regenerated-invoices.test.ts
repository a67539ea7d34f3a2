import { afterAll, beforeAll, expect, test } from 'vitest';
import { startService, type TestService } from '../../../support/service.ts';
import { type Invoice, openStory, type Story } from '../../../support/story.ts';
import { until } from '../../../support/until.ts';
import { ok, type Shown } from '../../../support/words.ts';

// Corrections before and after an invoice is voided and regenerated, of every kind that bills usage:
// event-corrections.md#regenerated-invoices. A unit costs 10.00.
let service: TestService;

beforeAll(async () => {
  service = await startService();
});
afterAll(() => service.stop());

interface Terms {
  charge?: object;
  plan?: object;
  subscriptions?: readonly string[];
}

/** A subscription, or several of one customer, from 1 March on. */
async function march({ charge = {}, plan = {}, subscriptions = ['sub'] }: Terms = {}): Promise<Story> {
  const story = await openStory(service, '2024-03-01T00:00:00Z');
  await story.customer();
  const metric = await story.metric('units', { aggregation_type: 'sum_agg', field_name: 'n' });
  const charges = [
    {
      billable_metric_id: metric.svc_id,
      code: 'units',
      charge_model: 'standard',
      properties: { amount: '10' },
      ...charge,
    },
  ];
  await story.plan({ amount_cents: 0, charges, ...plan });
  await story.plan({ code: 'dear', amount_cents: 100_000, charges });
  for (const external_id of subscriptions) await story.subscribe({ external_id });
  await story.advanceTo('2024-03-10T00:00:00Z');
  return story;
}

const use = (story: Story, transaction_id: string, n: number, fields: object = {}) =>
  story.use('units', { n: `${n}` }, { transaction_id, ...fields });

async function correct(story: Story, fields: object): Promise<[delta: number, left: number][]> {
  const { correction } = await ok(
    story.client.post('/events/corrections', {
      correction: { reason: 'wrong', external_subscription_id: 'sub', ...fields },
    }),
  );
  expect(correction.status).toBe('settled');
  return correction.adjustments
    .map((each: Shown) => [each.delta_amount_cents, each.left_amount_cents])
    .filter(([delta]: number[]) => delta !== 0)
    .reverse();
}
const retract = (story: Story, transaction_id: string, fields: object = {}) =>
  correct(story, { kind: 'retract', transaction_id, ...fields });
const amend = (story: Story, transaction_id: string, n: number, fields: object = {}) =>
  correct(story, { kind: 'amend', transaction_id, properties: { n: `${n}` }, ...fields });

async function finalInvoices({ client, invoice }: Story): Promise<Invoice[]> {
  const { invoices } = await ok(client.get('/invoices?per_page=100&statuses[]=finalized'));
  return Promise.all(invoices.map(({ svc_id }: Invoice) => invoice(svc_id)));
}

/** Voids the invoice that is found and regenerates it with all its fees. */
async function regenerate(story: Story, isIt: (invoice: Invoice) => boolean): Promise<Invoice> {
  const source = (await finalInvoices(story)).find(isIt)!;
  await ok(story.client.post(`/invoices/${source.svc_id}/void`));
  const fees = source.fees.map(({ svc_id }: Shown) => ({ id: svc_id }));
  return (await ok(story.client.post(`/invoices/${source.svc_id}/regenerate`, { invoice: { fees } }))).invoice;
}
const ofMarch = ({ billing_periods: [period], invoice_type }: Invoice) =>
  invoice_type === 'subscription' &&
  period.invoicing_reason !== 'in_advance_charge' &&
  period.charges_from_datetime.startsWith('2024-03-01');

/** The auditor finds nothing. */
async function sound(story: Story): Promise<void> {
  await ok(story.client.post('/audits', {}));
  await until(async () => (await story.client.get('/audits')).body.audits[0]?.finished_at ?? undefined);
  expect((await story.client.get('/audits/findings')).body.audit_findings).toEqual([]);
}

/** What all invoices that count come to, less the notes. */
async function total(story: Story): Promise<number> {
  const { credit_notes } = await ok(story.client.get('/credit_notes?per_page=100'));
  const sum = (list: Shown[], key: string) => list.reduce((cents: number, each) => cents + each[key], 0);
  return (
    sum(await finalInvoices(story), 'sub_total_excluding_taxes_amount_cents') -
    sum(credit_notes, 'sub_total_excluding_taxes_amount_cents')
  );
}

test('usage in advance: what was billed elsewhere, and what was left, stays so for the new invoice of an event', async () => {
  const story = await march({ charge: { pay_in_advance: true, invoiceable: true } });
  for (const [nth, n] of [10, 5].entries()) {
    await use(story, `e${n}`, n);
    await story.invoices(nth + 1);
  }
  expect(await amend(story, 'e10', 12, { policy: 'debit_invoice' })).toEqual([[2000, 0]]);
  expect(await amend(story, 'e5', 8, { policy: 'ignore' })).toEqual([[3000, 3000]]);
  await regenerate(story, ({ fees_amount_cents }) => fees_amount_cents === 10_000);
  await regenerate(story, ({ fees_amount_cents }) => fees_amount_cents === 5000);
  expect(await amend(story, 'e10', 13, { policy: 'debit_invoice' })).toEqual([[1000, 0]]);
  expect(await amend(story, 'e5', 5, { policy: 'ignore' })).toEqual([[-3000, -3000]]);
  expect(await amend(story, 'e5', 8, { policy: 'debit_invoice' })).toEqual([[3000, 0]]);
  expect(await total(story)).toBe(21_000);
  await retract(story, 'e10');
  expect((await retract(story, 'e5')).reduce((sum, [delta]) => sum + delta, 0)).toBe(-8000);
  expect(await total(story)).toBe(0);
  await sound(story);
});

test('a plan that was left: its last invoice takes late usage by its own policy, regenerated or not', async () => {
  const story = await march({ plan: { usage_policies: { late_events: 'next_invoice' } } });
  await use(story, 'ten', 10);
  await story.advanceTo('2024-03-16T00:00:00Z');
  await story.subscribe({ plan_code: 'dear' });
  await story.advanceTo('2024-03-17T00:00:00Z');
  const early = { at: '2024-03-12T00:00:00Z' };
  await use(story, 'late', 5, early);
  await story.advanceTo('2024-03-17T02:00:00Z');
  // There is no next invoice of the first plan.
  const own = ({ fees_amount_cents }: Invoice) => fees_amount_cents === 5000;
  expect((await finalInvoices(story)).filter(own)).toMatchObject([
    { billing_periods: [{ invoicing_reason: 'in_advance_charge' }] },
  ]);
  await regenerate(story, ofMarch);
  await use(story, 'later', 2, early);
  await story.advanceTo('2024-03-17T04:00:00Z');
  expect(await amend(story, 'ten', 11)).toEqual([[1000, 0]]);
  expect(await retract(story, 'late')).toEqual([[-5000, 0]]);
  expect(await total(story)).toBe(13_000);
  await sound(story);
});

test('two subscriptions on one invoice: a correction of one bills nothing of the other again', async () => {
  const story = await march({ subscriptions: ['sub', 'other'] });
  const ofOther = { external_subscription_id: 'other' };
  await use(story, 'ten', 10);
  await use(story, 'four', 4, { by: 'other' });
  await story.advanceTo('2024-04-02T00:00:00Z');
  await amend(story, 'ten', 12, { policy: 'debit_invoice' });
  await amend(story, 'four', 1, { ...ofOther });
  await regenerate(story, ofMarch);
  expect(await amend(story, 'four', 3, { ...ofOther, policy: 'debit_invoice' })).toEqual([[2000, 0]]);
  expect(await amend(story, 'ten', 11)).toEqual([[-1000, 0]]);
  expect(await total(story)).toBe(14_000);
  await sound(story);
});

test('a minimum commitment: the new invoice owes what is missing to it after corrections of both invoices', async () => {
  const story = await march({ plan: { minimum_commitment: { amount_cents: 15_000 } } });
  await use(story, 'ten', 10);
  await use(story, 'three', 3);
  await story.advanceTo('2024-04-02T00:00:00Z');
  expect((await amend(story, 'three', 1)).sort()).toEqual([
    [-2000, 0],
    [2000, 0],
  ]);
  await regenerate(story, ofMarch);
  expect((await retract(story, 'three')).sort()).toEqual([
    [-1000, 0],
    [1000, 0],
  ]);
  expect(await total(story)).toBe(15_000);
  expect((await amend(story, 'ten', 21, { policy: 'debit_invoice' })).sort()).toEqual([
    [-5000, 0],
    [11_000, 0],
  ]);
  const [{ fees }] = [(await finalInvoices(story)).find(({ fees_amount_cents }) => fees_amount_cents === 6000)!];
  expect(fees).toMatchObject([{ amount_cents: 6000 }]);
  expect(await total(story)).toBe(21_000);
  await sound(story);
});

test('a coupon: each invoice gives back less its own share of it', async () => {
  const story = await march();
  await ok(
    story.client.post('/coupons', {
      coupon: {
        name: 'C',
        code: 'c',
        coupon_type: 'fixed_amount',
        amount_cents: 3000,
        amount_currency: 'USD',
        frequency: 'once',
        expiration: 'no_expiration',
      },
    }),
  );
  await ok(
    story.client.post('/applied_coupons', { applied_coupon: { external_customer_id: 'acme', coupon_code: 'c' } }),
  );
  await use(story, 'ten', 10);
  await use(story, 'three', 3);
  await story.advanceTo('2024-04-02T00:00:00Z');
  expect(await amend(story, 'three', 1)).toEqual([[-2000, 0]]);
  const made = await regenerate(story, ofMarch);
  expect(made).toMatchObject({ coupons_amount_cents: 3000, sub_total_excluding_taxes_amount_cents: 10_000 });
  expect(await retract(story, 'three')).toEqual([[-1000, 0]]);
  const { credit_notes } = await ok(story.client.get('/credit_notes'));
  // 20.00 and 10.00 of 130.00, of which 30.00 were paid by the coupon: 20.00 − 4.62 and 10.00 − 2.31.
  expect(credit_notes.map((each: Shown) => each.total_amount_cents).sort()).toEqual([1538, 769]);
  expect(await total(story)).toBe(10_000 - 1538 - 769);
  await sound(story);
});

test('usage billed progressively: what a progressive invoice gave back is not billed once more', async () => {
  const story = await march({ plan: { usage_thresholds: [{ amount_cents: 10_000 }] } });
  await use(story, 'ten', 10);
  await use(story, 'two', 2);
  await story.advanceTo('2024-03-10T02:00:00Z');
  await use(story, 'three', 3);
  await story.advanceTo('2024-04-02T00:00:00Z');
  // 150.00 less 120.00 that were billed before: 30.00 on the month and 20.00 on the progressive invoice.
  expect((await amend(story, 'ten', 5)).reduce((sum, [delta]) => sum + delta, 0)).toBe(-5000);
  await regenerate(story, ofMarch);
  await amend(story, 'three', 4, { policy: 'debit_invoice' });
  expect(await total(story)).toBe(11_000);
  await correct(story, { kind: 'retract', transaction_id: 'two' });
  await retract(story, 'three');
  await retract(story, 'ten');
  expect(await total(story)).toBe(0);
  await sound(story);
});
