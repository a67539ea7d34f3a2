import { Temporal } from 'temporal-polyfill';
import { type Decimal, decimal, decimalText, ZERO } from '../../../../src/engine/money/decimal.ts';
import type { History } from './history.ts';

// The reports as analytics.md words them, over all rows at once: slow, and without a line of what they check.

// biome-ignore lint/suspicious/noExplicitAny: rows of any table
type Row = any;
export interface Filters {
  now: string;
  currency?: string;
  entity?: string;
  customer?: string;
}

const ceil = (value: number): number => Math.ceil(value - 1e-9);
const monthOf = (day: Temporal.PlainDate): string => `${day.with({ day: 1 })}`;
const utcDay = (instant: Temporal.Instant): Temporal.PlainDate => instant.toZonedDateTimeISO('UTC').toPlainDate();
export const shown = (amount: Decimal): number => amount.toDecimalPlaces(10).toDecimalPlaces(0).toNumber() + 0;
const earliest = (...days: string[]): string => days.sort()[0]!;
const byText = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);

/** Sums by key, in the order of the keys. */
function sums(
  parts: Iterable<[key: string, amount: Decimal | number, count?: number]>,
): Map<string, [Decimal, number]> {
  const found = new Map<string, [Decimal, number]>();
  for (const [key, amount, count = 0] of parts) {
    const [total, counted] = found.get(key) ?? [ZERO, 0];
    found.set(key, [total.plus(amount), counted + count]);
  }
  return new Map([...found].sort(([a], [b]) => byText(a, b)));
}

export async function loadWorld(history: History) {
  const [invoices, fees, notes, snapshots, transactions, wallets, customers] = (await Promise.all(
    ['invoices', 'fees', 'credit_notes', 'daily_usages', 'wallet_transactions', 'wallets', 'customers'].map(
      history.rows,
    ),
  )) as Row[][] as [Row[], Row[], Row[], Row[], Row[], Row[], Row[]];
  return { history, invoices, fees, notes, snapshots, transactions, wallets, customers };
}
type World = Awaited<ReturnType<typeof loadWorld>>;

const isCounted = (invoice: Row): boolean =>
  invoice.status === 'finalized' && !invoice.self_billed && invoice.payment_dispute_lost_at === null;

const asksFor = (world: World, row: Row, filters: Filters): boolean =>
  (filters.currency === undefined || (row.currency ?? row.amount_currency) === filters.currency) &&
  (filters.entity === undefined || row.billing_entity_id === filters.entity) &&
  (filters.customer === undefined ||
    world.customers.some(({ id, external_id }) => id === row.customer_id && external_id === filters.customer));

const hasBegun = (month: string, now: string): boolean => month <= now.slice(0, 10) && month >= '2024-01-01';
const isoMonth = (month: string): string => `${month}T00:00:00.000Z`;

export function grossRevenue(world: World, filters: Filters) {
  const ofInvoices = world.invoices
    .filter((invoice) => isCounted(invoice) && asksFor(world, invoice, filters))
    .map((invoice): [string, Decimal, number] => {
      const refunds = world.notes
        .filter(({ invoice_id, status }) => invoice_id === invoice.id && status === 'finalized')
        .reduce((total, { refund_amount_cents }) => total + refund_amount_cents, 0);
      const gross = invoice.sub_total_including_taxes_amount_cents;
      const kept = decimal(invoice.total_amount_cents - refunds);
      const net = gross === 0 ? ZERO : kept.times(invoice.sub_total_excluding_taxes_amount_cents).div(gross);
      return [`${monthOf(invoice.issuing_date)} ${invoice.currency} ${invoice.billing_entity_id}`, net, 1];
    });
  const partners = new Set(world.customers.filter((c) => c.account_type === 'partner').map(({ id }) => id));
  const ofFees = world.fees
    .filter((fee) => fee.invoice_id === null && fee.pay_in_advance && fee.deleted_at === null)
    .filter((fee) => !partners.has(fee.customer_id) && asksFor(world, fee, filters))
    .map((fee): [string, number, number] => [
      `${monthOf(utcDay(fee.created_at))} ${fee.amount_currency} ${fee.billing_entity_id}`,
      fee.amount_cents,
      0,
    ]);
  return [...sums([...ofInvoices, ...ofFees])].flatMap(([key, [amount, count]]) => {
    const [month, currency, billing_entity_id] = key.split(' ') as [string, string, string];
    if (!hasBegun(month, filters.now)) return [];
    return [
      { month: isoMonth(month), amount_cents: shown(amount), currency, invoices_count: count, billing_entity_id },
    ];
  });
}

