import type { Context } from '../../../platform/context.ts';
import { refuse } from '../../../platform/refusal.ts';
import { getVisibleInvoice } from '../../invoices/invoices/queries.ts';
import { showInvoice } from '../../invoices/invoices/show-invoice.ts';
import { finalizeDraft } from '../build-invoice/finalize-draft.ts';

/**
 * Makes a draft final before its grace period is over. An unwanted invoice of zero is closed instead; it is still
 * returned.
 *
 * @throws Refusal 404 invoice, when there is no such draft; 403, when it is not an invoice of subscriptions or its
 *   taxes are awaited
 * Rules: invoices.md#zero-amounts, invoice-operations.md#operations, invoice-operations.md#refresh-and-finalize.
 */
export async function finalizeInvoice(ctx: Context, { svc_id }: { svc_id: string }) {
  const invoice = await getVisibleInvoice(ctx, svc_id);
  if (invoice.status !== 'draft') throw refuse.notFound('invoice');
  if (invoice.invoice_type !== 'subscription') throw refuse.forbidden('feature_unavailable');
  if (invoice.tax_status === 'pending') throw refuse.forbidden('cannot_finalize_with_pending_taxes');
  // The wait for the customer's lock may have changed things: the draft may be gone by now.
  if (!(await finalizeDraft(ctx, invoice.id))) throw refuse.notFound('invoice');
  return showInvoice(ctx, invoice.id);
}
