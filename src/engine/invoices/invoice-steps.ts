import { useCoupons } from '../credits/coupon.ts';
import { useCreditNotes } from '../credits/credit-note-use.ts';
import { payWithWallets } from '../credits/wallet-payment.ts';
import { addCents, subtractCents, sumCents } from '../money/cents.ts';
import { ZERO } from '../money/decimal.ts';
import { collectedFeeTaxes, collectedInvoiceTaxes } from '../taxes/provider/collect-taxes.ts';
import { taxBase, taxFee } from '../taxes/tax-fee.ts';
import { taxInvoice } from '../taxes/tax-invoice.ts';
import type { Draft, DraftFee } from './draft.ts';
import { untaxedAmounts } from './untaxed-amounts.ts';

/** One step of the computation of an invoice: over the whole invoice, or over each fee separately. */
export type Step = WholeStep | { eachFee: (draft: Draft) => (fee: DraftFee) => DraftFee };
type WholeStep = (draft: Draft) => Draft;

const totalFees: WholeStep = (draft) => ({
  ...draft,
  feesAmountCents: sumCents(draft.fees.map((fee) => fee.amountCents)),
});

/** Rule: progressive-billing.md#credit-on-later-invoices. */
const creditProgressiveBilling: WholeStep = (draft) => ({
  ...draft,
  progressiveBillingCreditAmountCents: sumCents([
    draft.progressiveBillingCreditAmountCents,
    ...draft.progressiveCredits.map(({ amountCents }) => amountCents),
  ]),
});

const shareProgressiveCredits: Step = {
  eachFee:
    ({ progressiveCredits }) =>
    (fee) => ({
      ...fee,
      preciseCouponsAmountCents: progressiveCredits.reduce(
        (total, { shares }) => total.plus(shares.get(fee.key) ?? ZERO),
        fee.preciseCouponsAmountCents,
      ),
      progressiveParts: progressiveCredits.flatMap(({ parts }) => parts.get(fee.key) ?? []),
    }),
};

/** Rule: progressive-billing.md#taken-over. */
const billUntaxed: WholeStep = (draft) => {
  if (draft.progressiveCredits.length === 0) return draft;
  const untaxed = untaxedAmounts(draft);
  return {
    ...draft,
    fees: draft.fees.map((fee) => ({ ...fee, untaxedAmountCents: untaxed.get(fee.key) ?? ZERO })),
  };
};

/** Rule: coupons.md#on-an-invoice. */
const takeCouponsOff: WholeStep = (draft) => {
  if (!draft.isFinalizing || draft.feesAmountCents === 0) return draft;
  const { uses, fees } = useCoupons({
    coupons: draft.coupons.active,
    currency: draft.coupons.currency,
    fees: draft.fees,
    subTotalCents: subtractCents(draft.feesAmountCents, draft.progressiveBillingCreditAmountCents),
  });
  return {
    ...draft,
    fees,
    couponUses: uses,
    couponsAmountCents: sumCents([draft.couponsAmountCents, ...uses.map(({ amountCents }) => amountCents)]),
  };
};

const totalBeforeTaxes: WholeStep = (draft) => ({
  ...draft,
  subTotalExcludingTaxesAmountCents: subtractCents(
    draft.feesAmountCents,
    addCents(draft.progressiveBillingCreditAmountCents, draft.couponsAmountCents),
  ),
});

const taxFees: Step = {
  eachFee: () => (fee) => ({
    ...fee,
    ...(fee.collected === undefined ? taxFee(fee, fee.taxes) : collectedFeeTaxes(fee.collected)),
  }),
};

/** Rules: taxes.md#computation, tax-engines.md#what-the-answer-becomes. */
const taxWhole: WholeStep = (draft) => {
  if (draft.awaitsTaxes) return draft;
  const ofWhole = draft.fees.some((fee) => fee.collected !== undefined) ? collectedInvoiceTaxes : taxInvoice;
  return { ...draft, ...ofWhole(draft.fees, draft.subTotalExcludingTaxesAmountCents) };
};

