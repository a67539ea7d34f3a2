import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { rollUpAnalytics } from '../../../src/flows/roll-up-analytics/roll-up.ts';
import { newId } from '../../../src/platform/ids.ts';
import { createTestDatabase, type TestDatabase } from '../../support/database.ts';
import { CREATED_AT, type History, openHistory } from './history.ts';

// The examples of platform I.2 and I.3.
const NOW = '2026-01-20T00:00:00Z';
let database: TestDatabase;
let history: History;

beforeAll(async () => {
  database = await createTestDatabase();
});
afterAll(() => database.drop());
beforeEach(async () => {
  history = await openHistory(database.sql);
});

const month = (text: string): string => `${text}-01T00:00:00.000Z`;

async function invoice(issued: string, fields: object = {}): Promise<string> {
  const id = newId();
  await history.put('invoices', {
    id,
    billing_entity_id: history.entities[0],
    customer_id: history.customers[0]!.id,
    invoice_type: 'subscription',
    status: 'finalized',
    currency: 'EUR',
    timezone: 'UTC',
    issuing_date: issued,
    expected_finalization_date: issued,
    payment_due_date: issued,
    net_payment_term: 0,
    created_at: CREATED_AT,
    updated_at: CREATED_AT,
    ...fields,
  });
  return id;
}

async function subscriptionFee(
  plan: { interval: string; pay_in_advance: boolean },
  { issued, cents, from, to }: { issued: string; cents: number; from?: string; to?: string },
): Promise<void> {
  const customer = history.customers[0]!;
  const subscription = newId();
  await history.put('subscriptions', {
    id: subscription,
    customer_id: customer.id,
    plan_id: history.plans.find((p) => p.interval === plan.interval && p.pay_in_advance === plan.pay_in_advance)!.id,
    external_id: subscription,
    status: 'active',
    subscription_at: CREATED_AT,
    created_at: CREATED_AT,
    updated_at: CREATED_AT,
  });
  const id = await invoice(issued, { status: 'draft' });
  await history.put('fees', {
    ...history.fee(customer, {
      fee_type: 'subscription',
      invoice_id: id,
      subscription_id: subscription,
      amount_cents: cents,
      from_datetime: from ?? null,
      to_datetime: to ?? null,
    }),
  });
  await database.sql`update invoices set status = 'finalized' where id = ${id}`;
}

/** Both ways to read: before the pool has counted, and after. */
async function readBoth(operation: string, query: object) {
  const first = await history.read(operation, NOW, query as Record<string, unknown>);
  await rollUpAnalytics(database.sql, history.organizationId);
  expect(await history.read(operation, NOW, query as Record<string, unknown>)).toEqual(first);
  return first;
}

test('gross revenue: net of taxes and refunds, with an advance fee that is on no invoice', async () => {
  const id = await invoice('2025-03-10', {
    sub_total_excluding_taxes_amount_cents: 10_000,
    taxes_amount_cents: 2000,
    sub_total_including_taxes_amount_cents: 12_000,
    total_amount_cents: 12_000,
  });
  await history.put('credit_notes', {
    billing_entity_id: history.entities[0],
    customer_id: history.customers[0]!.id,
    invoice_id: id,
    status: 'finalized',
    sequential_id: 1,
    number: 'CN',
    currency: 'EUR',
    reason: 'other',
    issuing_date: '2025-04-02',
    credit_status: 'available',
    total_amount_cents: 1200,
    credit_amount_cents: 0,
    refund_amount_cents: 1200,
    offset_amount_cents: 0,
    balance_amount_cents: 0,
    precise_total_amount_cents: 1200,
    sub_total_excluding_taxes_amount_cents: 1000,
    coupons_adjustment_amount_cents: 0,
    precise_coupons_adjustment_amount_cents: 0,
    taxes_amount_cents: 200,
    precise_taxes_amount_cents: 200,
    taxes_rate: 20,
    created_at: CREATED_AT,
    updated_at: CREATED_AT,
  });
  await history.put('fees', {
    ...history.fee(history.customers[0]!, {
      fee_type: 'charge',
      amount_cents: 500,
      pay_in_advance: true,
      created_at: '2025-03-31T23:59:59Z',
    }),
  });
  expect((await readBoth('findAllGrossRevenues', {})).gross_revenues).toEqual([
    {
      month: month('2025-03'),
      amount_cents: 9500,
      currency: 'EUR',
      invoices_count: 1,
      billing_entity_id: history.entities[0],
    },
  ]);
});

