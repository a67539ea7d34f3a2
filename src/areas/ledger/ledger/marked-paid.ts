import type { Context } from '../../../platform/context.ts';
import { balancesOfInvoice } from './balances-of-invoice.ts';
import { type BookedDocument, bookOnInvoice } from './book-on-invoice.ts';

/**
 * Books that an invoice was set to succeeded, or back, without a payment: the due amount counts as received elsewhere.
 * Self-billed invoices are booked on the other side. Rules: ledger.md#l20, ledger.md#l24.
 */
export async function bookMarkedPaid(
  ctx: Context,
  invoice: BookedDocument & { payment_status: 'pending' | 'succeeded' | 'failed' },
): Promise<void> {
  const balances = await balancesOfInvoice(ctx, invoice.id);
  const due = balances[invoice.self_billed ? 'partner_payable' : 'receivable'] ?? 0;
  const amountCents = invoice.payment_status === 'succeeded' ? due : -(balances.unrecorded_receipts ?? 0);
  await bookOnInvoice(ctx, 'marked_paid', invoice, [
    { account: 'unrecorded_receipts', amountCents },
    { account: invoice.self_billed ? 'partner_payable' : 'receivable', amountCents: -amountCents },
  ]);
}
