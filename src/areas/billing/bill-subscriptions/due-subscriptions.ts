import type { Temporal } from 'temporal-polyfill';
import { z } from 'zod';
import type { Interval } from '../../../engine/calendar/grid.ts';
import type { Db } from '../../../platform/db/connect.ts';
import { inReach } from '../../../platform/db/in-reach.ts';
import type { Scope } from '../../../platform/db/scope.ts';
import type { CustomerId, InvoiceId, OrganizationId, SubscriptionId } from '../../../platform/ids.ts';
import type { DueItem, Reach } from '../../../platform/periodic-job.ts';
import { idOf } from '../../../platform/schema/id.ts';
import { isWatched } from '../../catalog/usage-thresholds/usage-marks.ts';
import { dueCents } from '../../invoices/invoices/amount-due.ts';
import { columns, type SubscriptionRow } from '../../subscriptions/subscriptions/queries.ts';

export interface DueRow {
  organization_id: OrganizationId;
  sandbox: boolean;
  id: string;
  /** UTC day since which it is due. */
  since: string;
}

const dueItem =
  <Item>(type: string, item: (id: string) => Item) =>
  (row: DueRow): DueItem<Item> => ({
    organization_id: row.organization_id,
    sandbox: row.sandbox,
    item: item(row.id),
    key: `${row.id}-${row.since}`,
    resource: { type, id: row.id },
  });

/** Items of periodic jobs that work on one record. */
export const SubscriptionItem = z.object({ subscription_id: idOf<SubscriptionId>() });
export const InvoiceItem = z.object({ invoice_id: idOf<InvoiceId>() });
export const CustomerItem = z.object({ customer_id: idOf<CustomerId>() });

export const dueSubscription = dueItem('Subscription', (id) => ({ subscription_id: id }));
export const dueInvoice = dueItem('Invoice', (id) => ({ invoice_id: id }));
export const dueCustomer = dueItem('Customer', (id) => ({ customer_id: id }));

/**
 * Customers with active subscriptions whose next billing day may have begun at `at`. Organizations take turns, so that
 * one with thousands of customers does not delay the others.
 */
export const listDueCustomers = (db: Db, at: Temporal.Instant, reach: Reach, limit: number) => db<DueRow[]>`
  select s.organization_id, organization.sandbox, s.customer_id as id,
    to_char(min(s.next_billing_at) at time zone 'UTC', 'YYYY-MM-DD') as since
  from subscriptions s
  join organizations organization on organization.id = s.organization_id
  where s.status = 'active' and s.next_billing_at <= ${at} and ${inReach(db, reach, db`s.organization_id`)}
  group by s.organization_id, organization.sandbox, s.customer_id
  order by row_number() over (partition by s.organization_id order by min(s.next_billing_at), s.customer_id),
    min(s.next_billing_at), s.customer_id
  limit ${limit}`;

export const earliestBilling = ({ db, organizationId }: Scope) => db<{ at: Temporal.Instant | null }[]>`
  select min(next_billing_at) as at from subscriptions
  where organization_id = ${organizationId} and status = 'active'`;

/** A subscription that may be due, with the terms of its plan and what was billed last. */
export interface DueSubscription extends SubscriptionRow {
  interval: Interval;
  pay_in_advance: boolean;
  bill_charges_monthly: boolean | null;
  bill_fixed_charges_monthly: boolean | null;
  amount_currency: string;
  last_recurring_at: Temporal.Instant | null;
  /** Plan change scheduled for the end of its period. */
  pending_successor_id: string | null;
  /** Whether its customer has paid fees that stand on no invoice. */
  has_paid_fees: boolean;
  /** Whether its usage is compared with thresholds or alerts. */
  is_watched: boolean;
}

/** Active subscriptions of a customer whose next billing day may have begun, locked. */
export const lockDueSubscriptions = ({ db, organizationId }: Scope, customerId: CustomerId, at: Temporal.Instant) => db<
  DueSubscription[]
>`
  select ${columns(db)}, plan.interval, plan.pay_in_advance, plan.bill_charges_monthly,
    plan.bill_fixed_charges_monthly, plan.amount_currency,
    (select max(line.billed_at) from invoice_subscriptions line
     where line.organization_id = s.organization_id and line.subscription_id = s.id and line.recurring
       and not line.regenerated) as last_recurring_at,
    (select successor.id from subscriptions successor
     where successor.organization_id = s.organization_id and successor.previous_subscription_id = s.id
       and successor.status = 'pending'
     order by successor.created_at desc, successor.id desc
     limit 1) as pending_successor_id,
    exists (select from fees fee
      where fee.organization_id = s.organization_id and fee.customer_id = s.customer_id and fee.invoice_id is null
        and fee.deleted_at is null and fee.payment_status = 'succeeded') as has_paid_fees,
    ${isWatched(db)} as is_watched
  from subscriptions s
  join plans plan on plan.organization_id = s.organization_id and plan.id = s.plan_id
  where s.organization_id = ${organizationId} and s.customer_id = ${customerId} and s.status = 'active'
    and s.next_billing_at <= ${at}
  order by s.id
  for update of s`;

