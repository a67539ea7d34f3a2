import type { Context } from '../../../platform/context.ts';
import type { InvoiceRow } from './queries.ts';

/**
 * Owes it to the tax engines that recorded, or may have recorded, an invoice to take it back; nothing for an invoice
 * that no engine was asked about. The fees of an invoice of paid fees were recorded one by one.
 *
 * Rule: tax-engines.md#one-record.
 */
export function oweTakingTaxesBack(
  ctx: Context,
  invoice: Pick<InvoiceRow, 'id' | 'invoice_type' | 'tax_integration_id' | 'tax_status'>,
): void {
  if (!maybeRecorded(invoice)) return;
  ctx.after({ step: 'take-invoice-taxes-back', payload: { invoice_id: invoice.id } });
}

/** Whether an engine may have recorded an invoice, or fees that are on it. */
export const maybeRecorded = (
  invoice: Pick<InvoiceRow, 'invoice_type' | 'tax_integration_id' | 'tax_status'>,
): boolean =>
  invoice.tax_integration_id !== null || invoice.tax_status !== null || invoice.invoice_type === 'advance_charges';
