import type { Temporal } from 'temporal-polyfill';
import type { InvoiceStatus, PaymentStatus } from '../../../engine/invoices/invoice-states.ts';
import type { FeeType } from '../../../engine/taxes/choose-taxes.ts';
import type { Db } from '../../../platform/db/connect.ts';
import { inReach } from '../../../platform/db/in-reach.ts';
import { keyset, type Placed } from '../../../platform/db/keyset.ts';
import type { Scope } from '../../../platform/db/scope.ts';
import { json } from '../../../platform/db/values.ts';
import type { BillingEntityId, CustomerId, InvoiceId, SubscriptionId } from '../../../platform/ids.ts';
import type { Page, Reach } from '../../../platform/periodic-job.ts';
import { issuerSnapshot } from '../../customers/billing-entities/issuer-snapshot.ts';
import type { PossiblyDueRow } from '../bill-subscriptions/due-subscriptions.ts';

export interface GateInvoice {
  id: InvoiceId;
  status: InvoiceStatus;
  payment_status: PaymentStatus;
}

/** The first invoice of a subscription that waits for its payment, locked; undefined until it exists. */
export async function lockGateInvoice(
  { db, organizationId }: Scope,
  subscriptionId: SubscriptionId,
): Promise<GateInvoice | undefined> {
  const [row] = await db<GateInvoice[]>`
    select id, status, payment_status from invoices
    where organization_id = ${organizationId} and id in (
      select invoice_id from invoice_subscriptions
      where organization_id = ${organizationId} and subscription_id = ${subscriptionId})
    order by id limit 1
    for update`;
  return row;
}

/** The subscription that waits for the payment of an invoice, if there is one. */
export async function gatedSubscriptionOf(
  { db, organizationId }: Scope,
  invoiceId: InvoiceId,
): Promise<string | undefined> {
  const [row] = await db<{ id: SubscriptionId }[]>`
    select s.id from invoice_subscriptions line
    join subscriptions s on s.organization_id = line.organization_id and s.id = line.subscription_id
    where line.organization_id = ${organizationId} and line.invoice_id = ${invoiceId} and s.status = 'incomplete'
    limit 1`;
  return row?.id;
}

/** Makes an open invoice final on a day, with its customer and its issuer as they are. */
export const markFinalized = (
  { db, organizationId }: Scope,
  id: BillingEntityId,
  final: { snapshot: object; issuedOn: Temporal.PlainDate; dueOn: Temporal.PlainDate; now: Temporal.Instant },
) => db`
  update invoices set status = 'finalized', finalized_at = ${final.now}, customer_snapshot = ${json(final.snapshot)},
    issuer_snapshot = (select ${issuerSnapshot(db)} from billing_entities entity
      where entity.organization_id = invoices.organization_id and entity.id = invoices.billing_entity_id),
    issuing_date = ${final.issuedOn}, expected_finalization_date = ${final.issuedOn}, payment_due_date = ${final.dueOn},
    updated_at = ${final.now}
  where organization_id = ${organizationId} and id = ${id} and status = 'open'`;

/** Whether a periodic run has billed a subscription on a local day or later. */
export async function wasRenewedSince(
  { db, organizationId }: Scope,
  subscriptionId: SubscriptionId,
  day: Temporal.PlainDate,
): Promise<boolean> {
  const rows = await db`
    select from invoice_subscriptions
    where organization_id = ${organizationId} and subscription_id = ${subscriptionId} and recurring and not regenerated
      and billed_on >= ${day}
    limit 1`;
  return rows.length > 0;
}

export async function isCustomerGone({ db, organizationId }: Scope, id: CustomerId): Promise<boolean> {
  const rows = await db`
    select from customers where organization_id = ${organizationId} and id = ${id} and deleted_at is not null`;
  return rows.length > 0;
}

export const listFeeAmounts = ({ db, organizationId }: Scope, invoiceId: InvoiceId) => db<
  { feeType: FeeType; amountCents: number }[]
>`
  select fee_type as "feeType", amount_cents as "amountCents" from fees
  where organization_id = ${organizationId} and invoice_id = ${invoiceId} and deleted_at is null
  order by id`;

/** Closes an invoice whose payment is no longer awaited. */
export const markClosed = ({ db, organizationId }: Scope, id: InvoiceId, now: Temporal.Instant) => db`
  update invoices set status = 'closed', number = null, ready_for_payment_processing = false, updated_at = ${now}
  where organization_id = ${organizationId} and id = ${id} and status in ('generating', 'open', 'pending', 'failed')`;

/** Subscriptions that may wait for a payment whose time is over at `at`. */
export const listExpired = (db: Db, at: Temporal.Instant, reach: Reach, page: Page) => {
  const rows = keyset(db, page, db`rule.organization_id`, db`rule.expires_at, rule.subscription_id`);
  // The page is cut before anything is asked about its rows, so that a page costs the same however many are due.
  return db<(PossiblyDueRow & Placed)[]>`
    with page as materialized (
      select rule.organization_id, rule.subscription_id, rule.expires_at, ${rows.place}
      from subscription_activation_rules rule
      where rule.status = 'pending' and rule.expires_at <= ${at}
        and ${inReach(db, reach, db`rule.organization_id`)} and ${rows.isBehind}
      ${rows.order}
    )
    select s.organization_id, organization.sandbox, s.id,
      to_char(rule.expires_at at time zone 'UTC', 'YYYY-MM-DD') as since, rule.place, s.status = 'incomplete' as is_due
    from page rule
    join subscriptions s on s.organization_id = rule.organization_id and s.id = rule.subscription_id
    join organizations organization on organization.id = s.organization_id
    order by rule.organization_id, rule.expires_at, rule.subscription_id`;
};

export const earliestExpiry = ({ db, organizationId }: Scope) => db<{ at: Temporal.Instant | null }[]>`
  select min(rule.expires_at) as at from subscription_activation_rules rule
  join subscriptions s on s.organization_id = rule.organization_id and s.id = rule.subscription_id
    and s.status = 'incomplete'
  where rule.organization_id = ${organizationId} and rule.status = 'pending'`;
