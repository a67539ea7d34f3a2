import { localDate } from '../../../engine/calendar/local-day.ts';
import type { Draft } from '../../../engine/invoices/draft.ts';
import type { InvoiceDates } from '../../../engine/invoices/issuing-and-due-dates.ts';
import type { Context } from '../../../platform/context.ts';
import type { InvoiceId } from '../../../platform/ids.ts';
import { type BookedInvoice, invoiceFinalizedLines } from '../../ledger/ledger/invoice-finalized.ts';
import { post } from '../../ledger/ledger/postings.ts';
import type { IssuerFacts, PayerFacts } from './payer-and-issuer.ts';

interface InvoiceToPost {
  invoiceId: InvoiceId;
  payer: Pick<PayerFacts, 'id' | 'account_type'>;
  issuer: Pick<IssuerFacts, 'id' | 'timezone'>;
  currency: string;
  dates: Pick<InvoiceDates, 'issuingDate'>;
  fees: BookedInvoice['fees'];
  draft: Draft;
}

/** Books an invoice that is final as it is computed, once. Rules: ledger.md#l1, ledger.md#l24. */
export const postFinalInvoice = (
  ctx: Context,
  { invoiceId, payer, issuer, currency, dates, fees, draft }: InvoiceToPost,
): Promise<void> =>
  post(ctx, {
    rule: 'invoice_finalized',
    source: { type: 'Invoice', id: invoiceId },
    currency,
    billingEntityId: issuer.id,
    bookedAt: ctx.now(),
    bookedOn: localDate(ctx.now(), issuer.timezone),
    documentDate: dates.issuingDate,
    customerId: payer.id,
    invoiceId,
    lines: invoiceFinalizedLines({
      selfBilled: payer.account_type === 'partner',
      fees,
      couponsAmountCents: draft.couponsAmountCents,
      progressiveBillingCreditAmountCents: draft.progressiveBillingCreditAmountCents,
      taxesAmountCents: draft.taxesAmountCents,
      totalIncludingTaxesCents: draft.subTotalIncludingTaxesAmountCents,
      taxes: draft.appliedTaxes.map(({ tax, amountCents }) => ({ code: tax.code, amountCents })),
    }),
  });