const monthsUntil = (now: string): string[] => {
  const months: string[] = [];
  for (let month = Temporal.PlainDate.from('2024-01-01'); String(month) <= now; month = month.add({ months: 1 }))
    months.push(String(month));
  return months;
};

export function invoiceCollection(world: World, filters: Filters) {
  const found = sums(
    world.invoices
      .filter((invoice) => isCounted(invoice) && asksFor(world, invoice, filters))
      .map((invoice) => [
        `${monthOf(invoice.issuing_date)} ${invoice.currency} ${invoice.payment_status}`,
        invoice.total_amount_cents,
        1,
      ]),
  );
  return monthsUntil(filters.now).flatMap((month): object[] => {
    const rows = [...found].filter(([key]) => key.startsWith(month));
    if (rows.length === 0)
      return filters.currency === undefined ? [{ month: isoMonth(month), invoices_count: 0, amount_cents: 0 }] : [];
    return rows.map(([key, [amount, count]]) => {
      const [, currency, payment_status] = key.split(' ');
      return { month: isoMonth(month), payment_status, invoices_count: count, amount_cents: shown(amount), currency };
    });
  });
}

export function invoicedUsage(world: World, filters: Filters) {
  const counted = new Map(world.invoices.filter(isCounted).map((invoice) => [invoice.id, invoice]));
  const found = sums(
    world.fees
      .filter((fee) => fee.fee_type === 'charge' && fee.deleted_at === null && counted.has(fee.invoice_id))
      .filter((fee) => asksFor(world, { ...counted.get(fee.invoice_id), currency: fee.amount_currency }, filters))
      .map((fee) => [
        `${monthOf(utcDay(fee.created_at))} ${fee.item_code} ${fee.amount_currency}`,
        decimal(fee.amount_cents).minus(fee.precise_coupons_amount_cents),
      ]),
  );
  return [...found]
    .filter(([key]) => hasBegun(key.slice(0, 10), filters.now))
    .map(([key, [amount]]) => {
      const [month, code, currency] = key.split(' ') as [string, string, string];
      return { month: isoMonth(month), code, currency, amount_cents: shown(amount), exact: amount };
    })
    .sort(
      (a, b) =>
        byText(b.month, a.month) || b.exact.cmp(a.exact) || byText(a.code, b.code) || byText(a.currency, b.currency),
    )
    .map(({ exact: _, ...row }) => row);
}

