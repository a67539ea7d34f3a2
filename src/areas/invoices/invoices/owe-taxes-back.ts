import type { Context } from '../../../platform/context.ts';
import type { InvoiceRow } from './queries.ts';

/**
 * Owes it to the tax engine that recorded an invoice to take it back; nothing for any other invoice.
 * Rule: tax-engines.md#when-an-engine-is-asked.
 */
export function oweTakingTaxesBack(ctx: Context, invoice: Pick<InvoiceRow, 'id' | 'tax_integration_id'>): void {
  if (invoice.tax_integration_id === null) return;
  ctx.after({ step: 'take-invoice-taxes-back', payload: { invoice_id: invoice.id } });
}
