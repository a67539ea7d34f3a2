import { afterAll, beforeAll, expect, test } from 'vitest';
import { startService, type TestService } from '../../../support/service.ts';
import { type Invoice, openStory, type Story } from '../../../support/story.ts';
import { until } from '../../../support/until.ts';

// Golden cases of fixed-charges.md#aggregation, fixed-charges.md#change-inside-a-period,
// golden-usage.md#filters-and-fixed-charges as invoices.
let service: TestService;
beforeAll(async () => {
  service = await startService();
});
afterAll(() => service.stop());

const fees = (invoice: Invoice) =>
  invoice.fees
    .filter(({ fee_type, item }: Invoice) => (fee_type ?? item.type) === 'fixed_charge')
    .map((fee: Invoice) => [Number(fee.units), fee.amount_cents]);

const SEATS = {
  add_on_code: 'seat',
  code: 'seats',
  charge_model: 'standard',
  units: 10,
  pay_in_advance: true,
  properties: { amount: '10' },
};

async function open(fixedCharge: object = {}, now = '2024-03-01T00:00:00Z'): Promise<Story> {
  const story = await openStory(service, now);
  await story.customer();
  await story.client.post('/add_ons', {
    add_on: { name: 'Seat', code: 'seat', amount_cents: 1000, amount_currency: 'USD' },
  });
  await story.plan({ amount_cents: 0, pay_in_advance: true, fixed_charges: [{ ...SEATS, ...fixedCharge }] });
  await story.subscribe();
  await story.invoices(1);
  return story;
}

const setUnits = (story: Story, units: number, more: object = { apply_units_immediately: true }) =>
  story.client.put('/plans/plan/fixed_charges/seats', { fixed_charge: { units, ...more } });

test('10, then 15, then 20 units at once bill 10000, 5000 and 5000 (golden case 112)', async () => {
  const story = await open();
  await setUnits(story, 15);
  await story.invoices(2);
  await setUnits(story, 20);
  const invoices = await story.invoices(3);
  expect(invoices.map(fees)).toEqual([[[10, 10000]], [[5, 5000]], [[5, 5000]]]);
  expect(invoices[1]).toMatchObject({
    status: 'finalized',
    billing_periods: [{ invoicing_reason: 'in_advance_charge' }],
    fees: [{ from_date: '2024-03-01T00:00:00Z', to_date: '2024-03-31T23:59:59Z' }],
  });
});

test('10, then 5, then 15 units bill 10000, nothing and 5000 (golden case 113)', async () => {
  const story = await open();
  await setUnits(story, 5);
  await story.invoices(2);
  await setUnits(story, 15);
  expect((await story.invoices(3)).map(fees)).toEqual([[[10, 10000]], [[0, 0]], [[5, 5000]]]);
});

test('many changes of units at the same time bill every unit in use exactly once', async () => {
  const story = await open();
  const wanted = [12, 31, 17, 25, 11, 40, 15, 22];
  const answers = await Promise.all(
    wanted.map((units) =>
      story.client.put('/subscriptions/sub/fixed_charges/seats', {
        fixed_charge: { units, apply_units_immediately: true },
      }),
    ),
  );
  expect(answers.map(({ status }) => status)).toEqual(wanted.map(() => 200));
  const billed = (await story.invoices(1 + wanted.length)).flatMap(fees);
  const total = billed.reduce((sum, [units]) => sum + units!, 0);
  const { body } = await story.client.get('/subscriptions/sub/fixed_charges/seats');
  expect(wanted).toContain(Number(body.fixed_charge.units));
  // A change that another one followed before it was billed is not billed by itself.
  expect(total).toBeGreaterThanOrEqual(Number(body.fixed_charge.units));
  expect(total).toBeLessThanOrEqual(40);
  expect(billed.reduce((sum, [, cents]) => sum + cents!, 0)).toBe(total * 1000);
});

test('units that rise and fall again before anything is billed are billed for the rise', async () => {
  const story = await open();
  await service.sql.begin(async (tx) => {
    // Whoever bills waits for the customer.
    await tx`select from customers where organization_id = ${story.organizationId} for update`;
    await setUnits(story, 20);
    await setUnits(story, 8);
  });
  const invoices = await story.invoices(3);
  expect(invoices.map(fees).sort()).toEqual([[[0, 0]], [[10, 10000]], [[10, 10000]]]);
});

test('new units of a plan are written for all its subscriptions in one statement', async () => {
  const story = await open();
  for (let n = 0; n < 4; n += 1) await story.subscribe({ external_id: `sub${n}` });
  await story.invoices(5);
  await setUnits(story, 15);
  const records = await service.sql<{ count: number }[]>`
    select count(*) from fixed_charge_units where organization_id = ${story.organizationId} and units = 15
      group by xmin`;
  expect(records.map(({ count }) => Number(count))).toEqual([5]);
  expect((await story.invoices(10)).filter((invoice) => fees(invoice)[0]![1] === 5000)).toHaveLength(5);
});