// Start of the customer's local day of an instant.
const localDayStart = (db: Db, instant: ReturnType<Db>) => db`
  ((${instant} at time zone coalesce(customer.timezone, home.timezone))::date::timestamp
    at time zone coalesce(customer.timezone, home.timezone))`;

const withZone = (db: Db) => db`
  subscriptions s
  join customers customer on customer.organization_id = s.organization_id and customer.id = s.customer_id
  join billing_entities home on home.organization_id = customer.organization_id
    and home.id = customer.billing_entity_id`;

// A start waits while another record of the external id is active: there is at most one.
const startable = (db: Db) => db`
  s.status = 'pending' and s.previous_subscription_id is null
  and not exists (
    select from subscriptions other
    where other.organization_id = s.organization_id and other.external_id = s.external_id
      and other.status in ('active', 'incomplete'))`;

/** Pending subscriptions whose first local day has begun. */
export const listStartable = (db: Db, at: Temporal.Instant, reach: Reach, limit: number) => db<DueRow[]>`
  select s.organization_id, organization.sandbox, s.id,
    to_char(s.subscription_at at time zone 'UTC', 'YYYY-MM-DD') as since
  from ${withZone(db)}
  join organizations organization on organization.id = s.organization_id
  where ${startable(db)} and s.subscription_at <= ${at}::timestamptz + interval '2 days'
    and ${localDayStart(db, db`s.subscription_at`)} <= ${at} and ${inReach(db, reach, db`s.organization_id`)}
  order by s.subscription_at, s.id
  limit ${limit}`;

export const earliestStart = ({ db, organizationId }: Scope) => db<{ at: Temporal.Instant | null }[]>`
  select min(${localDayStart(db, db`s.subscription_at`)}) as at from ${withZone(db)}
  where s.organization_id = ${organizationId} and ${startable(db)}`;

// A subscription whose successor waits for a payment ends when that is decided: the successor takes over its end.
const endable = (db: Db) => db`
  s.status = 'active' and not exists (
    select from subscriptions successor
    where successor.organization_id = s.organization_id and successor.previous_subscription_id = s.id
      and successor.status = 'incomplete')`;

/** Active subscriptions whose last local day has begun. */
export const listEnded = (db: Db, at: Temporal.Instant, reach: Reach, limit: number) => db<DueRow[]>`
  select s.organization_id, organization.sandbox, s.id, to_char(s.ending_at at time zone 'UTC', 'YYYY-MM-DD') as since
  from ${withZone(db)}
  join organizations organization on organization.id = s.organization_id
  where ${endable(db)} and s.ending_at <= ${at}::timestamptz + interval '2 days'
    and ${localDayStart(db, db`s.ending_at`)} <= ${at} and ${inReach(db, reach, db`s.organization_id`)}
  order by s.ending_at, s.id
  limit ${limit}`;

export const earliestEnd = ({ db, organizationId }: Scope) => db<{ at: Temporal.Instant | null }[]>`
  select min(${localDayStart(db, db`s.ending_at`)}) as at from ${withZone(db)}
  where s.organization_id = ${organizationId} and ${endable(db)} and s.ending_at is not null`;

// End of the trial, to the second; the engine works with the exact instant.
const trialEnd = (db: Db) => db`
  (coalesce((select min(record.started_at) from subscriptions record
     where record.organization_id = s.organization_id and record.customer_id = s.customer_id
       and record.external_id = s.external_id), s.subscription_at)
   + interval '1 second' * floor(plan.trial_period * 86400)::float8)`;

const inTrial = (db: Db) => db`
  subscriptions s
  join plans plan on plan.organization_id = s.organization_id and plan.id = s.plan_id and plan.trial_period > 0
  join organizations organization on organization.id = s.organization_id`;

/** Active subscriptions whose trial is over and not yet closed. */
export const listTrialsOver = (db: Db, at: Temporal.Instant, reach: Reach, limit: number) => db<DueRow[]>`
  select s.organization_id, organization.sandbox, s.id, to_char(s.subscription_at at time zone 'UTC',
    'YYYY-MM-DD') as since
  from ${inTrial(db)}
  where s.status = 'active' and s.trial_ended_at is null and ${trialEnd(db)} <= ${at}
    and ${inReach(db, reach, db`s.organization_id`)}
  order by s.id
  limit ${limit}`;

