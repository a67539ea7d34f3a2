import type { Temporal } from 'temporal-polyfill';
import { newDraft } from '../../../engine/invoices/draft.ts';
import type { InvoiceType } from '../../../engine/invoices/invoice-types.ts';
import { cents } from '../../../engine/money/cents.ts';
import type { Context } from '../../../platform/context.ts';
import type { BillingEntityId } from '../../../platform/ids.ts';
import type { TaxAnswer } from '../../../platform/taxes/port.ts';
import { followInvoice } from '../../credits/credit-notes/follow-invoice.ts';
import { recordInvoice } from '../../invoices/invoices/announce.ts';
import { insertInvoiceTaxes } from '../build-invoice/writes.ts';
import { computeStored } from '../finalize-invoice/compute-stored.ts';
import { listStoredFees, storeFeeTaxes } from '../finalize-invoice/pending-invoices.ts';
import { collectedByFee, NOTHING } from '../request-taxes/answered-taxes.ts';
import type { TaxDocumentRow } from '../request-taxes/tax-documents.ts';

interface EstimatedDraft {
  billing_entity_id: BillingEntityId;
  invoice_type: InvoiceType;
  currency: string;
  coupons_amount_cents: number;
  progressive_billing_credit_amount_cents: number;
  created_at: Temporal.Instant;
}

/**
 * Gives a draft the taxes that an engine estimates; it stays a draft and is announced as ready. A draft that was
 * computed again since is left alone, since it has a question of its own.
 *
 * Rule: tax-engines.md#when-an-engine-is-asked.
 */
export async function taxDraft(ctx: Context, question: TaxDocumentRow, answer: TaxAnswer): Promise<void> {
  const { db, organizationId } = ctx;
  const id = question.invoice_id!;
  const [invoice] = await db<EstimatedDraft[]>`
    select billing_entity_id, invoice_type, currency, coupons_amount_cents, progressive_billing_credit_amount_cents,
      created_at
    from invoices
    where organization_id = ${organizationId} and id = ${id} and status = 'draft'
      and tax_version = ${question.tax_version}
    for update`;
  if (!invoice) return;
  const fees = await listStoredFees(ctx, id);
  const collected = collectedByFee(question.document!, answer);
  const blank = newDraft({
    invoiceType: invoice.invoice_type,
    isFinalizing: false,
    keepsZeroAmount: true,
    fees: fees.map((fee) => ({
      key: fee.id,
      amountCents: cents(fee.amount_cents),
      preciseAmountCents: fee.precise_amount_cents,
      taxes: [],
      collected: collected.get(fee.id) ?? NOTHING,
    })),
  });
  const draft = computeStored(blank, invoice, fees);
  const owner = {
    organizationId,
    invoiceId: id,
    billingEntityId: invoice.billing_entity_id,
    customerId: question.customer_id,
    currency: invoice.currency,
    createdAt: invoice.created_at,
  };
  await storeFeeTaxes(db, owner, draft);
  await insertInvoiceTaxes(db, owner, draft);
  await db`
    update invoices set tax_status = 'succeeded', taxes_amount_cents = ${draft.taxesAmountCents},
      taxes_rate = ${draft.taxesRate},
      sub_total_including_taxes_amount_cents = ${draft.subTotalIncludingTaxesAmountCents},
      total_amount_cents = ${draft.totalAmountCents}, updated_at = ${ctx.now()}
    where organization_id = ${organizationId} and id = ${id}`;
  await followInvoice(ctx, id);
  await recordInvoice(ctx, 'invoice.ready_to_finalize', id);
}