test('units raised inside a prorated period are billed for the days left including today', async () => {
  const story = await open({ prorated: true }, '2024-04-01T00:00:00Z');
  await story.advanceTo('2024-04-16T18:00:00Z');
  await setUnits(story, 16);
  // 6 more units for 15 of 30 days
  expect((await story.invoices(2)).map(fees)).toEqual([[[10, 10000]], [[6, 3000]]]);
});

test('fewer units without the flag hold from the next period on', async () => {
  const story = await open();
  await setUnits(story, 4, {});
  await story.advanceTo('2024-04-01T02:00:00Z');
  expect((await story.invoices(2)).map(fees)).toEqual([[[10, 10000]], [[4, 4000]]]);
});

test('units in arrears that rise in the middle of the month are weighted by their days', async () => {
  const story = await openStory(service, '2025-02-01T00:00:00Z');
  await story.customer();
  await story.client.post('/add_ons', {
    add_on: { name: 'Seat', code: 'seat', amount_cents: 1000, amount_currency: 'USD' },
  });
  const arrears = { ...SEATS, pay_in_advance: false, prorated: true, units: 7, properties: { amount: '1' } };
  await story.plan({ amount_cents: 0, fixed_charges: [arrears] });
  await story.subscribe();
  await story.advanceTo('2025-02-10T09:00:00Z');
  await setUnits(story, 70);
  await story.advanceTo('2025-03-01T02:00:00Z');
  // 7 × 9/28 + 70 × 19/28
  expect((await story.invoices(1)).map(fees)).toEqual([[[70, 4975]]]);
});

test('a subscription with units of its own does not follow the units of its plan', async () => {
  const story = await open();
  const path = '/subscriptions/sub/fixed_charges/seats';
  const own = await story.client.put(path, { fixed_charge: { units: '15', apply_units_immediately: true } });
  expect(own.body.fixed_charge).toMatchObject({ units: 15, code: 'seats' });
  await story.invoices(2);
  await setUnits(story, 30);
  expect((await story.client.get(path)).body.fixed_charge.units).toBe(15);
  expect((await story.client.get('/subscriptions/sub/fixed_charges')).body).toMatchObject({
    fixed_charges: [{ units: 15 }],
    meta: { total_count: 1 },
  });
  expect((await story.client.get('/plans/plan/fixed_charges/seats')).body.fixed_charge.units).toBe(30);
  await story.advanceTo('2024-04-01T02:00:00Z');
  expect((await story.invoices(3)).map(fees)).toEqual([[[10, 10000]], [[5, 5000]], [[15, 15000]]]);
});

test('a deleted fixed charge is no longer billed, and nothing is paid back', async () => {
  const story = await open();
  const gone = await story.client.delete('/plans/plan/fixed_charges/seats');
  expect(gone.body.fixed_charge.code).toBe('seats');
  await story.advanceTo('2024-04-01T02:00:00Z');
  expect((await story.invoices(2)).map(fees)).toEqual([[[10, 10000]], []]);
});

test('a deleted add-on deletes the fixed charges made from it, and fees keep showing it', async () => {
  const story = await open();
  await story.client.delete('/add_ons/seat');
  expect((await story.client.get('/plans/plan')).body.plan.fixed_charges).toEqual([]);
  const [start] = await story.invoices(1);
  expect(start.fees.at(-1).item).toMatchObject({ code: 'seat', name: 'Seat' });
});

test('a draft that is finalized later bills the units that it was made with', async () => {
  const story = await openStory(service, '2024-03-01T00:00:00Z');
  await story.customer({ billing_configuration: { invoice_grace_period: 3 } });
  await story.client.post('/add_ons', {
    add_on: { name: 'Seat', code: 'seat', amount_cents: 1000, amount_currency: 'USD' },
  });
  await story.plan({ amount_cents: 0, pay_in_advance: true, fixed_charges: [SEATS] });
  await story.subscribe();
  await story.invoices(1);
  await story.advanceTo('2024-03-02T00:00:00Z');
  await setUnits(story, 15);
  await story.invoices(2);
  await story.advanceTo('2024-03-04T02:00:00Z');
  const invoices = await until(async () => {
    const list = await story.invoices(2);
    return list.every(({ status }) => status === 'finalized') ? list : undefined;
  });
  expect(invoices.map(fees).sort()).toEqual([[[10, 10000]], [[5, 5000]]]);
});