test('invoice collection: invoices by payment status, months without any in between', async () => {
  await invoice('2025-03-01', { total_amount_cents: 12_000, payment_status: 'succeeded' });
  await invoice('2025-03-15', { total_amount_cents: 6000, payment_status: 'succeeded' });
  await invoice('2025-03-31', { total_amount_cents: 3000 });
  const { invoice_collections: rows } = await readBoth('findAllInvoiceCollections', {});
  expect(rows).toHaveLength(26);
  expect(rows[13]).toEqual({ month: month('2025-02'), invoices_count: 0, amount_cents: 0 });
  expect(rows.slice(14, 16)).toEqual([
    { month: month('2025-03'), payment_status: 'pending', invoices_count: 1, amount_cents: 3000, currency: 'EUR' },
    { month: month('2025-03'), payment_status: 'succeeded', invoices_count: 2, amount_cents: 18_000, currency: 'EUR' },
  ]);
});

test('overdue balance: less what was paid and offset, by the month in which it was due', async () => {
  const id = await invoice('2025-01-10', {
    total_amount_cents: 10_000,
    total_paid_amount_cents: 2500,
    total_offsetted_credit_note_amount_cents: 1500,
    payment_due_date: '2025-02-10',
    payment_overdue: true,
  });
  expect((await readBoth('findAllOverdueBalances', {})).overdue_balances).toEqual([
    {
      month: month('2025-02'),
      amount_cents: 6000,
      currency: 'EUR',
      svc_invoice_ids: [id],
      billing_entity_id: history.entities[0],
    },
  ]);
});

describe('recurring revenue', () => {
  const mrr = async () =>
    Object.fromEntries(
      (await readBoth('findAllMrrs', {})).mrrs
        .filter(({ amount_cents }: { amount_cents: number }) => amount_cents > 0)
        .map(({ month: of, amount_cents }: { month: string; amount_cents: number }) => [of.slice(0, 7), amount_cents]),
    );
  const year = (from: string, cents: number, months = 12) => {
    const [first, start] = from.split('-').map(Number) as [number, number];
    return Object.fromEntries(
      Array.from({ length: months }, (_, n) => {
        const at = start - 1 + n;
        return [`${first + Math.floor(at / 12)}-${String((at % 12) + 1).padStart(2, '0')}`, cents];
      }),
    );
  };

  test('a monthly fee counts in the month of its invoice', async () => {
    await subscriptionFee({ interval: 'monthly', pay_in_advance: true }, { issued: '2025-03-01', cents: 5000 });
    expect(await mrr()).toEqual({ '2025-03': 5000 });
  });

  test('weekly fees count with their average times 4.33', async () => {
    for (const cents of [1000, 1000, 1000, 1000, 1500])
      await subscriptionFee({ interval: 'weekly', pay_in_advance: false }, { issued: '2025-03-10', cents });
    expect(await mrr()).toEqual({ '2025-03': 4763 });
  });

  test.each<[string, boolean, string, number, string, string, Record<string, number>]>([
    // interval, in advance, issued, cents, period from, to (exclusive), result
    ['quarterly', true, '2025-01-01', 30_000, '2025-01-01', '2025-04-01', year('2025-01', 10_000, 3)],
    [
      'quarterly',
      false,
      '2025-04-01',
      10_001,
      '2025-01-01',
      '2025-04-01',
      { '2025-02': 3334, '2025-03': 3334, '2025-04': 3333 },
    ],
    ['quarterly', true, '2025-02-15', 15_000, '2025-02-15', '2025-04-01', { '2025-02': 7500, '2025-03': 7500 }],
    ['semiannual', true, '2025-01-01', 60_000, '2025-01-01', '2025-07-01', year('2025-01', 10_000, 6)],
    ['semiannual', false, '2025-07-01', 60_000, '2025-01-01', '2025-07-01', year('2025-02', 10_000, 6)],
    ['yearly', true, '2025-01-15', 120_000, '2025-01-15', '2026-01-15', year('2025-01', 10_000)],
    ['yearly', false, '2026-01-01', 120_000, '2025-01-01', '2026-01-01', year('2025-02', 10_000)],
  ])(
    'a %s fee, in advance %s, issued %s, of %s cents',
    async (interval, pay_in_advance, issued, cents, from, to, result) => {
      await subscriptionFee(
        { interval, pay_in_advance },
        { issued, cents, from: `${from}T00:00:00Z`, to: `${to}T00:00:00Z` },
      );
      expect(await mrr()).toEqual(result);
    },
  );

  test('months to come appear once they are there, months without any are zero in the default currency', async () => {
    await subscriptionFee({ interval: 'yearly', pay_in_advance: true }, { issued: '2025-12-15', cents: 12_000 });
    const { mrrs } = await readBoth('findAllMrrs', { months: '3' });
    expect(mrrs).toEqual([
      { month: month('2025-11'), amount_cents: 0, currency: 'USD' },
      { month: month('2025-12'), amount_cents: 1000, currency: 'EUR' },
      { month: month('2026-01'), amount_cents: 1000, currency: 'EUR' },
    ]);
    expect((await readBoth('findAllMrrs', { months: '1', currency: 'gbp' })).mrrs).toEqual([
      { month: month('2026-01'), amount_cents: 0, currency: 'GBP' },
    ]);
  });
});
