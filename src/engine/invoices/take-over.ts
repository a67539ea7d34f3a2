import { type Cents, cents } from '../money/cents.ts';
import { type Decimal, decimal, max, min, sum, ZERO } from '../money/decimal.ts';
import { type ProgressivePart, type RestOfFee, wholeCents } from './progressive-rest.ts';

/** A usage fee of a progressive invoice, or of one that credits it. */
export interface CreditableFee {
  chargeId: string;
  /** Key of charge, filter and group: fees with the same key bill the same usage. */
  usageKey: string;
  amountCents: Cents;
}

interface Target {
  key: string;
  usageKey: string;
  /** What of the fee is not taken over yet. */
  roomCents: Decimal;
  borneRoomCents: number;
  parts: ProgressivePart[];
}

/**
 * Spreads the credit of a progressive invoice over the fees that take its fees over: each of what billed the same usage
 * before; what is left of fees whose usage has fallen goes to fees that have room. What is beyond all of them is given
 * back by a note, of the greatest fees first, so that the smallest are taken over first.
 *
 *   red 1000 and blue 1000 billed, now red 200 and blue 1500, credit 1700:
 *   red takes 200 of red, blue 1000 of blue and 500 of red
 *
 * @returns the parts of each fee by its key; their credits sum up to the credit
 * Rule: progressive-billing.md#taken-over.
 */
export function takeOver(
  creditCents: Cents,
  billed: readonly (CreditableFee & RestOfFee & { id: string })[],
  fees: readonly (CreditableFee & { key: string })[],
): Map<string, ProgressivePart[]> {
  if (creditCents === 0) return new Map();
  const targets = fees.map(
    ({ key, usageKey, amountCents }): Target => ({
      key,
      usageKey,
      roomCents: decimal(amountCents),
      borneRoomCents: amountCents,
      parts: [],
    }),
  );
  const rests = [...billed]
    .sort((a, b) => a.amountCents - b.amountCents)
    .map(({ id, usageKey, leftCents, borneCents }) => ({ id, usageKey, leftCents, borneCents: borneCents as number }));
  for (const rest of rests) {
    const target = targets.find(({ usageKey }) => usageKey === rest.usageKey);
    if (target) take(target, rest, rest.leftCents, Number.MAX_SAFE_INTEGER);
  }
  for (const rest of rests)
    for (const target of targets) {
      const open = decimal(creditCents).minus(creditsOf(targets));
      const moved = min(min(rest.leftCents, target.roomCents), open);
      if (moved.gt(0)) take(target, rest, moved, wholeCents(moved));
    }
  // What rounding left, and what notes gave back of fees whose usage is gone beyond these, taxes included.
  const [first] = targets.flatMap(({ parts }) => parts).sort((a, b) => b.creditCents.comparedTo(a.creditCents));
  if (first) first.creditCents = first.creditCents.plus(creditCents).minus(creditsOf(targets));
  return new Map(targets.filter(({ parts }) => parts.length > 0).map(({ key, parts }) => [key, parts]));
}

const creditsOf = (targets: readonly Target[]): Decimal =>
  sum(targets.flatMap(({ parts }) => parts.map(({ creditCents }) => creditCents)));

function take(
  target: Target,
  rest: { id: string; leftCents: Decimal; borneCents: number },
  wanted: Decimal,
  most: number,
): void {
  const creditCents = min(wanted, target.roomCents);
  const partCents = cents(Math.min(rest.borneCents, target.borneRoomCents, most));
  if (creditCents.isZero() && partCents === 0) return;
  target.parts.push({ feeId: rest.id, creditCents, partCents });
  target.roomCents = max(target.roomCents.minus(creditCents), ZERO);
  target.borneRoomCents -= partCents;
  rest.leftCents = rest.leftCents.minus(creditCents);
  rest.borneCents -= partCents;
}
