import type { Context } from '../../../platform/context.ts';
import type { CustomerId, InvoiceId, PaymentRequestId } from '../../../platform/ids.ts';
import type { ProviderError } from '../../../platform/payments/port.ts';
import { tellTopUpRefused } from '../../credits/wallet-transactions/announce.ts';
import { readCustomer } from '../../customers/customers/queries.ts';
import { recordInvoice } from '../../invoices/invoices/announce.ts';
import type { InvoiceRow } from '../../invoices/invoices/queries.ts';
import type { PaymentRow } from './queries.ts';

/**
 * Logs and announces that an invoice could not be charged; for an invoice that is not shown yet only its top-up is
 * announced.
 * Rules: top-ups.md#paid-top-ups (6), payments.md#automatic-payment.
 */
export async function recordInvoiceFailure(
  ctx: Context,
  invoice: Pick<InvoiceRow, 'id' | 'customer_id' | 'status' | 'invoice_type'>,
  error: ProviderError,
  payment?: PaymentRow,
): Promise<void> {
  const failure = await failureOf(ctx, invoice.customer_id, error, payment);
  if (invoice.invoice_type === 'credit') await tellTopUpRefused(ctx, invoice.id, failure);
  if (invoice.status === 'open') return;
  await recordInvoice(ctx, 'invoice.payment_failure', invoice.id);
  ctx.record({
    webhook: {
      type: 'invoice.payment_failure',
      objectType: 'payment_provider_invoice_payment_error',
      objectId: invoice.id,
      customerId: invoice.customer_id,
      object: { svc_invoice_id: invoice.id, ...failure },
    },
  });
}

/** Announces that a payment request could not be charged. Rule: payment-requests.md#payment-requests. */
export async function recordRequestFailure(
  ctx: Context,
  request: { id: PaymentRequestId; customer_id: CustomerId },
  { invoiceIds, error, payment }: { invoiceIds: readonly InvoiceId[]; error: ProviderError; payment?: PaymentRow },
): Promise<void> {
  ctx.record({
    webhook: {
      type: 'payment_request.payment_failure',
      objectType: 'payment_provider_payment_request_payment_error',
      objectId: request.id,
      customerId: request.customer_id,
      object: {
        svc_payment_request_id: request.id,
        svc_invoice_ids: invoiceIds,
        ...(await failureOf(ctx, request.customer_id, error, payment)),
      },
    },
  });
}

/** The failed charge or refund: customer, provider and reason. */
export async function failureOf(ctx: Context, customerId: CustomerId, error: ProviderError, payment?: PaymentRow) {
  const customer = await readCustomer(ctx, customerId);
  return {
    svc_customer_id: customer.id,
    external_customer_id: customer.external_id,
    provider_customer_id: payment?.provider_customer_id ?? customer.provider_customer_id,
    payment_provider: payment?.provider_type ?? customer.payment_provider,
    payment_provider_code: payment?.provider_code ?? customer.payment_provider_code,
    provider_error: { message: error.message, error_code: error.code },
    error_details: { code: error.code, message: error.message },
  };
}
