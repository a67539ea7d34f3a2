import type { Temporal } from 'temporal-polyfill';
import type { Decimal } from '../../../engine/money/decimal.ts';
import type { Db } from '../../../platform/db/connect.ts';
import { inReach } from '../../../platform/db/in-reach.ts';
import { keyset, type Placed } from '../../../platform/db/keyset.ts';
import type { Scope } from '../../../platform/db/scope.ts';
import type { InvoiceId, OrganizationId, SubscriptionId } from '../../../platform/ids.ts';
import type { Page, Reach } from '../../../platform/periodic-job.ts';
import type { SnapshotEntry } from '../daily-usage/snapshot.ts';

/**
 * Active subscriptions to examine, by the instant from which they are due: those with a recurring charge when their
 * period has begun, those with an event from the local day after it on.
 */
const looks = (db: Db) => db`
  select s.organization_id, s.id, case
      when look.subscription_id is null then s.started_at
      when s.last_received_event_on >= (look.looked_at at time zone 'UTC')::date then look.next_day_at
      else look.next_look_at
    end as look_at
  from subscriptions s
  left join daily_usage_looks look on look.organization_id = s.organization_id and look.subscription_id = s.id
  where s.status = 'active' and (s.last_received_event_on is not null or exists (
    select from charges charge
    join billable_metrics metric on metric.organization_id = charge.organization_id
      and metric.id = charge.billable_metric_id
    where charge.organization_id = s.organization_id and charge.plan_id = s.plan_id and charge.deleted_at is null
      and metric.recurring))`;

export const listSubscriptionsToLookAt = (db: Db, at: Temporal.Instant, reach: Reach, page: Page) => {
  const rows = keyset(db, page, db`look.organization_id`, db`look.look_at, look.id`);
  return db<({ organization_id: OrganizationId; sandbox: boolean; id: string; since: string } & Placed)[]>`
    select look.organization_id, organization.sandbox, look.id,
      to_char(look.look_at at time zone 'UTC', 'YYYY-MM-DD-HH24') as since, ${rows.place}
    from (${looks(db)}) look
    join organizations organization on organization.id = look.organization_id
    where look.look_at <= ${at} and ${inReach(db, reach, db`look.organization_id`)} and ${rows.isBehind}
    ${rows.order}`;
};

export async function earliestLook({ db, organizationId }: Scope): Promise<Temporal.Instant | null> {
  const [row] = await db<{ at: Temporal.Instant | null }[]>`
    select min(look.look_at) as at from (${looks(db)}) look where look.organization_id = ${organizationId}`;
  return row!.at;
}

/** The UTC day on which a subscription's last event was received. */
export async function readLastReceived(
  { db, organizationId }: Scope,
  subscriptionId: SubscriptionId,
): Promise<Temporal.PlainDate | null> {
  const [row] = await db<{ last_received_event_on: Temporal.PlainDate | null }[]>`
    select last_received_event_on from subscriptions
      where organization_id = ${organizationId} and id = ${subscriptionId}`;
  return row!.last_received_event_on;
}

/** The charges window of an invoice, `[from, to)`; `invoice_id` of a final one only. */
export interface ClosedWindow {
  from: Temporal.Instant;
  to: Temporal.Instant;
  invoice_id: InvoiceId | null;
}

/**
 * Charges windows that end by `until` of a subscription's periodic invoices that are drafts, or were made final since
 * the subscription was last looked at (if never: since the day of its last event), or with usage billed in advance
 * since then, which includes late events.
 */
