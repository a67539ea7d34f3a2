import type { Context } from '../../../platform/context.ts';
import type { InvoiceId } from '../../../platform/ids.ts';
import { newId } from '../../../platform/ids.ts';
import { announce } from '../../../platform/reactions.ts';
import { readInvoice } from '../../invoices/invoices/queries.ts';
import { paymentSucceeded } from '../announcements.ts';
import { readPayment } from './queries.ts';
import { insertPayment, storeShare } from './writes.ts';

/**
 * Records the manual payment of an invoice whose fees were all paid before it was made, with its receipt. Nothing is
 * booked, because the money was booked when each fee was paid. The transaction holds the customer locked.
 *
 * Rules: in-advance.md#gathering-paid-fees, ledger.md#l23.
 */
export async function recordPaidBefore(ctx: Context, invoiceId: InvoiceId): Promise<void> {
  const invoice = await readInvoice(ctx, invoiceId);
  if (invoice.total_amount_cents === 0) return;
  const id = newId();
  await insertPayment(ctx, {
    id,
    customerId: invoice.customer_id,
    payable: { type: 'Invoice', id: invoiceId },
    type: 'manual',
    amountCents: invoice.total_amount_cents,
    currency: invoice.currency,
    status: 'succeeded',
    paymentStatus: 'succeeded',
    invoiceIds: [invoiceId],
    createdAt: ctx.now(),
    now: ctx.now(),
  });
  await storeShare(ctx, id, { invoiceId, amountCents: invoice.total_amount_cents });
  if (!invoice.self_billed)
    await announce(ctx, paymentSucceeded, {
      payment: await readPayment(ctx, id),
      billing_entity_id: invoice.billing_entity_id,
    });
}