/** What each subscription fee adds to which month; weekly ones whole, told apart. */
function* recurring(
  world: World,
  filters: Filters,
): Generator<{ month: string; currency: string; customer: string; weekly: boolean; cents: Decimal }> {
  const counted = new Map(world.invoices.filter(isCounted).map((invoice) => [invoice.id, invoice]));
  for (const fee of world.fees) {
    const invoice = counted.get(fee.invoice_id);
    if (fee.fee_type !== 'subscription' || fee.deleted_at !== null || !invoice) continue;
    if (!asksFor(world, { ...invoice, currency: fee.amount_currency }, filters)) continue;
    const plan = world.history.subscriptionPlans.get(fee.subscription_id)!;
    const months = { weekly: 1, monthly: 1, quarterly: 3, semiannual: 6, yearly: 12 }[plan.interval];
    let k = months;
    if (fee.from_datetime !== null) {
      const zone = invoice.timezone;
      const from = fee.from_datetime.toZonedDateTimeISO(zone).toPlainDate();
      const to = fee.to_datetime.subtract({ microseconds: 1 }).toZonedDateTimeISO(zone).toPlainDate();
      k = Math.min(months, Math.max(1, ceil((from.until(to).days + 1) / 30.44)));
    }
    const cents = decimal(fee.amount_cents).minus(fee.precise_coupons_amount_cents).toDecimalPlaces(0);
    const even = cents.div(k).floor();
    const rest = cents.minus(even.times(k)).toNumber();
    for (let n = 0; n < k; n += 1) {
      const month = invoice.issuing_date.with({ day: 1 }).add({ months: plan.pay_in_advance ? n : n - (k - 1) });
      yield {
        month: String(month),
        currency: fee.amount_currency,
        customer: fee.customer_id,
        weekly: plan.interval === 'weekly',
        cents: even.plus(n < rest ? 1 : 0),
      };
    }
  }
}

/** Recurring revenue by month, currency and, where told apart, customer. */
function mrrBy(
  world: World,
  filters: Filters,
  keyOf: (part: { month: string; currency: string; customer: string }) => string,
) {
  const parts = [...recurring(world, filters)];
  const even = sums(parts.filter(({ weekly }) => !weekly).map((part) => [keyOf(part), part.cents]));
  const weekly = sums(parts.filter((part) => part.weekly).map((part) => [keyOf(part), part.cents, 1]));
  return sums([
    ...[...even].map(([key, [amount]]): [string, Decimal] => [key, amount]),
    ...[...weekly].map(([key, [amount, count]]): [string, Decimal] => [key, amount.div(count).times('4.33')]),
  ]);
}

export function mrr(world: World, filters: Filters) {
  const found = mrrBy(world, filters, ({ month, currency }) => `${month} ${currency}`);
  return monthsUntil(filters.now).flatMap((month) => {
    const rows = [...found].filter(([key]) => key.startsWith(month));
    if (rows.length === 0) return [{ month: isoMonth(month), amount_cents: 0, currency: filters.currency ?? 'USD' }];
    return rows.map(([key, [amount]]) => ({
      month: isoMonth(month),
      amount_cents: shown(amount),
      currency: key.split(' ')[1],
    }));
  });
}

export function overdueBalance(world: World, filters: Filters) {
  const overdue = world.invoices
    .filter((i) => i.status === 'finalized' && !i.self_billed && i.payment_overdue && asksFor(world, i, filters))
    .sort((a, b) => byText(`${a.payment_due_date} ${a.id}`, `${b.payment_due_date} ${b.id}`));
  const keyOf = (i: Row) => `${monthOf(i.payment_due_date)} ${i.currency} ${i.billing_entity_id}`;
  const found = sums(
    overdue.map((i) => [
      keyOf(i),
      i.total_amount_cents - i.total_paid_amount_cents - i.total_offsetted_credit_note_amount_cents,
    ]),
  );
  return [...found].flatMap(([key, [amount]]) => {
    const [month, currency, billing_entity_id] = key.split(' ') as [string, string, string];
    if (!hasBegun(month, filters.now)) return [];
    const svc_invoice_ids = overdue.filter((invoice) => keyOf(invoice) === key).map(({ id }) => id);
    return [{ month: isoMonth(month), amount_cents: shown(amount), currency, svc_invoice_ids, billing_entity_id }];
  });
}

export interface Range {
  from: string;
  to: string;
  granularity: 'daily' | 'weekly' | 'monthly';
}

const startOf = (day: Temporal.PlainDate, granularity: Range['granularity']): Temporal.PlainDate =>
  granularity === 'monthly'
    ? day.with({ day: 1 })
    : granularity === 'weekly'
      ? day.subtract({ days: day.dayOfWeek - 1 })
      : day;
