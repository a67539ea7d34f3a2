import type { ActiveCoupon, CouponUse } from '../credits/coupon.ts';
import type { CreditNoteUse, SpendableNote } from '../credits/credit-note-use.ts';
import type { PayingWallet, WalletKey, WalletPayment } from '../credits/wallet-payment.ts';
import { type Cents, ZERO_CENTS } from '../money/cents.ts';
import { type Decimal, ZERO } from '../money/decimal.ts';
import type { CollectedTaxes } from '../taxes/provider/collect-taxes.ts';
import type { Tax } from '../taxes/tax.ts';
import type { FeeTaxes } from '../taxes/tax-fee.ts';
import type { InvoiceTaxes } from '../taxes/tax-invoice.ts';
import type { PaymentStatus } from './invoice-states.ts';
import type { InvoiceType } from './invoice-types.ts';
import type { ProgressiveCredit } from './progressive-credit.ts';
import type { ProgressivePart } from './progressive-rest.ts';

/** A fee in the form that the steps use. */
export interface DraftFee extends FeeTaxes {
  /** The caller's key; fees also keep their order. */
  key: string;
  amountCents: Cents;
  preciseAmountCents: Decimal;
  /** Taxes that apply, chosen by taxes/choose-taxes.ts. */
  taxes: readonly Tax[];
  /** What a tax engine collects for it, in place of `taxes`. */
  collected?: CollectedTaxes;
  /** The amount subtracted by coupons and progressive credits, 5 decimals. */
  preciseCouponsAmountCents: Decimal;
  /** What is billed of it beyond the taxed amount, 5 decimals; rule: progressive-billing.md#taken-over. */
  untaxedAmountCents: Decimal;
  /** What it takes over of fees of a progressive invoice. */
  progressiveParts: readonly ProgressivePart[];
  /** The amount of this fee, with taxes, that credit notes paid, 5 decimals. */
  preciseCreditNotesAmountCents: Decimal;
  /** Facts that decide which wallets may pay it. */
  walletKey: WalletKey;
}

/** An invoice in the course of computation. Amounts that no step has set yet are 0. */
export interface Draft extends InvoiceTaxes {
  invoiceType: InvoiceType;
  /** Whether the invoice leaves draft with this computation; one in its grace period does not. */
  isFinalizing: boolean;
  /** Whether the customer wants an invoice whose fees are all 0. */
  keepsZeroAmount: boolean;
  /** The taxes are not known yet, so the invoice stops before them. */
  awaitsTaxes: boolean;

  fees: readonly DraftFee[];
  /** The progressive invoices to credit, at most one for each line. */
  progressiveCredits: readonly ProgressiveCredit[];
  /** The customer's coupons, oldest first; and their use. */
  coupons: { currency: string; active: readonly ActiveCoupon[] };
  couponUses: readonly CouponUse[];
  /** Credit notes that may pay, oldest first; and their payments. */
  creditNotes: readonly SpendableNote[];
  creditNoteUses: readonly CreditNoteUse[];
  /** Wallets that may pay, first payer first; and their payments. */
  wallets: readonly PayingWallet[];
  walletPayments: readonly WalletPayment[];
  feesAmountCents: Cents;
  progressiveBillingCreditAmountCents: Cents;
  couponsAmountCents: Cents;
  subTotalExcludingTaxesAmountCents: Cents;
  subTotalIncludingTaxesAmountCents: Cents;
  creditNotesAmountCents: Cents;
  prepaidCreditAmountCents: Cents;
  totalAmountCents: Cents;
  paymentStatus: PaymentStatus;
  status: 'draft' | 'pending' | 'finalized' | 'closed';
}

export interface DraftInput {
  invoiceType: InvoiceType;
  isFinalizing: boolean;
  keepsZeroAmount: boolean;
  fees: readonly (Pick<DraftFee, 'key' | 'amountCents' | 'preciseAmountCents' | 'taxes'> &
    Partial<Pick<DraftFee, 'walletKey' | 'collected'>>)[];
  progressiveCredits?: readonly ProgressiveCredit[];
  awaitsTaxes?: boolean;
  /** Absent means none. Only an invoice that leaves draft uses coupons. */
  coupons?: Draft['coupons'];
  /** Absent means none. Only an invoice that leaves draft is paid by them. */
  creditNotes?: Draft['creditNotes'];
  /** Absent means none. Only an invoice that leaves draft is paid by them. */
  wallets?: Draft['wallets'];
}

/** The key of a fee that no wallet pays. */
const NO_KEY: WalletKey = { feeType: '', billableMetricId: null, targetWalletCode: null };

const NO_COUPONS = { currency: '', active: [] };

/** The draft with which the steps begin: fees without taxes, and all amounts 0. */
export const newDraft = ({
  fees,
  progressiveCredits = [],
  coupons = NO_COUPONS,
  creditNotes = [],
  wallets = [],
  awaitsTaxes = false,
  ...input
}: DraftInput): Draft => ({
  ...input,
  awaitsTaxes,
  progressiveCredits,
  coupons,
  couponUses: [],
  creditNotes,
  creditNoteUses: [],
  wallets,
  walletPayments: [],
  fees: fees.map((fee) => ({
    walletKey: NO_KEY,
    ...fee,
    preciseCouponsAmountCents: ZERO,
    untaxedAmountCents: ZERO,
    progressiveParts: [],
    preciseCreditNotesAmountCents: ZERO,
    appliedTaxes: [],
    taxesAmountCents: ZERO_CENTS,
    taxesPreciseAmountCents: ZERO,
    taxesRate: ZERO,
  })),
  feesAmountCents: ZERO_CENTS,
  progressiveBillingCreditAmountCents: ZERO_CENTS,
  couponsAmountCents: ZERO_CENTS,
  subTotalExcludingTaxesAmountCents: ZERO_CENTS,
  appliedTaxes: [],
  taxesAmountCents: ZERO_CENTS,
  taxesRate: ZERO,
  subTotalIncludingTaxesAmountCents: ZERO_CENTS,
  creditNotesAmountCents: ZERO_CENTS,
  prepaidCreditAmountCents: ZERO_CENTS,
  totalAmountCents: ZERO_CENTS,
  paymentStatus: 'pending',
  status: 'draft',
});
