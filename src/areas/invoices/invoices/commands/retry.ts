import { canInvoiceMove } from '../../../../engine/invoices/invoice-states.ts';
import type { Context } from '../../../../platform/context.ts';
import { refuse } from '../../../../platform/refusal.ts';
import { markWallets } from '../../../usage/wallet-marks/wallet-marks.ts';
import { showInvoice } from '../show-invoice.ts';
import { changeInvoice, clearErrors, lockVisibleInvoice } from '../writes.ts';

/** Owed work: the taxes of an invoice that waits for them. */
export const TAX_STEP = 'finalize-pending-invoice';

/**
 * Retries an invoice whose taxes could not be determined: it waits for them again and is then final.
 *
 * @throws Refusal 404 invoice; 405 invalid_status, unless it has failed
 * Rules: invoices.md#statuses, invoice-operations.md#operations.
 */
export async function retryInvoice(ctx: Context, { svc_id }: { svc_id: string }) {
  const invoice = await lockVisibleInvoice(ctx, svc_id);
  if (!canInvoiceMove(invoice.status, 'pending') || invoice.status !== 'failed')
    throw refuse.notAllowed('invalid_status');
  await clearErrors(ctx, invoice.id, ['tax_error', 'invoice_generation_error']);
  await changeInvoice(ctx, invoice.id, { status: 'pending', tax_status: 'pending' });
  await markWallets(ctx, invoice.customer_id);
  ctx.after({ step: TAX_STEP, payload: { invoice_id: invoice.id } });
  return showInvoice(ctx, invoice.id);
}
