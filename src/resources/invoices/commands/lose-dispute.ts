import type { Context } from '../../../platform/context.ts';
import { refuse } from '../../../platform/refusal.ts';
import { recordDisputeLost } from '../record.ts';
import { showInvoice } from '../show.ts';
import { changeInvoice, lockVisibleInvoice } from '../writes.ts';

/**
 * Notes that the customer won a dispute about the invoice; the first time counts. Its payment status stays.
 *
 * @throws Refusal 404 invoice; 405 not_disputable, unless it is finalized or voided
 * Rules: subscriptions-and-invoices F.10, credits-and-payments E.11.
 */
export async function loseDispute(ctx: Context, { svc_id }: { svc_id: string }) {
  const invoice = await lockVisibleInvoice(ctx, svc_id);
  if (invoice.status !== 'finalized' && invoice.status !== 'voided') throw refuse.notAllowed('not_disputable');
  if (invoice.payment_dispute_lost_at === null) {
    await changeInvoice(ctx, invoice.id, { payment_dispute_lost_at: ctx.now(), payment_overdue: false });
    await recordDisputeLost(ctx, invoice.id);
  }
  return showInvoice(ctx, invoice.id);
}
