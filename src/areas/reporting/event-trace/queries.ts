import type { Temporal } from 'temporal-polyfill';
import type { GroupedBy } from '../../../engine/metrics/group-values.ts';
import type { Scope } from '../../../platform/db/scope.ts';
import { json } from '../../../platform/db/values.ts';
import type {
  ChargeFilterId,
  ChargeId,
  EventId,
  ExternalCustomerId,
  ExternalSubscriptionId,
  FeeId,
  InvoiceId,
  SubscriptionId,
} from '../../../platform/ids.ts';

/** Rows of a part that a trace shows at most. */
const MOST_SHOWN = 20;

export interface Storage {
  version: number;
  unmatched_status: string | null;
  unmatched_reason: string | null;
  healed_at: Temporal.Instant | null;
}

/** How often an event was stored, and whether it is listed as unmatched. */
export async function readStorage({ db, organizationId }: Scope, id: EventId): Promise<Storage> {
  const [row] = await db<Storage[]>`
    select e.version, missing.status as unmatched_status, missing.reason as unmatched_reason, missing.healed_at
    from events e
    left join unmatched_events missing on missing.organization_id = e.organization_id and missing.event_id = e.id
    where e.organization_id = ${organizationId} and e.id = ${id}`;
  return row ?? { version: 1, unmatched_status: null, unmatched_reason: null, healed_at: null };
}

/** What of a charge is looked for on an invoice. */
export interface Bucket {
  charge_id: ChargeId;
  charge_filter_id: ChargeFilterId | null;
  grouped_by: GroupedBy;
}

export interface BilledBucket {
  charge_id: ChargeId;
  invoice_id: InvoiceId;
  number: string | null;
  status: string;
  fee_id: FeeId | null;
  amount_cents: number | null;
  amount_currency: string | null;
}

/** The invoice of the window that holds an instant, with the fee of each bucket: the newest that is not voided. */
export const listBilled = (
  { db, organizationId }: Scope,
  {
    subscriptionId,
    timestamp,
    buckets,
  }: { subscriptionId: SubscriptionId; timestamp: string; buckets: readonly Bucket[] },
) => db<BilledBucket[]>`
  select distinct on (bucket.charge_id) bucket.charge_id, invoice.id as invoice_id, invoice.number, invoice.status,
    fee.id as fee_id, fee.amount_cents, fee.amount_currency
  from jsonb_to_recordset(${json(buckets)}::jsonb) as bucket (charge_id uuid, charge_filter_id uuid, grouped_by jsonb)
  join invoice_subscriptions line
    on line.organization_id = ${organizationId} and line.subscription_id = ${subscriptionId}
    and line.charges_from_datetime <= ${timestamp} and line.charges_to_datetime > ${timestamp}
    and line.invoicing_reason in ('subscription_periodic', 'subscription_terminating')
  join invoices invoice on invoice.organization_id = line.organization_id and invoice.id = line.invoice_id
    and not invoice.skip_usage
  left join fees fee on fee.organization_id = invoice.organization_id and fee.invoice_id = invoice.id
    and fee.subscription_id = line.subscription_id and fee.charge_id = bucket.charge_id and fee.fee_type = 'charge'
    and fee.deleted_at is null and fee.charge_filter_id is not distinct from bucket.charge_filter_id
    and fee.grouped_by = bucket.grouped_by and fee.true_up_parent_fee_id is null
  order by bucket.charge_id, invoice.status = 'voided', line.billed_at desc, fee.id`;

export interface InAdvanceFee {
  id: string;
  charge_id: ChargeId;
  amount_cents: number;
  amount_currency: string;
  invoice_id: InvoiceId | null;
  payment_status: string;
}

/** Fees that the event alone made. */
export const listInAdvanceFees = (
  { db, organizationId }: Scope,
  subscription: ExternalSubscriptionId,
  transactionId: string,
) => db<InAdvanceFee[]>`
  select id, charge_id, amount_cents, amount_currency, invoice_id, payment_status from fees
  where organization_id = ${organizationId} and external_subscription_id = ${subscription}
    and event_transaction_id = ${transactionId} and original_fee_id is null and deleted_at is null
  order by charge_id
  limit ${MOST_SHOWN}`;

export interface ShownCorrection {
  id: string;
  kind: string;
  status: string;
  policy: string;
  reason: string;
  created_at: Temporal.Instant;
}

/** Corrections that named the event or changed it, the newest first. */
export const listCorrections = (
  { db, organizationId }: Scope,
  event: { id: EventId; external_subscription_id: ExternalSubscriptionId; transaction_id: string },
) => db<ShownCorrection[]>`
  select id, kind, status, policy, reason, created_at from event_corrections
  where organization_id = ${organizationId} and not dry_run and external_subscription_id = ${event.external_subscription_id}
    and (transaction_id = ${event.transaction_id}
      or id in (select correction_id from event_versions where event_id = ${event.id}))
  order by created_at desc, id desc
  limit ${MOST_SHOWN}`;

export interface PayingWallet {
  id: string;
  code: string;
  name: string | null;
  is_target: boolean;
}

/** The wallet that the event names, else the one of its customer that pays first. */
export async function findWallet(
  { db, organizationId }: Scope,
  customer: ExternalCustomerId,
  targetCode: string | null,
): Promise<PayingWallet | undefined> {
  const [row] = await db<PayingWallet[]>`
    select wallet.id, wallet.code, wallet.name, wallet.code is not distinct from ${targetCode}::text as is_target
    from customers customer
    join wallets wallet on wallet.organization_id = customer.organization_id and wallet.customer_id = customer.id
      and wallet.status = 'active'
    where customer.organization_id = ${organizationId} and customer.external_id = ${customer}
      and customer.deleted_at is null
    order by is_target desc, wallet.priority, wallet.created_at, wallet.id
    limit 1`;
  return row;
}

export interface PassedAlert {
  id: string;
  code: string;
  alert_type: string;
  triggered_at: Temporal.Instant;
}

/** Alerts of the subscription that passed a threshold since the event was stored: of each the first time. */
export const listAlerts = ({ db, organizationId }: Scope, subscription: ExternalSubscriptionId, storedAt: string) => db<
  PassedAlert[]
>`
  select passed.id, alert.code, alert.alert_type, passed.triggered_at
  from alerts alert
  cross join lateral (
    select id, triggered_at from triggered_alerts
    where organization_id = alert.organization_id and alert_id = alert.id and triggered_at >= ${storedAt}
    order by evaluation limit 1
  ) passed
  where alert.organization_id = ${organizationId} and alert.external_subscription_id = ${subscription}
    and alert.deleted_at is null
  order by passed.triggered_at
  limit ${MOST_SHOWN}`;