export const listClosedWindows = (
  { db, organizationId }: Scope,
  subscriptionId: SubscriptionId,
  until: Temporal.Instant,
) => db<ClosedWindow[]>`
  select line.charges_from_datetime as from, line.charges_to_datetime as to,
    case when invoice.status <> 'draft' then invoice.id end as invoice_id
  from subscriptions s
  left join daily_usage_looks look on look.organization_id = ${organizationId} and look.subscription_id = s.id
  cross join lateral (
    select coalesce(look.looked_at, s.last_received_event_on::timestamp at time zone 'UTC') as at) since
  join invoice_subscriptions line on line.organization_id = ${organizationId} and line.subscription_id = s.id
    and line.recurring and not line.regenerated and line.charges_to_datetime <= ${until}
    and line.charges_from_datetime < line.charges_to_datetime
  join invoices invoice on invoice.organization_id = ${organizationId} and invoice.id = line.invoice_id
    and invoice.status in ('draft', 'finalized', 'closed') and not invoice.skip_usage
  where s.organization_id = ${organizationId} and s.id = ${subscriptionId} and (invoice.status = 'draft'
    or coalesce(invoice.finalized_at, invoice.updated_at) >= since.at
    or line.charges_from_datetime = any (array(
      select fee.from_datetime from fees fee
      where fee.organization_id = ${organizationId} and fee.subscription_id = ${subscriptionId}
        and fee.fee_type = 'charge' and fee.created_at >= since.at and fee.pay_in_advance)))
  order by line.charges_from_datetime`;

/** The charges window of a subscription's last invoice, unless that was voided. */
export async function findLastWindow(
  { db, organizationId }: Scope,
  subscriptionId: SubscriptionId,
  invoiceId: InvoiceId,
): Promise<ClosedWindow | undefined> {
  const [row] = await db<ClosedWindow[]>`
    select line.charges_from_datetime as from, line.charges_to_datetime as to, invoice.id as invoice_id
    from invoice_subscriptions line
    join invoices invoice on invoice.organization_id = ${organizationId} and invoice.id = line.invoice_id
      and invoice.status in ('draft', 'finalized', 'closed') and not invoice.skip_usage
    where line.organization_id = ${organizationId} and line.invoice_id = ${invoiceId}
      and line.subscription_id = ${subscriptionId} and line.invoicing_reason = 'subscription_terminating'
      and line.charges_from_datetime < line.charges_to_datetime`;
  return row;
}

/**
 * The usage in arrears that an invoice bills for a subscription: without minimums, and without corrections of other
 * periods.
 */
export const listBilledUsage = (
  { db, organizationId }: Scope,
  subscriptionId: SubscriptionId,
  invoiceId: InvoiceId,
) => db<(Omit<SnapshotEntry, 'units'> & { units: Decimal })[]>`
  select fee.charge_id, fee.charge_filter_id, fee.grouped_by, metric.id as billable_metric_id,
    metric.code as billable_metric_code, fee.units, coalesce(fee.events_count, 0) as events_count, fee.amount_cents
  from fees fee
  join charges charge on charge.organization_id = ${organizationId} and charge.id = fee.charge_id
    and not charge.pay_in_advance
  join billable_metrics metric on metric.organization_id = ${organizationId} and metric.id = charge.billable_metric_id
  where fee.organization_id = ${organizationId} and fee.invoice_id = ${invoiceId} and fee.subscription_id = ${subscriptionId}
    and fee.fee_type = 'charge' and fee.true_up_parent_fee_id is null and fee.correction_id is null
    and fee.deleted_at is null`;

/** Stores when a subscription was examined. */
export const noteLook = (
  { db, organizationId }: Scope,
  subscriptionId: SubscriptionId,
  look: { lookedAt: Temporal.Instant; nextDayAt: Temporal.Instant; nextLookAt: Temporal.Instant },
) => db`
  insert into daily_usage_looks (organization_id, subscription_id, looked_at, next_day_at, next_look_at)
  values (${organizationId}, ${subscriptionId}, ${look.lookedAt}, ${look.nextDayAt}, ${look.nextLookAt})
  on conflict (organization_id, subscription_id) do update set
    looked_at = excluded.looked_at, next_day_at = excluded.next_day_at, next_look_at = excluded.next_look_at`;
