import type { Context } from '../../../platform/context.ts';
import type { InvoiceId } from '../../../platform/ids.ts';

/** Charges an invoice, if its customer can be charged. */
export const COLLECT_STEP = 'collect-invoice';

/**
 * Owes the automatic payment of an invoice that became final, if its customer is linked to a provider.
 *
 * @param customer as the invoice shows it
 * Rule: payments.md#automatic-payment.
 */
export function oweCollection(
  ctx: Context,
  invoiceId: InvoiceId,
  customer: { billing_configuration: { provider_customer_id?: string | undefined } } | null,
): void {
  if (customer?.billing_configuration.provider_customer_id === undefined) return;
  ctx.after({ step: COLLECT_STEP, payload: { invoice_id: invoiceId } });
}
