import type { PaymentStatus } from '../../engine/invoices/invoice-states.ts';
import type { InvoiceId } from '../../platform/ids.ts';
import { announcement } from '../../platform/reactions.ts';
import type { InvoiceRow } from './invoices/queries.ts';

/** The payment status of an invoice that changed; the invoice as it was before. */
export interface PaymentChange {
  invoice: InvoiceRow;
  status: PaymentStatus;
}

/**
 * The payment status of an invoice changed: by a payment, an offset or a person.
 * Rule: payments.md#automatic-payment "on every status write".
 */
export const invoicePaymentStatusChanged = announcement<PaymentChange>('invoice.payment_status_changed');

/** What an invoice owes changed, or it counts as paid; the invoice is locked. */
export const invoiceDueChanged = announcement<{ invoice_id: InvoiceId }>('invoice.due_changed');

export const draftInvoiceDeleted = announcement<{ invoice_id: InvoiceId }>('invoice.draft_deleted');
