import type { Temporal } from 'temporal-polyfill';
import { z } from 'zod';
import type { Interval } from '../../../engine/calendar/grid.ts';
import type { Db } from '../../../platform/db/connect.ts';
import { inReach } from '../../../platform/db/in-reach.ts';
import { keyset, type Placed } from '../../../platform/db/keyset.ts';
import type { Scope } from '../../../platform/db/scope.ts';
import type { CustomerId, InvoiceId, OrganizationId, SubscriptionId } from '../../../platform/ids.ts';
import type { DueItem, Page, Reach } from '../../../platform/periodic-job.ts';
import { idOf } from '../../../platform/schema/id.ts';
import { isWatched } from '../../catalog/usage-thresholds/usage-marks.ts';
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
 * Active subscriptions whose next billing day may have begun at `at`. One item is a customer: it stands where its first
 * subscription does, and `is_first` tells this one from its others.
 */
export const listDueCustomers = (db: Db, at: Temporal.Instant, reach: Reach, page: Page) => {
  const rows = keyset(db, page, db`s.organization_id`, db`s.next_billing_at, s.customer_id, s.id`);
  // The page is cut before anything is asked about its rows, so that a page costs the same however many are due.
  return db<(DueRow & Placed & { is_first: boolean })[]>`
    with page as materialized (
      select s.organization_id, s.customer_id, s.id, s.next_billing_at, ${rows.place}
      from subscriptions s
      where s.status = 'active' and s.next_billing_at <= ${at} and ${inReach(db, reach, db`s.organization_id`)}
        and ${rows.isBehind}
      ${rows.order}
    )
    select page.organization_id, organization.sandbox, page.customer_id as id,
      to_char(page.next_billing_at at time zone 'UTC', 'YYYY-MM-DD') as since, page.place,
      page.id = (
        select first.id from subscriptions first
        where first.organization_id = page.organization_id and first.customer_id = page.customer_id
          and first.status = 'active' and first.next_billing_at <= ${at}
        order by first.next_billing_at, first.id limit 1) as is_first
    from page
    join organizations organization on organization.id = page.organization_id
    order by page.organization_id, page.next_billing_at, page.customer_id, page.id`;
};

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

/** Start of the customer's local day of an instant. */
export const localDayStart = (db: Db, instant: ReturnType<Db>) => db`
  ((${instant} at time zone coalesce(customer.timezone, home.timezone))::date::timestamp
    at time zone coalesce(customer.timezone, home.timezone))`;

/** A row of a page that may be due: whether it is, is asked about the rows of the page alone. */
export interface PossiblyDueRow extends DueRow {
  is_due: boolean;
}

/** Subscriptions `s`, all or those of a page, with the zone of their customer, for `localDayStart`. */
export const withZone = (db: Db, subscriptions = db`subscriptions`) => db`
  ${subscriptions} s
  join customers customer on customer.organization_id = s.organization_id and customer.id = s.customer_id
  join billing_entities home on home.organization_id = customer.organization_id
    and home.id = customer.billing_entity_id`;
