import { newDraft } from '../../../engine/invoices/draft.ts';
import { computeInvoice } from '../../../engine/invoices/invoice-steps.ts';
import { cents } from '../../../engine/money/cents.ts';
import type { Context } from '../../../platform/context.ts';
import type { TaxAnswer } from '../../../platform/taxes/port.ts';
import { storeFeeTaxes } from '../finalize-invoice/pending-invoices.ts';
import { collectedByFee } from '../request-taxes/answered-taxes.ts';
import { listStandaloneFees } from '../request-taxes/reported-records.ts';
import type { TaxDocumentRow } from '../request-taxes/tax-documents.ts';

/** Gives a fee on no invoice the taxes that an engine recorded, unless it was paid or gathered meanwhile. */
export async function taxStandaloneFee(ctx: Context, question: TaxDocumentRow, answer: TaxAnswer): Promise<void> {
  const [fee] = await listStandaloneFees(ctx, [question.fee_id!]);
  const collected = fee && collectedByFee(question.document!, answer).get(fee.id);
  if (!fee || !collected) return;
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
}
