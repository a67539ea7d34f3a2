import { canInvoiceMove } from '../../../../engine/invoices/invoice-states.ts';
import type { Context } from '../../../../platform/context.ts';
import { announce } from '../../../../platform/reactions.ts';
import { refuse } from '../../../../platform/refusal.ts';
import { draftInvoiceDeleted } from '../../announcements.ts';
import { recordInvoice } from '../announce.ts';
import { showInvoice } from '../show-invoice.ts';
import { changeInvoice, lockVisibleInvoice } from '../writes.ts';

/**
 * Deletes a draft and the notes that follow it: it is no longer shown and gets no number. The periods it would have
 * billed stay claimed.
 *
 * @throws Refusal 404 invoice; 405 not_deletable, when it is no draft
 * Rule: invoice-operations.md#operations.
 */
export async function deleteInvoice(ctx: Context, { svc_id }: { svc_id: string }) {
  const invoice = await lockVisibleInvoice(ctx, svc_id);
  if (!canInvoiceMove(invoice.status, 'deleted')) throw refuse.notAllowed('not_deletable');
  await changeInvoice(ctx, invoice.id, { status: 'deleted' });
  await announce(ctx, draftInvoiceDeleted, { invoice_id: invoice.id });
  await recordInvoice(ctx, 'invoice.deleted', invoice.id);
  return showInvoice(ctx, invoice.id);
}
