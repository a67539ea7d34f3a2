import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { rollUpAnalytics } from '../../../../src/areas/reporting/roll-up-analytics/roll-up.ts';
import { newId } from '../../../../src/platform/ids.ts';
import { createTestDatabase, type TestDatabase } from '../../../support/database.ts';
import { CREATED_AT, type History, openHistory } from './history.ts';

// The examples of analytics.md#reports, analytics.md#recurring-revenue.
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
  { issued, cents, from, to, of = 0 }: { issued: string; cents: number; from?: string; to?: string; of?: number },
): Promise<void> {
  const customer = history.customers[of]!;
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
  const id = await invoice(issued, { status: 'draft', customer_id: customer.id });
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
  await rollUpAnalytics({ db: database.sql, organizationId: history.organizationId });
  expect(await history.read(operation, NOW, query as Record<string, unknown>)).toEqual(first);
  return first;
}

test('gross revenue is net of taxes and refunds and includes an advance fee that is on no invoice', async () => {
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

test('invoice collection counts invoices by payment status and lists months without invoices with zero', async () => {
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

test('overdue balance subtracts what was paid and offset, by the month in which it was due', async () => {
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

describe('monthly recurring revenue', () => {
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

  test.each<[string, string, string, number, string, string, Record<string, number>]>([
    // interval, when billed, issued, cents, period from, to (exclusive), result
    ['quarterly', 'in advance', '2025-01-01', 30_000, '2025-01-01', '2025-04-01', year('2025-01', 10_000, 3)],
    [
      'quarterly',
      'in arrears',
      '2025-04-01',
      10_001,
      '2025-01-01',
      '2025-04-01',
      { '2025-02': 3334, '2025-03': 3334, '2025-04': 3333 },
    ],
    ['quarterly', 'in advance', '2025-02-15', 15_000, '2025-02-15', '2025-04-01', { '2025-02': 7500, '2025-03': 7500 }],
    ['semiannual', 'in advance', '2025-01-01', 60_000, '2025-01-01', '2025-07-01', year('2025-01', 10_000, 6)],
    ['semiannual', 'in arrears', '2025-07-01', 60_000, '2025-01-01', '2025-07-01', year('2025-02', 10_000, 6)],
    ['yearly', 'in advance', '2025-01-15', 120_000, '2025-01-15', '2026-01-15', year('2025-01', 10_000)],
    ['yearly', 'in arrears', '2026-01-01', 120_000, '2025-01-01', '2026-01-01', year('2025-02', 10_000)],
  ])(
    'monthly recurring revenue spreads a %s fee billed %s, issued %s, of %s cents',
    async (interval, billed, issued, cents, from, to, result) => {
      await subscriptionFee(
        { interval, pay_in_advance: billed === 'in advance' },
        { issued, cents, from: `${from}T00:00:00Z`, to: `${to}T00:00:00Z` },
      );
      expect(await mrr()).toEqual(result);
    },
  );

  test('future months appear once they come, and months without revenue are zero in the default currency', async () => {
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

describe('revenue by period', () => {
  const march = { from_date: '2025-03-01', to_date: '2025-03-31', time_granularity: 'monthly' };
  const periodOf = (start: string, end: string) => ({
    organization_id: history.organizationId,
    start_of_period_dt: start,
    end_of_period_dt: end,
    amount_currency: 'EUR',
  });

  test('revenue streams: gross is the four kinds of fees, net is what coupons, credit notes and free credits leave', async () => {
    const id = await invoice('2025-03-10', {
      status: 'draft',
      credit_notes_amount_cents: 200,
      prepaid_granted_credit_amount_cents: 100,
      prepaid_purchased_credit_amount_cents: 400,
      progressive_billing_credit_amount_cents: 50,
    });
    const customer = history.customers[0]!;
    const [subscription_id] = customer.subscriptions;
    for (const fields of [
      { fee_type: 'charge', amount_cents: 6000, precise_coupons_amount_cents: 500, subscription_id },
      { fee_type: 'subscription', amount_cents: 3000, subscription_id },
      { fee_type: 'commitment', amount_cents: 700, subscription_id },
      { fee_type: 'add_on', amount_cents: 300 },
    ])
      await history.put('fees', history.fee(customer, { invoice_id: id, ...fields }));
    await database.sql`update invoices set status = 'finalized' where id = ${id}`;
    expect((await readBoth('findAllRevenueStreams', march)).revenue_streams).toEqual([
      {
        ...periodOf('2025-03-01', '2025-03-31'),
        usage_based_fee_amount_cents: 6000,
        subscription_fee_amount_cents: 3000,
        commitment_fee_amount_cents: 700,
        one_off_fee_amount_cents: 300,
        coupons_amount_cents: 500,
        credit_notes_credits_amount_cents: 200,
        free_credits_amount_cents: 100,
        prepaid_credits_amount_cents: 400,
        progressive_billing_credit_amount_cents: 50,
        contra_revenue_amount_cents: 800,
        gross_revenue_amount_cents: 10_000,
        net_revenue_amount_cents: 9200,
      },
    ]);
  });

  test('prepaid credits report settled transactions by type, in amounts and credits', async () => {
    const customer_id = history.customers[0]!.id;
    const at = { created_at: CREATED_AT, updated_at: CREATED_AT };
    const wallet_id = newId();
    await history.put('wallets', {
      id: wallet_id,
      customer_id,
      billing_entity_id: history.entities[0],
      code: 'w',
      priority: 1,
      currency: 'EUR',
      rate_amount: 2,
      status: 'active',
      ...at,
    });
    for (const [transaction_status, credits, settled_at] of [
      ['purchased', 10, '2025-03-01T00:00:00Z'],
      ['purchased', 2.5, '2025-03-31T23:59:59Z'],
      ['granted', 5, '2025-03-02T00:00:00Z'],
      ['invoiced', 3, '2025-03-15T00:00:00Z'],
      ['voided', 1, '2025-03-20T00:00:00Z'],
      ['purchased', 99, null],
      ['granted', 77, '2025-04-01T00:00:00Z'],
    ] as const)
      await history.put('wallet_transactions', {
        wallet_id,
        customer_id,
        transaction_type: ['purchased', 'granted'].includes(transaction_status) ? 'inbound' : 'outbound',
        status: settled_at === null ? 'pending' : 'settled',
        settled_at,
        transaction_status,
        source: 'manual',
        amount_cents: credits * 200,
        amount: credits * 2,
        credit_amount: credits,
        priority: 1,
        ...at,
      });
    expect((await readBoth('findAllPrepaidCredits', march)).prepaid_credits).toEqual([
      {
        ...periodOf('2025-03-01', '2025-03-31'),
        purchased_amount: '25.0',
        purchased_credits_quantity: '12.5',
        offered_amount: '10.0',
        offered_credits_quantity: '5.0',
        consumed_amount: '6.0',
        consumed_credits_quantity: '3.0',
        voided_amount: '2.0',
        voided_credits_quantity: '1.0',
      },
    ]);
  });

  test('movements of recurring revenue list who came, grew, shrank and left', async () => {
    const monthly = { interval: 'monthly', pay_in_advance: true };
    for (const [issued, cents, of] of [
      ['2025-02-01', 5000, 0],
      ['2025-03-01', 7000, 0],
      ['2025-03-10', 1000, 1],
      ['2025-04-01', 4000, 0],
    ] as const)
      await subscriptionFee(monthly, { issued, cents, of });
    const query = { from_date: '2025-02-01', to_date: '2025-04-30', time_granularity: 'monthly' };
    const still = { mrr_new: 0, mrr_expansion: 0, mrr_contraction: 0, mrr_churn: 0 };
    expect((await readBoth('findAllMrrMovements', query)).mrr_movements).toEqual([
      {
        ...periodOf('2025-02-01', '2025-02-28'),
        ...still,
        starting_mrr: 0,
        mrr_new: 5000,
        mrr_change: 5000,
        ending_mrr: 5000,
      },
      {
        ...periodOf('2025-03-01', '2025-03-31'),
        ...still,
        starting_mrr: 5000,
        mrr_new: 1000,
        mrr_expansion: 2000,
        mrr_change: 3000,
        ending_mrr: 8000,
      },
      {
        ...periodOf('2025-04-01', '2025-04-30'),
        ...still,
        starting_mrr: 8000,
        mrr_contraction: 3000,
        mrr_churn: 1000,
        mrr_change: -4000,
        ending_mrr: 4000,
      },
    ]);
  });
});
