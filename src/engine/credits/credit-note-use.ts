import { type Cents, cents, subtractCents } from '../money/cents.ts';
import { type Decimal, decimal, min, ZERO } from '../money/decimal.ts';
import { roundToDigits } from '../money/precision.ts';

const SHARE_DIGITS = 5;

/** A note that may pay. */
export interface SpendableNote {
  id: string;
  balanceCents: Cents;
}

export interface CreditNoteUse {
  creditNoteId: string;
  amountCents: Cents;
}

/** A fee to be paid: net of coupons, with its taxes. */
export interface PaidFee {
  key: string;
  totalCents: Decimal;
}

/**
 * Pays a total with notes in the given order until nothing is left. The part of each note is spread over the fees in
 * proportion to their rests, for later payers.
 *
 *   600 with notes of 300 and 500 → 300 and 300
 *
 * Rule: credit-notes.md#paying-later-invoices.
 */
export function useCreditNotes(
  notes: readonly SpendableNote[],
  fees: readonly PaidFee[],
  totalCents: Cents,
): { uses: CreditNoteUse[]; shares: ReadonlyMap<string, Decimal> } {
  const uses: CreditNoteUse[] = [];
  const shares = new Map<string, Decimal>(fees.map(({ key }) => [key, ZERO]));
  let remaining = totalCents;
  for (const { id, balanceCents } of notes) {
    const amountCents = cents(Math.min(balanceCents, remaining));
    if (amountCents <= 0) continue;
    uses.push({ creditNoteId: id, amountCents });
    for (const { key, totalCents: whole } of fees) {
      const before = shares.get(key)!;
      const share = decimal(amountCents).times(whole.minus(before)).div(remaining);
      shares.set(key, roundToDigits(min(before.plus(share), whole), SHARE_DIGITS));
    }
    remaining = subtractCents(remaining, amountCents);
  }
  return { uses, shares };
}
