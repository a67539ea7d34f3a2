import type { ActiveCoupon, CouponUse } from '../credits/coupon.ts';
import type { CreditNoteUse, SpendableNote } from '../credits/credit-note-use.ts';
import type { PayingWallet, WalletKey, WalletPayment } from '../credits/wallet-payment.ts';
import { type Cents, ZERO_CENTS } from '../money/cents.ts';
import { type Decimal, ZERO } from '../money/decimal.ts';
import type { Tax } from '../taxes/tax.ts';
import type { FeeTaxes } from '../taxes/tax-fee.ts';
import type { InvoiceTaxes } from '../taxes/tax-invoice.ts';
import type { PaymentStatus } from './invoice-states.ts';
import type { InvoiceType } from './invoice-types.ts';
import type { ProgressiveCredit } from './progressive-credit.ts';

/** A fee as the steps see it. */
export interface DraftFee extends FeeTaxes {
  /** The caller's handle; fees also keep their order. */
  key: string;
  amountCents: Cents;
  preciseAmountCents: Decimal;
  /** Taxes that apply, chosen by taxes/choose-taxes.ts. */
  taxes: readonly Tax[];
  /** What coupons and progressive billing credits took off this fee, 5 decimals. */
  preciseCouponsAmountCents: Decimal;
  /** What credit notes paid of this fee with its taxes, 5 decimals. */
  preciseCreditNotesAmountCents: Decimal;
  /** What decides which wallets may pay it. */
  walletKey: WalletKey;
}

/** An invoice while it is computed. Amounts that no step has set yet are 0. */
export interface Draft extends InvoiceTaxes {
  invoiceType: InvoiceType;
  /** Whether the invoice leaves draft with this computation; one in its grace period does not. */
  isFinalizing: boolean;
  /** Whether the customer wants an invoice whose fees are all 0. */
  keepsZeroAmount: boolean;
  /** An external engine has yet to say which taxes apply: the invoice stops before them. */
  awaitsTaxes: boolean;

  fees: readonly DraftFee[];
  /** What was billed progressively, at most one of a line. */
  progressiveCredits: readonly ProgressiveCredit[];
  /** What the customer has, oldest first; and what of it was used. */
  coupons: { currency: string; active: readonly ActiveCoupon[] };
  couponUses: readonly CouponUse[];
  /** Notes that may pay, oldest first; and what they pay. */
  creditNotes: readonly SpendableNote[];
  creditNoteUses: readonly CreditNoteUse[];
  /** Wallets that may pay, the first payer first; and what each pays. */
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
    Partial<Pick<DraftFee, 'walletKey'>>)[];
  progressiveCredits?: readonly ProgressiveCredit[];
  awaitsTaxes?: boolean;
  /** Absent: none. Only an invoice that leaves draft uses them. */
  coupons?: Draft['coupons'];
  /** Absent: none. Only an invoice that leaves draft is paid by them. */
  creditNotes?: Draft['creditNotes'];
  /** Absent: none. Only an invoice that leaves draft is paid by them. */
  wallets?: Draft['wallets'];
}

/** Of a fee that no wallet is asked to pay. */
const NO_KEY: WalletKey = { feeType: '', billableMetricId: null, targetWalletCode: null };

const NO_COUPONS = { currency: '', active: [] };

/** The draft with which the steps begin: fees without taxes, all amounts 0. */
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