const isIn = (day: Temporal.PlainDate, { from, to }: Range): boolean => String(day) >= from && String(day) <= to;
const LENGTHS = { daily: { days: 1 }, weekly: { days: 7 }, monthly: { months: 1 } } as const;

function period(world: World, start: string, currency: string, { granularity }: Range) {
  const end = Temporal.PlainDate.from(start).add(LENGTHS[granularity]).subtract({ days: 1 });
  return {
    organization_id: world.history.organizationId,
    start_of_period_dt: start,
    end_of_period_dt: String(end),
    amount_currency: currency,
  };
}

export function usage(world: World, range: Range, keeps: (snapshot: Row) => boolean = () => true) {
  const units: [string, Decimal][] = [];
  const amounts: [string, number][] = [];
  for (const snapshot of world.snapshots)
    if (isIn(snapshot.usage_date, range) && keeps(snapshot))
      for (const added of snapshot.usage_diff) {
        const key = `${startOf(snapshot.usage_date, range.granularity)} ${added.billable_metric_code} ${snapshot.amount_currency}`;
        units.push([key, decimal(added.units)]);
        amounts.push([key, added.amount_cents]);
      }
  const totalUnits = sums(units);
  return [...sums(amounts)].map(([key, [amount]]) => {
    const [start, code, currency] = key.split(' ') as [string, string, string];
    return {
      ...period(world, start, currency, range),
      amount_cents: shown(amount),
      billable_metric_code: code,
      units: decimalText(totalUnits.get(key)![0]),
      is_billable_metric_deleted: false,
    };
  });
}

const KIND_OF_FEE: Record<string, string> = {
  charge: 'usage_based_fee',
  commitment: 'commitment_fee',
  add_on: 'one_off_fee',
};

export function revenueStreams(world: World, range: Range) {
  const parts: [string, Decimal | number][] = [];
  for (const invoice of world.invoices.filter((each) => isCounted(each) && isIn(each.issuing_date, range))) {
    const fees = world.fees.filter(
      (f) => f.invoice_id === invoice.id && f.fee_type !== 'credit' && f.deleted_at === null,
    );
    if (fees.length === 0) continue;
    const key = (stream: string) => `${startOf(invoice.issuing_date, range.granularity)} ${invoice.currency} ${stream}`;
    for (const fee of fees) {
      parts.push([key(KIND_OF_FEE[fee.fee_type] ?? 'subscription_fee'), fee.amount_cents]);
      parts.push([key('coupons'), fee.precise_coupons_amount_cents]);
    }
    parts.push([key('credit_notes_credits'), invoice.credit_notes_amount_cents]);
    parts.push([key('free_credits'), invoice.prepaid_granted_credit_amount_cents ?? 0]);
    parts.push([key('prepaid_credits'), invoice.prepaid_purchased_credit_amount_cents ?? 0]);
    parts.push([key('progressive_billing_credit'), invoice.progressive_billing_credit_amount_cents]);
  }
  const counted = parts.filter(([, amount]) => !decimal(amount).isZero());
  const found = sums(counted);
  const periods = [...new Set([...found.keys()].map((key) => key.split(' ').slice(0, 2).join(' ')))];
  return periods.map((name) => {
    const [start, currency] = name.split(' ') as [string, string];
    const of = (stream: string) => shown(found.get(`${name} ${stream}`)?.[0] ?? ZERO);
    const streams = [
      'usage_based_fee',
      'subscription_fee',
      'commitment_fee',
      'one_off_fee',
      'coupons',
      'credit_notes_credits',
      'free_credits',
      'prepaid_credits',
      'progressive_billing_credit',
    ];
    const gross = of('usage_based_fee') + of('subscription_fee') + of('commitment_fee') + of('one_off_fee');
    const contra = of('coupons') + of('credit_notes_credits') + of('free_credits');
    return {
      ...period(world, start, currency, range),
      ...Object.fromEntries(streams.map((stream) => [`${stream}_amount_cents`, of(stream)])),
      contra_revenue_amount_cents: contra,
      gross_revenue_amount_cents: gross,
      net_revenue_amount_cents: gross - contra,
    };
  });
}

