import type { Temporal } from 'temporal-polyfill';
import type { Scope } from '../../../platform/db/scope.ts';
import { json } from '../../../platform/db/values.ts';
import type {
  CustomerId,
  ExternalSubscriptionId,
  InvoiceId,
  SubscriptionId,
  UsageThresholdId,
} from '../../../platform/ids.ts';
import { newId } from '../../../platform/ids.ts';
import { firstInvoiceOf } from '../../usage/event-corrections/first-invoice.ts';

/**
 * The newest progressive invoice of a customer's subscription whose charges window holds `at`: the one that billed
 * last, where one that was made anew keeps the place of the voided one.
 */
export async function findProgressiveInvoice(
  scope: Scope,
  subscription: { id: SubscriptionId; customer_id: CustomerId },
  at: Temporal.Instant,
): Promise<{ id: string; fees_amount_cents: number } | undefined> {
  const { db, organizationId } = scope;
  const [row] = await db<{ id: InvoiceId; fees_amount_cents: number }[]>`
    select invoice.id, invoice.fees_amount_cents
    from invoices invoice
    join invoice_subscriptions line on line.organization_id = invoice.organization_id and line.invoice_id = invoice.id
    where invoice.organization_id = ${organizationId} and invoice.customer_id = ${subscription.customer_id}
      and invoice.invoice_type = 'progressive_billing' and invoice.status in ('finalized', 'failed')
      and line.subscription_id = ${subscription.id} and line.charges_from_datetime <= ${at}
      and line.charges_to_datetime > ${at}
    order by line.billed_at desc, ${firstInvoiceOf(db, db`invoice.id`)} desc
    limit 1`;
  return row;
}

export interface ProgressiveRun {
  invoice_id: InvoiceId;
  external_subscription_id: ExternalSubscriptionId;
  invoiced_amount_cents: number;
  highest_threshold_id: UsageThresholdId;
  previous_invoice_id: InvoiceId | null;
}

/**
 * Claims a crossing; false when an invoice has billed it already. Rule: progressive-billing.md#invoice,
 * invoices.md#guarantees-of-the-storage.
 */
export async function claimRun(
  { db, organizationId }: Scope,
  run: ProgressiveRun,
  now: Temporal.Instant,
): Promise<boolean> {
  const { count } = await db`
    insert into progressive_runs (invoice_id, organization_id, external_subscription_id, invoiced_amount_cents,
      highest_threshold_id, previous_invoice_id, created_at)
    values (${run.invoice_id}, ${organizationId}, ${run.external_subscription_id}, ${run.invoiced_amount_cents},
      ${run.highest_threshold_id}, ${run.previous_invoice_id}, ${now})
    on conflict do nothing`;
  return count === 1;
}

/** The thresholds that an invoice bills, with the lifetime usage at that moment. */
export const insertAppliedThresholds = (
  { db, organizationId }: Scope,
  applied: { invoice_id: InvoiceId; threshold_ids: readonly UsageThresholdId[]; lifetime_usage_amount_cents: number },
  now: Temporal.Instant,
) => {
  const rows = applied.threshold_ids.map((usage_threshold_id) => ({ id: newId(), usage_threshold_id }));
  return db`
    insert into applied_usage_thresholds (id, organization_id, invoice_id, usage_threshold_id,
      lifetime_usage_amount_cents, created_at)
    select id, ${organizationId}::uuid, ${applied.invoice_id}::uuid, usage_threshold_id,
      ${applied.lifetime_usage_amount_cents}::bigint, ${now}
    from jsonb_to_recordset(${json(rows)}::jsonb) as row (id uuid, usage_threshold_id uuid)`;
};
