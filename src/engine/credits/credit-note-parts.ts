import { type Cents, cents, roundToCents } from '../money/cents.ts';
import { type Decimal, decimal, min } from '../money/decimal.ts';
import { alignedTotal, type NoteAmounts } from './credit-note-amounts.ts';

/** The three parts of a note; they sum up to its total. Rule: credit-notes.md#parts. */
export interface NoteParts {
  /** Credit for later invoices. */
  creditCents: Cents;
  /** What is paid back. */
  refundCents: Cents;
  /** Settles the same invoice at once. */
  offsetCents: Cents;
}

export const totalOf = ({ creditCents, refundCents, offsetCents }: NoteParts): Cents =>
  cents(creditCents + refundCents + offsetCents);

/**
 * Parts whose sum is the aligned total: a surplus or missing cent changes the credit part, else the refund, else the
 * offset.
 *
 *   credit 87224 of a note of 72686 + 14537 → 87223
 *
 * Rules: credit-note-amounts.md#rounding "final alignment", oddities.md#money 7.
 */
export function alignParts(parts: NoteParts, amounts: NoteAmounts): NoteParts {
  const difference = alignedTotal(amounts) - totalOf(parts);
  if (difference === 0) return parts;
  const bearer = parts.creditCents > 0 ? 'creditCents' : parts.refundCents > 0 ? 'refundCents' : 'offsetCents';
  const changed = parts[bearer] + difference;
  if (changed >= 0) return { ...parts, [bearer]: cents(changed) };
  // A part of one cent cannot give two cents, so the next part gives the rest.
  return alignParts({ ...parts, [bearer]: cents(0) }, amounts);
}

/** Where the credit of an ended subscription goes. */
export type TerminationCredit = 'credit' | 'refund' | 'offset';

export interface RefundFacts {
  /** The fee that was paid in advance, with taxes and less coupons. */
  preciseFeeTotalCents: Decimal;
  invoiceTotalWithTaxesCents: number;
  invoicePaidCents: number;
  /** The used amount, taxes included. */
  usedCents: Cents;
  /** The amount that may still be refunded. */
  refundableCents: number;
  /** A refund is a multiple of it. */
  refundStepCents: number;
}

/**
 * Parts of the note about unused days. A refund is the paid amount of the fee beyond the used amount, at most the note;
 * the rest goes to the balance, or offsets the invoice.
 *
 *   total 1920, fee 3720 of an invoice of 7440, paid 5580, used 1800 → refund 2790 − 1800 = 990, rest 930
 *
 * Rules: credit-note-amounts.md#automatic-notes, termination.md#ending-a-subscription,
 * termination.md#credit-for-unused-days.
 */
export function terminationParts(choice: TerminationCredit, totalCents: Cents, facts: RefundFacts): NoteParts {
  const refundCents = choice === 'credit' ? cents(0) : refundOf(totalCents, facts);
  const rest = cents(totalCents - refundCents);
  return {
    creditCents: choice === 'offset' ? cents(0) : rest,
    refundCents,
    offsetCents: choice === 'offset' ? rest : cents(0),
  };
}

function refundOf(totalCents: Cents, facts: RefundFacts): Cents {
  if (facts.invoiceTotalWithTaxesCents === 0) return cents(0);
  const paidShare = facts.preciseFeeTotalCents.times(facts.invoicePaidCents).div(facts.invoiceTotalWithTaxesCents);
  const unused = paidShare.minus(facts.usedCents);
  if (!unused.gt(0)) return cents(0);
  const most = Math.max(0, Math.min(roundToCents(min(unused, decimal(totalCents))), facts.refundableCents));
  return cents(most - (most % facts.refundStepCents));
}
