import type { Context } from '../../../../platform/context.ts';
import { refuse } from '../../../../platform/refusal.ts';
import { bookDisputeLost } from '../../../ledger/ledger/payment-booked.ts';
import { recordDisputeLost } from '../announce.ts';
import { oweTakingTaxesBack } from '../owe-taxes-back.ts';
import type { InvoiceRow } from '../queries.ts';
import { showInvoice } from '../show-invoice.ts';
import { changeInvoice, lockVisibleInvoice } from '../writes.ts';

/**
 * Notes that the customer won a dispute about the invoice; only the first call has an effect. Its payment status stays.
 *
 * @throws Refusal 404 invoice; 405 not_disputable, unless it is finalized or voided
 * Rules: invoice-operations.md#operations, payments.md#disputes.
 */
export async function loseDispute(ctx: Context, { svc_id }: { svc_id: string }) {
  const invoice = await lockVisibleInvoice(ctx, svc_id);
  if (invoice.status !== 'finalized' && invoice.status !== 'voided') throw refuse.notAllowed('not_disputable');
  await noteDisputeLost(ctx, invoice);
  return showInvoice(ctx, invoice.id);
}

/** Records a lost dispute, once; the invoice is locked. Rules: payments.md#disputes, ledger.md#l18. */
export async function noteDisputeLost(ctx: Context, invoice: InvoiceRow): Promise<void> {
  if (invoice.payment_dispute_lost_at !== null) return;
  const changed = await changeInvoice(ctx, invoice.id, { payment_dispute_lost_at: ctx.now(), payment_overdue: false });
  await bookDisputeLost(ctx, changed);
  oweTakingTaxesBack(ctx, invoice);
  await recordDisputeLost(ctx, invoice.id);
}
