import { Temporal } from 'temporal-polyfill';
import { analyticsOperations } from '../../../../src/areas/reporting/analytics/routes.ts';
import { createOrganization } from '../../../../src/areas/tenancy/organizations/commands.ts';
import type { Context } from '../../../../src/platform/context.ts';
import type { Db, Sql } from '../../../../src/platform/db/connect.ts';
import { columnValues } from '../../../../src/platform/db/values.ts';
import { newId } from '../../../../src/platform/ids.ts';

export const INTERVALS = ['weekly', 'monthly', 'quarterly', 'semiannual', 'yearly'] as const;
const CURRENCIES = ['EUR', 'USD', 'JPY'] as const;
const ZONES = ['UTC', 'America/Los_Angeles', 'Pacific/Auckland', 'Asia/Kathmandu'] as const;
const START = Temporal.PlainDate.from('2024-01-10');
const DAYS = 500;
/** Lengths of a period at which a month more or less counts. */
const DAYS_AROUND_MONTHS = [29, 30, 31, 59, 60, 61, 90, 91, 92, 121, 122, 152, 153, 181, 182, 183];
export const CREATED_AT = '2024-01-05T10:00:00Z';

/** Numbers that look random and repeat for a seed. */
export class Dice {
  private state: number;
  constructor(seed: number) {
    this.state = seed | 0;
  }
  next(): number {
    this.state = (this.state + 0x6d2b79f5) | 0;
    let t = Math.imul(this.state ^ (this.state >>> 15), 1 | this.state);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 4294967296;
  }
  upTo(most: number): number {
    return Math.floor(this.next() * (most + 1));
  }
  of<Value>(values: readonly Value[]): Value {
    return values[this.upTo(values.length - 1)]!;
  }
  chance(share: number): boolean {
    return this.next() < share;
  }
}

type Row = Record<string, unknown>;

/**
 * An organization whose rows are written straight into the tables, and whose reports are read as the API answers them.
 */
