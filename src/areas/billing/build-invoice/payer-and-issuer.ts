import type { Temporal } from 'temporal-polyfill';
import type { Interval } from '../../../engine/calendar/grid.ts';
import type { Period } from '../../../engine/calendar/period.ts';
import type { SwitchKind } from '../../../engine/calendar/terms.ts';
import type { DocumentNumbering } from '../../../engine/invoices/invoice-number.ts';
import type { IssuingDateAdjustment, IssuingDateAnchor } from '../../../engine/invoices/issuing-and-due-dates.ts';
import type { ZeroAmountSetting } from '../../../engine/invoices/zero-amount.ts';
import type { Currency } from '../../../engine/money/currency.ts';
import type { Decimal } from '../../../engine/money/decimal.ts';
import type { Db } from '../../../platform/db/connect.ts';
import type { Scope } from '../../../platform/db/scope.ts';
import type {
  BillingEntityId,
  CustomerId,
  IntegrationId,
  InvoiceId,
  PlanId,
  SubscriptionId,
} from '../../../platform/ids.ts';
import { commitmentOf } from '../../catalog/minimum-commitments/queries.ts';
import { columns, type SubscriptionRow, usageStart } from '../../subscriptions/subscriptions/queries.ts';

/** The billing entity that issues an invoice. */
export interface IssuerFacts {
  id: BillingEntityId;
  timezone: string;
  net_payment_term: number;
  invoice_grace_period: number;
  subscription_invoice_issuing_date_anchor: IssuingDateAnchor;
  subscription_invoice_issuing_date_adjustment: IssuingDateAdjustment;
  document_numbering: DocumentNumbering;
  document_number_prefix: string;
  finalize_zero_amount_invoice: boolean;
}

/** What of a customer decides about its invoices. */
export interface PayerFacts {
  id: CustomerId;
  external_id: string;
  sequential_id: number;
  account_type: 'customer' | 'partner';
  billing_entity_id: BillingEntityId;
  /** Applicable zone. */
  zone: string;
  net_payment_term: number | null;
  invoice_grace_period: number | null;
  subscription_invoice_issuing_date_anchor: IssuingDateAnchor | null;
  subscription_invoice_issuing_date_adjustment: IssuingDateAdjustment | null;
  finalize_zero_amount_invoice: ZeroAmountSetting;
  /** The connection to the tax engine that taxes it, in place of our own rates. */
  tax_engine_id: IntegrationId | null;
}

/** Locks the customer for the rest of the transaction: the first lock of everything that bills (customer → invoice). */
export async function lockPayer({ db, organizationId }: Scope, customerId: CustomerId): Promise<PayerFacts> {
  const [row] = await db<PayerFacts[]>`
    select customer.id, customer.external_id, customer.sequential_id, customer.account_type,
      customer.billing_entity_id, coalesce(customer.timezone, home.timezone) as zone, customer.net_payment_term,
      customer.invoice_grace_period, customer.subscription_invoice_issuing_date_anchor,
      customer.subscription_invoice_issuing_date_adjustment, customer.finalize_zero_amount_invoice,
      (select link.integration_id from integration_customers link
        where link.organization_id = customer.organization_id and link.customer_id = customer.id
          and link.category = 'tax') as tax_engine_id
    from customers customer
    join billing_entities home on home.organization_id = customer.organization_id
      and home.id = customer.billing_entity_id
    where customer.organization_id = ${organizationId} and customer.id = ${customerId}
    for no key update of customer`;
  return row!;
}

const issuerColumns = (db: Db) => db`
  id, timezone, net_payment_term, invoice_grace_period, subscription_invoice_issuing_date_anchor,
  subscription_invoice_issuing_date_adjustment, document_numbering, document_number_prefix,
  finalize_zero_amount_invoice`;

export async function readIssuer({ db, organizationId }: Scope, id: BillingEntityId): Promise<IssuerFacts> {
  const [row] = await db<IssuerFacts[]>`
    select ${issuerColumns(db)} from billing_entities where organization_id = ${organizationId} and id = ${id}`;
  return row!;
}

