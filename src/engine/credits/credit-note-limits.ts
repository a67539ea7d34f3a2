import { type Cents, cents, roundToCents, sumCents } from '../money/cents.ts';
import { type Decimal, sum } from '../money/decimal.ts';
import { type NoteParts, totalOf } from './credit-note-parts.ts';

/** An invoice with the figures that limit its notes. */
export interface NotedInvoice {
  isDraft: boolean;
  isVoided: boolean;
  isTopUp: boolean;
  paymentStatus: 'pending' | 'succeeded' | 'failed';
  totalCents: number;
  totalPaidCents: number;
  writtenOffCents: number;
  /** What it billed, taxes included, before credit notes and wallets paid for it. */
  billedCents: number;
  /** Refunds are a multiple of it, the smallest amount that the provider can refund; 1 unless it rounds. */
  refundStepCents: number;
  /** Sums over its notes so far. */
  noted: NoteParts;
}

/**
 * What may still be credited of an invoice, taxes included: what it billed less what its notes gave back, which is what
 * a note of all that is left gives.
 *
 * Rules: credit-note-amounts.md#what-is-left, credit-note-amounts.md#no-more-than-was-billed.
 */
export function creditableOfInvoice(invoice: NotedInvoice, feesLeft: readonly Cents[]): Cents {
  const left = sumCents(feesLeft);
  if (invoice.isDraft || invoice.isTopUp || left === 0) return cents(0);
  return cents(Math.max(invoice.billedCents - totalOf(invoice.noted), 0));
}

/**
 * What may still be refunded of an invoice. Rules: credit-note-amounts.md#what-is-left, payments.md#amounts-on-the-wire
 * "refund".
 */
export function refundableOfInvoice(invoice: NotedInvoice, creditableCents: Cents): Cents {
  if (invoice.isDraft || isUnsettled(invoice)) return cents(0);
  const left = invoice.totalPaidCents - invoice.noted.refundCents;
  return inWholeSteps(Math.max(0, invoice.isTopUp ? left : Math.min(left, creditableCents)), invoice);
}

/**
 * The refundable part of a note: at most its own amount, in the smallest steps of its provider.
 *
 *   1005 fils of an invoice paid by Stripe → 1000
 *
 * Rules: credit-note-amounts.md#what-is-left "estimate", payments.md#amounts-on-the-wire "refund".
 */
export const refundableOfNote = (invoice: NotedInvoice, creditableCents: Cents, noteCents: number): Cents =>
  inWholeSteps(Math.min(noteCents, refundableOfInvoice(invoice, creditableCents)), invoice);

const inWholeSteps = (most: number, { refundStepCents }: NotedInvoice): Cents => cents(most - (most % refundStepCents));

/** The part of an invoice that a note may settle. Rule: credit-note-amounts.md#what-is-left. */
export function offsettableOfInvoice(invoice: NotedInvoice, creditableCents: Cents): Cents {
  if (invoice.isVoided) return cents(0);
  if (invoice.isTopUp) return cents(invoice.paymentStatus === 'succeeded' ? 0 : invoice.totalCents);
  return cents(Math.max(0, Math.min(dueOf(invoice), creditableCents)));
}

/** Paid in full by the books but not succeeded, because a payment is still uncertain. */
const isUnsettled = ({ paymentStatus, totalPaidCents, totalCents }: NotedInvoice): boolean =>
  paymentStatus !== 'succeeded' && totalPaidCents === totalCents;

const dueOf = ({ totalCents, totalPaidCents, writtenOffCents, noted }: NotedInvoice): number =>
  totalCents - totalPaidCents - writtenOffCents - noted.offsetCents;

export interface AskedNote {
  invoice: NotedInvoice;
  parts: NoteParts;
  /** Items less coupons plus taxes. */
  preciseTotalCents: Decimal;
  /** All fees of the invoice with their taxes, coupons not taken off. */
  feesWithTaxesCents: Cents;
}

/** Rounding may differ by one cent. */
const TOLERATED_CENTS = 1;

/**
 * Errors of a note as a whole, by field; empty when it may be made. Rule: credit-note-amounts.md#creation, rules 1 to
 * 11.
 */
export function noteFaults({
  invoice,
  parts,
  preciseTotalCents,
  feesWithTaxesCents,
}: AskedNote): Record<string, string[]> {
  const { creditCents: credit, refundCents: refund, offsetCents: offset } = parts;
  const { noted } = invoice;
  const total = credit + refund + offset;
  const left = feesWithTaxesCents - noted.creditCents - noted.offsetCents;
  const due = invoice.isVoided ? 0 : Math.min(dueOf(invoice), left);
  const isUnpaid = invoice.totalPaidCents <= 0 || (isUnsettled(invoice) && invoice.totalCents > 0);

  const rules: [broken: boolean, field: string, code: string][] = [
    [refund > 0 && isUnpaid, 'refund_amount_cents', 'cannot_refund_unpaid_invoice'],
    [Math.abs(total - roundToCents(preciseTotalCents)) > TOLERATED_CENTS, 'base', 'does_not_match_item_amounts'],
    [
      refund > Math.max(invoice.totalPaidCents - noted.refundCents, 0),
      'refund_amount_cents',
      'higher_than_remaining_invoice_amount',
    ],
    [invoice.isTopUp && credit > 0, 'credit_amount_cents', 'cannot_credit_invoice'],
    [credit > left + TOLERATED_CENTS, 'credit_amount_cents', 'higher_than_remaining_invoice_amount'],
    [
      invoice.isTopUp && offset > 0 && invoice.totalPaidCents > 0,
      'offset_amount_cents',
      'cannot_apply_to_paid_invoice',
    ],
    [
      invoice.isTopUp && offset > 0 && offset !== invoice.totalCents,
      'offset_amount_cents',
      'not_equal_to_total_amount',
    ],
    [offset > Math.max(due, 0), 'offset_amount_cents', 'higher_than_remaining_invoice_amount'],
    [total > left - noted.refundCents + TOLERATED_CENTS, 'base', 'higher_than_remaining_invoice_amount'],
    [refund % invoice.refundStepCents !== 0, 'refund_amount_cents', 'value_is_out_of_range'],
    [total <= 0, 'base', 'total_amount_must_be_positive'],
  ];
  const faults: Record<string, string[]> = {};
  for (const [broken, field, code] of rules) {
    if (!broken) continue;
    faults[field] ??= [];
    faults[field].push(code);
  }
  return faults;
}

/**
 * All fees with their taxes and without coupons: the limit of an invoice's notes.
 * Rule: credit-note-amounts.md#creation `feeTotal`.
 */
export function feesWithTaxes(fees: readonly { amountCents: number; taxesRate: Decimal }[]): Cents {
  const amount = fees.reduce((total, fee) => total + fee.amountCents, 0);
  const taxes = sum(fees.map((fee) => fee.taxesRate.times(fee.amountCents))).div(100);
  return cents(amount + roundToCents(taxes));
}
