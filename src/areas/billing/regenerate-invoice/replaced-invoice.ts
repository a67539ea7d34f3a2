import type { Temporal } from 'temporal-polyfill';
import type { Scope } from '../../../platform/db/scope.ts';
import type { InvoiceId, UsageThresholdId } from '../../../platform/ids.ts';
import type { PaymentWish } from '../bill-one-off/one-off-records.ts';
import { insertAppliedThresholds } from '../bill-progressively/progressive-runs.ts';

/** Whether an invoice that still counts was made in the place of a voided one. */
export async function hasReplacement({ db, organizationId }: Scope, sourceId: string): Promise<boolean> {
  const [row] = await db<{ found: boolean }[]>`
    select exists (select from invoices
      where organization_id = ${organizationId} and voided_invoice_id = ${sourceId}
        and status not in ('voided', 'closed', 'deleted')) as found`;
  return row!.found;
}

export interface Replacement {
  sourceId: string;
  invoiceId: InvoiceId;
}

/** Links an invoice to the one that it replaces, whose lines then no longer claim their periods. */
export async function replaceSource(
  { db, organizationId }: Scope,
  { sourceId, invoiceId }: Replacement,
): Promise<void> {
  await db`
    update invoices set voided_invoice_id = ${sourceId}
    where organization_id = ${organizationId} and id = ${invoiceId}`;
  // Also those of voided invoices that were made in the place of the same one before.
  await db`
    with recursive made as (
      select ${sourceId}::uuid as id
      union all
      select next.id
      from made
      join invoices next on next.organization_id = ${organizationId} and next.voided_invoice_id = made.id
        and next.id <> ${invoiceId}
    )
    update invoice_subscriptions set regenerated = true
    where organization_id = ${organizationId} and invoice_id in (select id from made)`;
}

/** Gives an invoice the thresholds and lifetime usage of the one that it replaces. */
export async function copyThresholds(
  scope: Scope,
  { sourceId, invoiceId }: Replacement,
  now: Temporal.Instant,
): Promise<void> {
  const applied = await scope.db<{ usage_threshold_id: UsageThresholdId; lifetime_usage_amount_cents: number }[]>`
    select usage_threshold_id, lifetime_usage_amount_cents from applied_usage_thresholds
    where organization_id = ${scope.organizationId} and invoice_id = ${sourceId}
    order by id`;
  const [first] = applied;
  if (!first) return;
  const { lifetime_usage_amount_cents } = first;
  const threshold_ids = applied.map((each) => each.usage_threshold_id);
  const copied = { invoice_id: invoiceId, threshold_ids, lifetime_usage_amount_cents };
  await insertAppliedThresholds(scope, copied, now);
}

/** How an invoice was to be paid. */
export async function readPaymentWish({ db, organizationId }: Scope, invoiceId: InvoiceId): Promise<PaymentWish> {
  const [row] = await db<PaymentWish[]>`
    select skip_psp as "skipPsp", payment_method_type as "paymentMethodType", payment_method_id as "paymentMethodId"
    from invoices where organization_id = ${organizationId} and id = ${invoiceId}`;
  return row!;
}