/** The entity that issues invoices of a subscription: its own one, else the customer's. */
export async function readIssuerOf(
  { db, organizationId }: Scope,
  subscriptionId: SubscriptionId,
  homeEntityId: BillingEntityId,
): Promise<IssuerFacts> {
  const [row] = await db<IssuerFacts[]>`
    select ${issuerColumns(db)} from billing_entities
    where organization_id = ${organizationId} and id = coalesce((select s.billing_entity_id from subscriptions s
      where s.organization_id = ${organizationId} and s.id = ${subscriptionId}), ${homeEntityId})`;
  return row!;
}

/** A subscription to be billed, with its plan, its neighbours in the lineage and its billing history. */
export interface BilledSubscription extends SubscriptionRow {
  plan_code: string;
  plan_name: string;
  plan_description: string | null;
  plan_invoice_display_name: string | null;
  interval: Interval;
  amount_cents: number;
  amount_currency: Currency;
  pay_in_advance: boolean;
  bill_charges_monthly: boolean | null;
  bill_fixed_charges_monthly: boolean | null;
  trial_period: Decimal | null;
  commitment: { amount_cents: number; invoice_display_name: string | null } | null;
  has_fixed_charges: boolean;
  /** Plan of the record that took over, and how, when one did. */
  successor_plan_id: PlanId | null;
  successor_kind: SwitchKind | null;
  /** Whether a periodic run has billed it since the start of its successor, whose first payment it waited for. */
  was_renewed_beside_successor: boolean;
  /**
   * Earliest start of its external id up to this record: a record that is created later and starts earlier does not
   * move its trial.
   */
  first_started_at: Temporal.Instant | null;
  /** Considers only what was billed before this line. */
  is_only_invoice: boolean;
  has_older_fee: boolean;
  has_fee_of_same_day: boolean;
  /** Whether the periodic run of this local day has billed it. */
  has_recurring_line_of_day: boolean;
  billed_on_invoice_id: InvoiceId;
  /** Record of the external id whose usage begins at the instant at which this one ended. */
  heir_id: string | null;
  /** Whether its usage begins at the instant at which another record of the external id ended. */
  is_heir: boolean;
  /** Whether corrections left differences to bill, or have them on this invoice. */
  has_corrections: boolean;
  /** The previous line, when its invoice was made in another time zone. */
  moved_charges: Period | null;
  moved_fixed_charges: Period | null;
}

type Row = Omit<BilledSubscription, 'moved_charges' | 'moved_fixed_charges' | 'billed_on_invoice_id'> & {
  last_zone: string | null;
  last_charges_from: Temporal.Instant | null;
  last_charges_to: Temporal.Instant | null;
  last_fixed_from: Temporal.Instant | null;
  last_fixed_to: Temporal.Instant | null;
};

/**
 * The subscriptions of the lines of one invoice, in no particular order. History is read up to the billing instant, so
 * that a refreshed draft computes what it computed at first.
 */
