import type { Context } from '../../../platform/context.ts';
import { refuse } from '../../../platform/refusal.ts';
import { getVisibleInvoice } from '../../invoices/invoices/queries.ts';
import { showInvoice } from '../../invoices/invoices/show-invoice.ts';
import { clearErrors } from '../../invoices/invoices/writes.ts';
import { refreshDraft } from '../build-invoice/finalize-draft.ts';

/**
 * Computes a draft again with everything that has happened since; any other invoice is returned unchanged.
 *
 * @throws Refusal 404 invoice; 403, when it is not an invoice of subscriptions
 * Rules: invoice-operations.md#operations, invoice-operations.md#refresh-and-finalize.
 */
export async function refreshInvoice(ctx: Context, { svc_id }: { svc_id: string }) {
  const { id, invoice_type } = await getVisibleInvoice(ctx, svc_id);
  if (invoice_type !== 'subscription') throw refuse.forbidden('feature_unavailable');
  await refreshDraft(ctx, id);
  await clearErrors(ctx, id, ['invoice_generation_error']);
  return showInvoice(ctx, id);
}
