import { afterAll, beforeAll, expect, test } from 'vitest';
import { startService, type TestService } from '../../../support/service.ts';
import { type Invoice, openStory, type Story } from '../../../support/story.ts';

// Golden cases of golden-invoices.md#starts-and-periodic-runs, golden-invoices.md#upgrade-and-downgrade with fixed
// charges, and the examples of in-advance.md#fees-in-advance.
let service: TestService;
beforeAll(async () => {
  service = await startService();
});
afterAll(() => service.stop());

/** Amounts by item code, or by type where that says more. */
const amounts = (invoice: Invoice): Record<string, number> =>
  Object.fromEntries(
    invoice.fees.map((fee: Invoice) => [
      fee.item.type === 'fixed_charge' ? fee.item.code : fee.item.type,
      fee.amount_cents,
    ]),
  );

async function addOns(story: Story, ...codes: string[]): Promise<void> {
  await story.customer();
  for (const code of codes)
    await story.client.post('/add_ons', {
      add_on: { name: code, code, amount_cents: 1000, amount_currency: 'USD' },
    });
}

const fixed = (add_on_code: string, units: number, amount: string, more: object = {}) => ({
  add_on_code,
  charge_model: 'standard',
  units,
  properties: { amount },
  pay_in_advance: true,
  prorated: true,
  ...more,
});

const oldAndNew = async (story: Story, more: object = {}) => {
  await addOns(story, 'a1', 'a2', 'a3');
  await story.plan({
    amount_cents: 100,
    fixed_charges: [fixed('a1', 10, '1', more), fixed('a2', 5, '3', more)],
  });
  await story.plan({
    code: 'big',
    amount_cents: 10000,
    fixed_charges: [fixed('a2', 10, '10', more), fixed('a3', 1, '20', more)],
  });
};

test('the start of a plan in arrears bills its fixed charges in advance and nothing else (G15)', async () => {
  const story = await openStory(service, '2024-01-01T00:00:00Z');
  await addOns(story, 'a1');
  await story.plan({ amount_cents: 0, fixed_charges: [fixed('a1', 10, '10', { prorated: false })] });
  await story.subscribe();
  const [start] = await story.invoices(1);
  expect(amounts(start)).toEqual({ a1: 10000 });
  expect(start).toMatchObject({
    status: 'finalized',
    billing_periods: [{ invoicing_reason: 'in_advance_charge' }],
    fees: [{ units: '10.0', pay_in_advance: true, item: { item_type: 'AddOn' } }],
  });
  expect(start.fees[0].svc_fixed_charge_id).not.toBeNull();
});

test('an upgrade takes off what the old plan paid for the add-on that both have (G57)', async () => {
  const story = await openStory(service, '2023-07-19T12:12:00Z');
  await oldAndNew(story);
  await story.subscribe();
  await story.advanceTo('2023-08-01T02:00:00Z');
  await story.advanceTo('2023-08-21T12:00:00Z');
  await story.subscribe({ plan_code: 'big' });
  await story.invoices(3);
  await story.advanceTo('2023-09-01T02:00:00Z');
  const invoices = await story.invoices(4);
  expect(invoices.map(amounts)).toEqual([
    { a1: 419, a2: 629 },
    { subscription: 42, a1: 1000, a2: 1500 },
    { subscription: 65, a2: 3016, a3: 710 },
    { subscription: 3548, a2: 10000, a3: 2000 },
  ]);
});

test('fixed charges in arrears are billed for the days of each plan, the upgrade day by both (G58)', async () => {
  const story = await openStory(service, '2023-08-01T00:00:00Z');
  await oldAndNew(story, { pay_in_advance: false });
  await story.subscribe();
  await story.advanceTo('2023-08-21T12:00:00Z');
  await story.subscribe({ plan_code: 'big' });
  await story.invoices(1);
  await story.advanceTo('2023-10-01T02:00:00Z');
  const invoices = await story.invoices(3);
  expect(invoices.map(amounts)).toEqual([
    { subscription: 65, a1: 677, a2: 1016 },
    { subscription: 3548, a2: 3548, a3: 710 },
    { subscription: 10000, a2: 10000, a3: 2000 },
  ]);
});

test('a downgrade bills the old month and the new fixed charges on one invoice (G59)', async () => {
  const story = await openStory(service, '2023-08-01T00:00:00Z');
  await addOns(story, 'a2', 'a3');
  await story.plan({ amount_cents: 10000, fixed_charges: [fixed('a2', 5, '3')] });
  await story.plan({
    code: 'small',
    amount_cents: 1000,
    fixed_charges: [fixed('a2', 10, '10'), fixed('a3', 1, '20')],
  });
  await story.subscribe();
  await story.invoices(1);
  await story.subscribe({ plan_code: 'small' });
  await story.advanceTo('2023-09-01T02:00:00Z');
  const [, september] = await story.invoices(2);
  expect(amounts(september)).toEqual({ subscription: 10000, a2: 10000, a3: 2000 });
  expect(september.billing_periods).toHaveLength(2);
});

test('a subscription that ends bills its fixed charges in arrears up to its day and none in advance', async () => {
  const story = await openStory(service, '2024-04-01T00:00:00Z');
  await addOns(story, 'a1', 'a2');
  await story.plan({
    amount_cents: 0,
    fixed_charges: [fixed('a1', 10, '1'), fixed('a2', 10, '3', { pay_in_advance: false })],
  });
  await story.subscribe();
  await story.invoices(1);
  await story.advanceTo('2024-04-15T10:00:00Z');
  await story.client.delete('/subscriptions/sub');
  const [, closing] = await story.invoices(2);
  expect(amounts(closing)).toEqual({ subscription: 0, a2: 1500 });
});

test('a yearly plan bills its fixed charges monthly when it is set so', async () => {
  const story = await openStory(service, '2024-01-01T00:00:00Z');
  await addOns(story, 'a1', 'a2');
  await story.plan({
    amount_cents: 12000,
    interval: 'yearly',
    bill_fixed_charges_monthly: true,
    fixed_charges: [fixed('a1', 1, '7'), fixed('a2', 1, '5', { pay_in_advance: false })],
  });
  await story.subscribe();
  await story.advanceTo('2024-03-01T02:00:00Z');
  const invoices = await story.invoices(3);
  expect(invoices.map(amounts)).toEqual([{ a1: 700 }, { a1: 700, a2: 500 }, { a1: 700, a2: 500 }]);
});

test('a trial bills only fixed charges in advance, and not again when it ends', async () => {
  const story = await openStory(service, '2024-01-01T00:00:00Z');
  await addOns(story, 'a1');
  await story.plan({
    amount_cents: 3100,
    pay_in_advance: true,
    trial_period: 10,
    fixed_charges: [fixed('a1', 1, '7')],
  });
  await story.subscribe();
  await story.invoices(1);
  await story.advanceTo('2024-01-12T00:00:00Z');
  const invoices = await story.invoices(2);
  expect(invoices.map(amounts)).toEqual([{ a1: 700 }, { subscription: 2100 }]);
});