export async function openHistory(sql: Sql, dice: Dice = new Dice(1)) {
  const { organization_id: organizationId } = await createOrganization(sql, { name: 'Acme', sandbox: true });
  await sql`update organizations set created_at = ${CREATED_AT} where id = ${organizationId}`;
  await sql`update billing_entities set created_at = ${CREATED_AT} where id = ${organizationId}`;
  const entities = [organizationId, newId()];
  const at = { created_at: CREATED_AT, updated_at: CREATED_AT };
  const put = (table: string, row: Row) => sql`
    insert into ${sql(table)} ${sql(columnValues({ id: newId(), organization_id: organizationId, ...row }))}`;
  await put('billing_entities', {
    id: entities[1],
    code: 'second',
    name: 'Second',
    document_number_prefix: 'SEC',
    ...at,
  });

  const metrics = ['calls', 'seats'].map((code) => ({ id: newId(), code }));
  for (const { id, code } of metrics)
    await put('billable_metrics', {
      id,
      code,
      name: code,
      aggregation_type: 'sum_agg',
      recurring: code === 'seats',
      ...at,
    });
  const plans = INTERVALS.flatMap((interval) =>
    [true, false].map((pay_in_advance) => ({
      id: newId(),
      code: `${interval}-${pay_in_advance}`,
      interval,
      pay_in_advance,
    })),
  );
  for (const plan of plans)
    await put('plans', { name: 'Plan', amount_cents: 100, amount_currency: 'EUR', ...plan, ...at });

  const customers: { id: string; external_id: string; zone: string; account_type: string; subscriptions: string[] }[] =
    [];
  const subscriptionPlans = new Map<string, (typeof plans)[number]>();
  for (let n = 0; n < 4; n += 1) {
    const customer = {
      id: newId(),
      external_id: `c${n}`,
      account_type: n === 3 ? 'partner' : 'customer',
      customer_type: n % 2 === 0 ? 'company' : 'individual',
      country: n === 0 ? 'FR' : 'US',
      billing_entity_id: entities[n % 2],
    };
    await put('customers', { sequential_id: n + 1, slug: `s-${n}`, ...customer, ...at });
    const subscriptions: string[] = [];
    for (let s = 0; s < 3; s += 1) {
      const id = newId();
      const plan = dice.of(plans);
      await put('subscriptions', {
        id,
        customer_id: customer.id,
        plan_id: plan.id,
        external_id: `${customer.external_id}-${s}`,
        status: 'active',
        subscription_at: CREATED_AT,
        started_at: CREATED_AT,
        ...at,
      });
      subscriptionPlans.set(id, plan);
      subscriptions.push(id);
    }
    customers.push({ ...customer, zone: dice.of(ZONES), subscriptions });
  }

  const someDay = () => START.add({ days: dice.upTo(DAYS) });
  const someInstant = () => `${someDay()}T${String(dice.upTo(23)).padStart(2, '0')}:30:00Z`;
  const cents = () => (dice.chance(0.1) ? 0 : dice.upTo(100_000));
  let made = 0;
  const ordinal = (): number => {
    made += 1;
    return made;
  };

  const fee = (customer: (typeof customers)[number], fields: Row): Row => ({
    billing_entity_id: entities[0],
    customer_id: customer.id,
    item_id: metrics[0]!.id,
    item_code: metrics[0]!.code,
    item_name: 'Item',
    amount_cents: 0,
    amount_currency: 'EUR',
    precise_amount_cents: 0,
    unit_amount_cents: 0,
    precise_unit_amount: 0,
    units: 1,
    total_aggregated_units: 1,
    created_at: someInstant(),
    updated_at: CREATED_AT,
    ...fields,
  });

  async function addInvoice(): Promise<void> {
    const customer = dice.of(customers);
    const id = newId();
    const net = cents();
    const taxes = dice.chance(0.5) ? Math.round(net / 3) : 0;
    const issued = someDay();
    const status = dice.of(['finalized', 'finalized', 'finalized', 'draft', 'voided']);
    const currency = dice.of(CURRENCIES);
    await sql.begin(async (tx) => {
      await tx`insert into invoices ${tx({
        id,
        organization_id: organizationId,
        billing_entity_id: dice.of(entities),
        customer_id: customer.id,
        invoice_type: 'subscription',
        status: 'generating',
        payment_status: dice.of(['pending', 'succeeded', 'failed']),
        self_billed: customer.account_type === 'partner',
        currency,
        timezone: customer.zone,
        issuing_date: String(issued),
        expected_finalization_date: String(issued),
        payment_due_date: String(issued.add({ days: dice.upTo(40) })),
        payment_overdue: dice.chance(0.4),
        net_payment_term: 0,
        sub_total_excluding_taxes_amount_cents: net,
        taxes_amount_cents: taxes,
        sub_total_including_taxes_amount_cents: net + taxes,
        total_amount_cents: Math.max(0, net + taxes - dice.upTo(500)),
        credit_notes_amount_cents: dice.chance(0.2) ? dice.upTo(300) : 0,
        prepaid_granted_credit_amount_cents: dice.chance(0.2) ? dice.upTo(300) : null,
        prepaid_purchased_credit_amount_cents: dice.chance(0.2) ? dice.upTo(300) : null,
        progressive_billing_credit_amount_cents: dice.chance(0.2) ? dice.upTo(300) : 0,
        ...at,
      } as never)}`;
      for (let n = dice.upTo(4); n > 0; n -= 1) {
        const subscription = dice.of(customer.subscriptions);
        const metric = dice.of(metrics);
        const kind = dice.of([
          'charge',
          'charge',
          'subscription',
          'subscription',
          'commitment',
          'add_on',
          'fixed_charge',
          'credit',
        ]);
        const from = someDay();
        const amount = cents();
        const isOfSubscription = kind !== 'add_on' && kind !== 'credit';
        await tx`insert into fees ${tx({
          id: newId(),
          organization_id: organizationId,
          ...fee(customer, {
            invoice_id: id,
            fee_type: kind,
            subscription_id: isOfSubscription ? subscription : null,
            item_id: metric.id,
            item_code: kind === 'charge' ? metric.code : kind,
            amount_cents: amount,
            amount_currency: currency,
            precise_coupons_amount_cents: dice.chance(0.3)
              ? (Math.min(dice.upTo(9999), amount * 100) / 100).toFixed(5)
              : 0,
            from_datetime: dice.chance(0.9)
              ? from.toZonedDateTime({ timeZone: customer.zone }).toInstant().toString()
              : null,
            to_datetime: from
              .add({ days: dice.chance(0.7) ? dice.of(DAYS_AROUND_MONTHS) : 1 + dice.upTo(370) })
              .toZonedDateTime({ timeZone: customer.zone })
              .add({ hours: dice.upTo(23) })
              .toInstant()
              .toString(),
          }),
        } as never)}`;
      }
      await tx`update invoices set status = ${status}, finalized_at = ${CREATED_AT} where id = ${id}`;
    });
  }

  const someRow = async (table: string, condition = sql`true`): Promise<Row | undefined> => {
    const rows = await sql<Row[]>`
      select * from ${sql(table)} where organization_id = ${organizationId} and ${condition} order by id`;
    return rows.length === 0 ? undefined : dice.of(rows);
  };

  const changes: Record<string, () => Promise<unknown>> = {
    addInvoice,
    async changeInvoice() {
      const invoice = await someRow('invoices');
      if (!invoice) return;
      const change = dice.of([
        sql`status = 'voided'`,
        sql`status = 'finalized'`,
        sql`payment_status = 'succeeded', payment_overdue = false, total_paid_amount_cents = total_amount_cents`,
        sql`payment_status = 'failed', total_paid_amount_cents = total_amount_cents / 2`,
        sql`payment_dispute_lost_at = ${CREATED_AT}`,
        sql`total_offsetted_credit_note_amount_cents = total_amount_cents / 3`,
      ]);
      await sql`update invoices set ${change} where id = ${invoice.id as string}`;
    },
    async addCreditNote() {
      const invoice = await someRow('invoices', sql`status = 'finalized'`);
      if (!invoice) return;
      const amount = dice.upTo(2000);
      const refund = dice.upTo(amount);
      await put('credit_notes', {
        billing_entity_id: invoice.billing_entity_id,
        customer_id: invoice.customer_id,
        invoice_id: invoice.id,
        status: dice.of(['draft', 'finalized', 'finalized']),
        sequential_id: ordinal(),
        number: 'CN',
        currency: invoice.currency,
        reason: 'other',
        issuing_date: String(someDay()),
        credit_status: 'available',
        total_amount_cents: amount,
        credit_amount_cents: amount - refund,
        refund_amount_cents: refund,
        offset_amount_cents: 0,
        balance_amount_cents: 0,
        precise_total_amount_cents: amount,
        sub_total_excluding_taxes_amount_cents: amount,
        coupons_adjustment_amount_cents: 0,
        precise_coupons_adjustment_amount_cents: 0,
        taxes_amount_cents: 0,
        precise_taxes_amount_cents: 0,
        taxes_rate: 0,
        ...at,
      });
    },
    async finalizeCreditNote() {
      const note = await someRow('credit_notes', sql`status = 'draft'`);
      if (note) await sql`update credit_notes set status = 'finalized' where id = ${note.id as string}`;
    },
    async addStandaloneFee() {
      const customer = dice.of(customers);
      await put('fees', {
        ...fee(customer, {
          fee_type: 'charge',
          subscription_id: dice.of(customer.subscriptions),
          amount_cents: cents(),
          amount_currency: dice.of(CURRENCIES),
          billing_entity_id: dice.of(entities),
          pay_in_advance: true,
          invoiceable: false,
        }),
      });
    },
    async changeStandaloneFee() {
      const standalone = await someRow('fees', sql`invoice_id is null`);
      if (!standalone) return;
      const invoice = await someRow(
        'invoices',
        sql`customer_id = ${standalone.customer_id as string} and currency = ${standalone.amount_currency as string}`,
      );
      if (invoice && dice.chance(0.6))
        await sql`update fees set invoice_id = ${invoice.id as string} where id = ${standalone.id as string}`;
      else await sql`update fees set deleted_at = ${CREATED_AT} where id = ${standalone.id as string}`;
    },
    async addUsage() {
      const customer = dice.of(customers);
      await put('daily_usages', {
        customer_id: customer.id,
        subscription_id: dice.of(customer.subscriptions),
        external_subscription_id: 'sub',
        // one a day and subscription is kept
        usage_date: String(START.add({ days: ordinal() })),
        from_datetime: CREATED_AT,
        to_datetime: CREATED_AT,
        amount_currency: dice.of(CURRENCIES),
        amount_cents: 0,
        usage: [],
        usage_diff: Array.from({ length: 1 + dice.upTo(2) }, () => {
          const metric = dice.of(metrics);
          return {
            billable_metric_id: metric.id,
            billable_metric_code: metric.code,
            units: `${dice.upTo(50)}.${dice.upTo(99)}`,
            amount_cents: dice.upTo(900) - 100,
          };
        }),
        created_at: CREATED_AT,
      });
    },
    async addWalletTransaction() {
      const customer = dice.of(customers);
      const wallet = newId();
      await put('wallets', {
        id: wallet,
        customer_id: customer.id,
        billing_entity_id: dice.of(entities),
        code: wallet,
        priority: 1,
        currency: dice.of(CURRENCIES),
        rate_amount: 2,
        status: 'active',
        ...at,
      });
      const kind = dice.of(['purchased', 'granted', 'invoiced', 'voided']);
      const isSettled = dice.chance(0.6);
      const credits = dice.upTo(1000);
      await put('wallet_transactions', {
        wallet_id: wallet,
        customer_id: customer.id,
        transaction_type: kind === 'purchased' || kind === 'granted' ? 'inbound' : 'outbound',
        status: isSettled ? 'settled' : 'pending',
        settled_at: isSettled ? someInstant() : null,
        transaction_status: kind,
        source: 'manual',
        amount_cents: credits * 200,
        amount: credits * 2,
        credit_amount: credits,
        priority: 1,
        ...at,
      });
    },
    async settleWalletTransaction() {
      const transaction = await someRow('wallet_transactions', sql`status = 'pending'`);
      if (transaction)
        await sql`update wallet_transactions
          set status = 'settled', settled_at = ${someInstant()} where id = ${transaction.id as string}`;
    },
  };

  return {
    organizationId,
    entities,
    metrics,
    plans,
    customers,
    /** The plan of each subscription. */
    subscriptionPlans,
    put,
    fee,
    changes,
    /** A change by chance; invoices are what changes most. */
    change: () => (dice.chance(0.4) ? addInvoice : changes[dice.of(Object.keys(changes))]!)(),
    rows: (table: string) => sql<Row[]>`
      select * from ${sql(table)} where organization_id = ${organizationId} order by id`,
    /** The answer to a report of the API. */
    read: (operation: string, now: string, query: Row = {}) => readReport(sql, organizationId, operation, now, query),
  };
}

export type History = Awaited<ReturnType<typeof openHistory>>;

export function readReport(
  sql: Db,
  organizationId: string,
  operation: string,
  now: string,
  query: Row = {},
  // biome-ignore lint/suspicious/noExplicitAny: tests look into bodies of every shape
): Promise<any> {
  const { run, query: schema } = analyticsOperations.find(({ name }) => name === operation)!;
  const ctx = { organizationId, db: sql, now: () => Temporal.Instant.from(now) } as unknown as Context;
  return run(ctx, { query: schema!.parse(query) });
}