export const earliestTrialEnd = ({ db, organizationId }: Scope) => db<{ at: Temporal.Instant | null }[]>`
  select min(${trialEnd(db)}) as at from ${inTrial(db)}
  where s.organization_id = ${organizationId} and s.status = 'active' and s.trial_ended_at is null`;

/**
 * Whether a subscription's fee was billed on a local day, by a periodic run or with its start.
 * Rule: subscription-fees.md#trial.
 */
export async function wasBilledOn(
  { db, organizationId }: Scope,
  subscriptionId: SubscriptionId,
  days: { trialEndsOn: Temporal.PlainDate; startedOn: Temporal.PlainDate },
): Promise<boolean> {
  const [row] = await db<{ found: boolean }[]>`
    select exists (
      select from invoice_subscriptions line
      where line.organization_id = ${organizationId} and line.subscription_id = ${subscriptionId}
        and not line.regenerated
        and (line.recurring and line.billed_on = ${days.trialEndsOn}
          or line.billed_on = ${days.startedOn} and exists (
            select from fees fee
            where fee.organization_id = line.organization_id and fee.invoice_id = line.invoice_id
              and fee.subscription_id = line.subscription_id and fee.fee_type = 'subscription'
              and fee.deleted_at is null))
    ) as found`;
  return row!.found;
}

// A draft that could not be computed waits until something about it changes (invoices.md#error-details).
const finalizable = (db: Db) => db`
  invoice.status = 'draft' and not exists (
    select from invoice_error_details error
    where error.organization_id = invoice.organization_id and error.invoice_id = invoice.id
      and error.error_code = 'invoice_generation_error')`;

/** Drafts whose grace period is over on the UTC day of `at`. */
export const listDraftsOver = (db: Db, at: Temporal.Instant, reach: Reach, limit: number) => db<DueRow[]>`
  select invoice.organization_id, organization.sandbox, invoice.id, invoice.expected_finalization_date::text as since
  from invoices invoice
  join organizations organization on organization.id = invoice.organization_id
  where ${finalizable(db)} and invoice.expected_finalization_date <= (${at}::timestamptz at time zone 'UTC')::date
    and ${inReach(db, reach, db`invoice.organization_id`)}
  order by invoice.expected_finalization_date, invoice.created_at, invoice.id
  limit ${limit}`;

export const earliestFinalization = ({ db, organizationId }: Scope) => db<{ at: Temporal.Instant | null }[]>`
  select min(invoice.expected_finalization_date)::timestamp at time zone 'UTC' as at from invoices invoice
  where invoice.organization_id = ${organizationId} and ${finalizable(db)}`;

// Rule: invoices.md#dates "overdue".
const payable = (db: Db) => db`
  invoice.status = 'finalized' and invoice.payment_status <> 'succeeded' and invoice.payment_dispute_lost_at is null
  and not invoice.payment_overdue and ${dueCents(db, 'invoice')} > 0`;

/** Unpaid invoices whose due day is over on the UTC day of `at`. */
export const listOverdue = (db: Db, at: Temporal.Instant, reach: Reach, limit: number) => db<DueRow[]>`
  select invoice.organization_id, organization.sandbox, invoice.id, invoice.payment_due_date::text as since
  from invoices invoice
  join organizations organization on organization.id = invoice.organization_id
  where ${payable(db)} and invoice.payment_due_date < (${at}::timestamptz at time zone 'UTC')::date
    and ${inReach(db, reach, db`invoice.organization_id`)}
  order by invoice.payment_due_date, invoice.id
  limit ${limit}`;

export const earliestOverdue = ({ db, organizationId }: Scope) => db<{ at: Temporal.Instant | null }[]>`
  select (min(invoice.payment_due_date) + 1)::timestamp at time zone 'UTC' as at from invoices invoice
  where invoice.organization_id = ${organizationId} and ${payable(db)}`;

/** Flags an invoice as overdue; false when it is not, or was already. */
export async function flagOverdue(
  { db, organizationId }: Scope,
  id: InvoiceId,
  { at, now }: { at: Temporal.Instant; now: Temporal.Instant },
): Promise<boolean> {
  const rows = await db`
    update invoices invoice set payment_overdue = true, updated_at = ${now}
    where invoice.organization_id = ${organizationId} and invoice.id = ${id} and ${payable(db)}
      and invoice.payment_due_date < (${at}::timestamptz at time zone 'UTC')::date
    returning invoice.id`;
  return rows.length > 0;
}