export async function readBilledSubscriptions(
  { db, organizationId }: Scope,
  ids: readonly SubscriptionId[],
  line: { invoiceId: InvoiceId; at: Temporal.Instant; billedOn: Temporal.PlainDate; zone: string },
): Promise<BilledSubscription[]> {
  const older = db`
    line.organization_id = s.organization_id and line.subscription_id = s.id and not line.regenerated
    and line.invoicing_reason in ('subscription_starting', 'subscription_periodic', 'subscription_terminating')
    and (line.billed_at, line.invoice_id) < (${line.at}::timestamptz, ${line.invoiceId}::uuid)`;
  const itsFee = db`
    cross join lateral (
      select from fees fee
      where fee.organization_id = line.organization_id and fee.invoice_id = line.invoice_id
        and fee.subscription_id = line.subscription_id and fee.fee_type = 'subscription' and fee.deleted_at is null
      offset 0) fee`;
  const rows = await db<Row[]>`
    select ${columns(db)}, plan.code as plan_code, plan.name as plan_name, plan.description as plan_description,
      plan.invoice_display_name as plan_invoice_display_name, plan.interval, plan.amount_cents, plan.amount_currency,
      plan.pay_in_advance, plan.bill_charges_monthly, plan.bill_fixed_charges_monthly, plan.trial_period,
      ${commitmentOf(db, 'plan')} as commitment,
      exists (select from fixed_charges fixed
        where fixed.organization_id = plan.organization_id and fixed.plan_id = plan.id and fixed.deleted_at is null)
        as has_fixed_charges,
      successor.plan_id as successor_plan_id, successor.switch_kind as successor_kind,
      exists (select from invoice_subscriptions line
        where line.organization_id = s.organization_id and line.subscription_id = s.id and line.recurring
          and not line.regenerated and line.billed_on >= (successor.started_at at time zone ${line.zone})::date)
        as was_renewed_beside_successor,
      (select min(record.started_at) from subscriptions record
       where record.organization_id = s.organization_id and record.customer_id = s.customer_id
         and record.external_id = s.external_id
         and (record.created_at, record.id) <= (s.created_at, s.id)) as first_started_at,
      not exists (select from invoice_subscriptions line where ${older}) as is_only_invoice,
      exists (select from invoice_subscriptions line ${itsFee} where ${older}) as has_older_fee,
      exists (select from invoice_subscriptions line ${itsFee}
        where line.billed_on = ${line.billedOn} and ${older}) as has_fee_of_same_day,
      exists (select from invoice_subscriptions line
        where line.organization_id = s.organization_id and line.subscription_id = s.id and line.recurring
          and not line.regenerated and line.billed_on = ${line.billedOn}
          and line.invoice_id <> ${line.invoiceId}) as has_recurring_line_of_day,
      exists (select from correction_adjustments adjustment
        where adjustment.organization_id = s.organization_id and adjustment.subscription_id = s.id
          and adjustment.booked_as <> 'invoice' and adjustment.billed_amount_cents <> 0
            and (adjustment.new_fee_id is null
            or exists (select from fees fee where fee.organization_id = adjustment.organization_id
              and fee.id = adjustment.new_fee_id and fee.invoice_id = ${line.invoiceId}))) as has_corrections,
      (select record.id from subscriptions record
       where record.organization_id = s.organization_id and record.external_id = s.external_id and record.id <> s.id
         and ${usageStart(db, 'record')} = s.terminated_at
       order by record.id limit 1) as heir_id,
      exists (select from subscriptions record
        where record.organization_id = s.organization_id and record.external_id = s.external_id and record.id <> s.id
          and record.terminated_at = ${usageStart(db, 's')}) as is_heir,
      last.timezone as last_zone, last.charges_from_datetime as last_charges_from,
      last.charges_to_datetime as last_charges_to, last.fixed_charges_from_datetime as last_fixed_from,
      last.fixed_charges_to_datetime as last_fixed_to
    from unnest(${ids}::uuid[]) as wanted (id)
    -- by the key alone: for ten ids Postgres would rather read the first 2 000 subscriptions of an organization
    cross join lateral (select * from subscriptions where id = wanted.id offset 0) s
    join plans plan on plan.organization_id = s.organization_id and plan.id = s.plan_id
    left join lateral (
      select next.plan_id, next.started_at, next.switch_kind
      from subscriptions next
      where next.organization_id = s.organization_id and next.previous_subscription_id = s.id
        and next.status in ('active', 'terminated')
      order by next.created_at desc, next.id desc
      limit 1
    ) successor on true
    left join lateral (
      select invoice.timezone, line.charges_from_datetime, line.charges_to_datetime,
        line.fixed_charges_from_datetime, line.fixed_charges_to_datetime
      from invoice_subscriptions line
      join lateral (select organization_id, timezone from invoices where id = line.invoice_id offset 0) invoice
        on invoice.organization_id = line.organization_id
      where ${older}
      order by line.billed_at desc, line.invoice_id desc
      limit 1
    ) last on true
    where s.organization_id = ${organizationId}`;
  return rows.map(({ last_zone, last_charges_from, last_charges_to, last_fixed_from, last_fixed_to, ...row }) => {
    const isMoved = last_zone !== null && last_zone !== line.zone;
    return {
      ...row,
      billed_on_invoice_id: line.invoiceId,
      moved_charges: isMoved ? periodOf(last_charges_from, last_charges_to) : null,
      moved_fixed_charges: isMoved ? periodOf(last_fixed_from, last_fixed_to) : null,
    };
  });
}

const periodOf = (from: Temporal.Instant | null, to: Temporal.Instant | null): Period | null =>
  from === null || to === null ? null : { from, to };
