import type { Draft } from '../../../engine/invoices/draft.ts';
import { computeInvoice } from '../../../engine/invoices/invoice-steps.ts';
import { cents } from '../../../engine/money/cents.ts';
import type { PendingInvoice, StoredFee } from './pending-invoices.ts';

/** Computes an invoice whose fees stand already: the coupons and the progressive credit stay as they were stored. */
export function computeStored(
  blank: Draft,
  invoice: Pick<PendingInvoice, 'coupons_amount_cents' | 'progressive_billing_credit_amount_cents'>,
  fees: readonly Pick<StoredFee, 'id' | 'precise_coupons_amount_cents'>[],
): Draft {
  const takenOff = new Map<string, StoredFee['precise_coupons_amount_cents']>(
    fees.map((fee) => [fee.id, fee.precise_coupons_amount_cents]),
  );
  return computeInvoice({
    ...blank,
    fees: blank.fees.map((fee) => ({ ...fee, preciseCouponsAmountCents: takenOff.get(fee.key)! })),
    couponsAmountCents: cents(invoice.coupons_amount_cents),
    progressiveBillingCreditAmountCents: cents(invoice.progressive_billing_credit_amount_cents),
  });
}
