import type { Temporal } from 'temporal-polyfill';
import type { Db } from '../../../platform/db/connect.ts';
import { json } from '../../../platform/db/values.ts';
import { newId } from '../../../platform/ids.ts';

/** The newest progressive invoice of a customer's subscription whose charges window holds `at`. */
export async function findProgressiveInvoice(
  db: Db,
  organizationId: string,
  subscription: { id: string; customer_id: string },
  at: Temporal.Instant,
): Promise<{ id: string; fees_amount_cents: number } | undefined> {
  const [row] = await db<{ id: string; fees_amount_cents: number }[]>`
    select invoice.id, invoice.fees_amount_cents
    from invoices invoice
    join invoice_subscriptions line on line.organization_id = invoice.organization_id and line.invoice_id = invoice.id
    where invoice.organization_id = ${organizationId} and invoice.customer_id = ${subscription.customer_id}
      and invoice.invoice_type = 'progressive_billing' and invoice.status in ('finalized', 'failed')
      and line.subscription_id = ${subscription.id} and line.charges_from_datetime <= ${at}
      and line.charges_to_datetime > ${at}
    order by invoice.created_at desc, invoice.id desc
    limit 1`;
  return row;
}

export interface ProgressiveRun {
  invoice_id: string;
  external_subscription_id: string;
  invoiced_amount_cents: number;
  highest_threshold_id: string;
  previous_invoice_id: string | null;
}

/**
 * Claims a crossing; false when an invoice has billed it already. Rule: progressive-billing.md#invoice,
 * invoices.md#guarantees-of-the-storage.
 */
export async function claimRun(
  db: Db,
  organizationId: string,
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
  db: Db,
  organizationId: string,
  applied: { invoice_id: string; threshold_ids: readonly string[]; lifetime_usage_amount_cents: number },
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
