import type { PaymentStatus } from '../../../engine/invoices/invoice-states.ts';
import type { Context } from '../../../platform/context.ts';
import { announce } from '../../../platform/reactions.ts';
import { invoicePaymentStatusChanged } from '../announcements.ts';
import { recordInvoice } from './announce.ts';
import type { InvoiceRow } from './queries.ts';
import { partsOf } from './show-invoice.ts';
import { invoiceView } from './view.ts';
import { changeInvoice, type InvoiceChange, payFees } from './writes.ts';

/**
 * Sets the payment status of an invoice that the transaction holds locked, with its consequences: a paid invoice is not
 * overdue, its fees follow, and it is announced. The status changes nowhere else.
 *
 * @param also other columns that change with it
 * @returns the invoice as it then is
 * Rules: payments.md#automatic-payment, invoice-amounts.md#settlement.
 */
export async function setPaymentStatus(
  ctx: Context,
  invoice: InvoiceRow,
  status: PaymentStatus,
  also: InvoiceChange = {},
): Promise<InvoiceRow> {
  if (invoice.payment_status === status)
    return Object.keys(also).length === 0 ? invoice : changeInvoice(ctx, invoice.id, also);
  const before = invoiceView(await partsOf(ctx, invoice), ctx.now());
  const changed = await changeInvoice(ctx, invoice.id, {
    ...also,
    payment_status: status,
    ...(status === 'succeeded' ? { payment_overdue: false, ready_for_payment_processing: false } : {}),
  });
  await payFees(ctx, invoice.id, { status, now: ctx.now() });
  await announce(ctx, invoicePaymentStatusChanged, { invoice, status });
  // An open invoice is not shown because the contract has no status for it.
  if (changed.status !== 'open') await recordInvoice(ctx, 'invoice.payment_status_updated', invoice.id, { before });
  return changed;
}
