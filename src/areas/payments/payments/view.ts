import { seconds } from '../../../platform/schema/view.ts';
import type { PaymentRow } from './queries.ts';
import type { PaymentView } from './schema.ts';

/** A payment as the API shows it. Rule: payments.md#payment-object. */
export const paymentView = (row: PaymentRow): PaymentView => ({
  svc_id: row.id,
  svc_customer_id: row.customer_id,
  external_customer_id: row.external_customer_id,
  invoice_ids: row.invoices.map(({ id }) => id),
  invoice_numbers: row.invoices.map(({ number }) => number),
  svc_payable_id: row.payable_id,
  payable_type: row.payable_type,
  amount_cents: row.amount_cents,
  amount_currency: row.amount_currency,
  status: row.status,
  payment_status: row.payment_status,
  type: row.payment_type,
  reference: row.reference,
  payment_provider_code: row.provider_code,
  payment_provider_type: row.provider_type,
  external_payment_id: row.provider_payment_id,
  provider_payment_id: row.provider_payment_id,
  provider_customer_id: row.provider_customer_id,
  payment_method_id: row.payment_method_id,
  next_action: row.next_action,
  provider_error: row.error === null ? null : { message: row.error.message, error_code: row.error.code },
  ...(row.expected_settlement_date === null
    ? {}
    : { expected_settlement_date: row.expected_settlement_date.toString() }),
  created_at: seconds(row.created_at),
});
