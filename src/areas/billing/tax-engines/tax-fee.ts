import { newDraft } from '../../../engine/invoices/draft.ts';
import { computeInvoice } from '../../../engine/invoices/invoice-steps.ts';
import { cents } from '../../../engine/money/cents.ts';
import type { Context } from '../../../platform/context.ts';
import type { FeeId } from '../../../platform/ids.ts';
import type { TaxAnswer, TaxDocument } from '../../../platform/taxes/port.ts';
import { storeFeeTaxes } from '../finalize-invoice/pending-invoices.ts';
import { collectedByFee } from '../request-taxes/answered-taxes.ts';
import { findStandaloneFee, listStandaloneFees, lockStandaloneFee } from '../request-taxes/reported-records.ts';

/**
 * Gives a fee on no invoice the taxes that an engine recorded.
 *
 * @returns whether the fee bears them: not if it was deleted or refunded, or paid before they were known
 * Rule: tax-engines.md#one-record.
 */
export async function taxStandaloneFee(
  ctx: Context,
  id: FeeId,
  { document, answer }: { document: TaxDocument; answer: TaxAnswer },
): Promise<boolean> {
  await lockStandaloneFee(ctx, id);
  const [fee] = await listStandaloneFees(ctx, [id]);
  if (!fee) {
    const stored = await findStandaloneFee(ctx, id);
    return stored?.is_billed === true && stored.has_engine_taxes;
  }
  const collected = collectedByFee(document, answer).get(fee.id);
  if (!collected) return false;
  const draft = computeInvoice(
    newDraft({
      invoiceType: 'advance_charges',
      isFinalizing: false,
      keepsZeroAmount: true,
      fees: [
        {
          key: fee.id,
          amountCents: cents(fee.amount_cents),
          preciseAmountCents: fee.precise_amount_cents,
          taxes: [],
          collected,
        },
      ],
    }),
  );
  const owner = {
    organizationId: ctx.organizationId,
    invoiceId: null,
    billingEntityId: fee.billing_entity_id,
    customerId: fee.customer_id,
    currency: fee.amount_currency,
    createdAt: fee.created_at,
  };
  await storeFeeTaxes(ctx.db, owner, draft);
  return true;
}