export function prepaidCredits(world: World, range: Range) {
  const currencies = new Map(world.wallets.map(({ id, currency }) => [id, currency]));
  const settled = world.transactions.filter((t) => t.status === 'settled' && isIn(utcDay(t.settled_at), range));
  const keyOf = (t: Row) => `${startOf(utcDay(t.settled_at), range.granularity)} ${currencies.get(t.wallet_id)}`;
  const names: Record<string, string> = { granted: 'offered', invoiced: 'consumed' };
  const of = (field: string) =>
    sums(settled.map((t) => [`${keyOf(t)} ${names[t.transaction_status] ?? t.transaction_status}`, t[field]]));
  const amounts = of('amount');
  const credits = of('credit_amount');
  return [...new Set(settled.map(keyOf))].sort(byText).map((name) => {
    const [start, currency] = name.split(' ') as [string, string];
    return {
      ...period(world, start, currency, range),
      ...Object.fromEntries(
        ['purchased', 'offered', 'consumed', 'voided'].flatMap((kind) => [
          [`${kind}_amount`, decimalText(amounts.get(`${name} ${kind}`)?.[0] ?? ZERO)],
          [`${kind}_credits_quantity`, decimalText(credits.get(`${name} ${kind}`)?.[0] ?? ZERO)],
        ]),
      ),
    };
  });
}

/** Day by day from the first one on, then gathered by period. */
export function mrrMovements(world: World, range: Range, filters: Filters) {
  const found = mrrBy(world, filters, ({ month, currency, customer }) => `${month} ${currency} ${customer}`);
  const level = (month: Temporal.PlainDate, currency: string, customer: string) =>
    shown(found.get(`${month.with({ day: 1 })} ${currency} ${customer}`)?.[0] ?? ZERO);
  const currencies = [...new Set([...found.keys()].map((key) => key.split(' ')[1]!))].sort(byText);
  const customers = world.customers.map(({ id }) => id);
  const last = earliest(range.to, filters.now.slice(0, 10));
  const periods = new Set<string>();
  for (let day = Temporal.PlainDate.from(range.from); String(day) <= last; day = day.add({ days: 1 }))
    periods.add(String(startOf(day, range.granularity)));
  return [...periods].flatMap((start) =>
    currencies.flatMap((currency) => {
      const first = Temporal.PlainDate.from(start);
      const whole = period(world, start, currency, range);
      const end = Temporal.PlainDate.from(earliest(whole.end_of_period_dt, last));
      const moves = { mrr_new: 0, mrr_expansion: 0, mrr_contraction: 0, mrr_churn: 0 };
      let moved = false;
      for (let day = first; String(day) <= String(end); day = day.add({ days: 1 })) {
        if (day.day !== 1) continue;
        for (const customer of customers) {
          const before = level(day.subtract({ days: 1 }), currency, customer);
          const after = level(day, currency, customer);
          moved ||= before > 0 || after > 0;
          if (before === 0) moves.mrr_new += after;
          else if (after === 0) moves.mrr_churn += before;
          else if (after > before) moves.mrr_expansion += after - before;
          else moves.mrr_contraction += before - after;
        }
      }
      const total = (day: Temporal.PlainDate) =>
        customers.reduce((sum, customer) => sum + level(day, currency, customer), 0);
      const starting_mrr = total(first.subtract({ days: 1 }));
      const ending_mrr = total(end);
      if (starting_mrr === 0 && ending_mrr === 0 && !moved) return [];
      return [{ ...whole, starting_mrr, ...moves, mrr_change: ending_mrr - starting_mrr, ending_mrr }];
    }),
  );
}