const totalWithTaxes: WholeStep = (draft) => ({
  ...draft,
  subTotalIncludingTaxesAmountCents: addCents(draft.subTotalExcludingTaxesAmountCents, draft.taxesAmountCents),
});

/** Rule: credit-notes.md#paying-later-invoices. */
const payWithCreditNotes: WholeStep = (draft) => {
  if (!draft.isFinalizing || draft.awaitsTaxes || draft.creditNotes.length === 0) return draft;
  const { uses, shares } = useCreditNotes(
    draft.creditNotes,
    draft.fees.map((fee) => ({ key: fee.key, totalCents: taxBase(fee).plus(fee.taxesAmountCents) })),
    draft.subTotalIncludingTaxesAmountCents,
  );
  return {
    ...draft,
    fees: draft.fees.map((fee) => ({ ...fee, preciseCreditNotesAmountCents: shares.get(fee.key) ?? ZERO })),
    creditNoteUses: uses,
    creditNotesAmountCents: sumCents([draft.creditNotesAmountCents, ...uses.map(({ amountCents }) => amountCents)]),
  };
};

/** Rule: wallets.md#paying-an-invoice. */
const payFromWallets: WholeStep = (draft) => {
  if (!draft.isFinalizing || draft.awaitsTaxes || draft.wallets.length === 0) return draft;
  const walletPayments = payWithWallets({
    fees: draft.fees,
    totalCents: subtractCents(draft.subTotalIncludingTaxesAmountCents, draft.creditNotesAmountCents),
    wallets: draft.wallets,
  });
  const paid = walletPayments.map(({ amountCents }) => amountCents);
  return {
    ...draft,
    walletPayments,
    prepaidCreditAmountCents: sumCents([draft.prepaidCreditAmountCents, ...paid]),
  };
};

const total: WholeStep = (draft) => ({
  ...draft,
  totalAmountCents: subtractCents(
    draft.subTotalIncludingTaxesAmountCents,
    addCents(draft.creditNotesAmountCents, draft.prepaidCreditAmountCents),
  ),
});

/** Rule: invoices.md#statuses "payment_status". */
const settle: WholeStep = (draft) => ({
  ...draft,
  paymentStatus: draft.totalAmountCents === 0 || draft.invoiceType === 'advance_charges' ? 'succeeded' : 'pending',
});

/**
 * The fees decide, not the total: a fully discounted invoice is finalized; one that waits for its taxes is finalized
 * once they are known. Rules: invoices.md#zero-amounts, eu-taxes.md.
 */
const closeOrFinalize: WholeStep = (draft) => {
  const isAlwaysKept = draft.invoiceType === 'credit' || draft.invoiceType === 'progressive_billing';
  const isSuppressed = draft.feesAmountCents === 0 && !draft.keepsZeroAmount && !isAlwaysKept;
  if (!draft.isFinalizing) return { ...draft, status: 'draft' };
  return { ...draft, status: isSuppressed ? 'closed' : draft.awaitsTaxes ? 'pending' : 'finalized' };
};

/**
 * The steps of an invoice's computation in order; credits before taxes precede `totalBeforeTaxes`, credits after taxes
 * precede `total`.
 *
 * Rules: invoice-amounts.md#order-of-computation, invoice-amounts.md#steps-by-invoice-type.
 */
export const INVOICE_STEPS: readonly Step[] = [
  totalFees,
  creditProgressiveBilling,
  shareProgressiveCredits,
  takeCouponsOff,
  billUntaxed,
  totalBeforeTaxes,
  taxFees,
  taxWhole,
  totalWithTaxes,
  payWithCreditNotes,
  payFromWallets,
  total,
  settle,
  closeOrFinalize,
];

const run = (draft: Draft, step: Step): Draft =>
  typeof step === 'function' ? step(draft) : { ...draft, fees: draft.fees.map(step.eachFee(draft)) };

/** Runs every step over a new draft. */
export const computeInvoice = (draft: Draft): Draft => INVOICE_STEPS.reduce(run, draft);
