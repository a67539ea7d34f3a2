import { type Cents, cents, sumCents } from '../money/cents.ts';

/** Credits of a wallet that nothing has consumed yet. */
export interface OpenCredits {
  id: string;
  remainingCents: Cents;
  /** The purchased part of the rest; the other part was granted. */
  remainingPurchasedCents: Cents;
}

export interface Consumption {
  id: string;
  amountCents: Cents;
  /** The purchased part of it. */
  purchasedCents: Cents;
}

/**
 * Takes an amount from the credits of a wallet in their order, the granted part of each first.
 *
 *   8000 of 3000 granted and 7000 purchased → 3000 and 5000
 *
 * @returns undefined when there is not enough
 * Rules: wallets.md#traceability, ledger.md#journal (9).
 */
export function consumeCredits(open: readonly OpenCredits[], amountCents: Cents): Consumption[] | undefined {
  let missing: number = amountCents;
  const taken: Consumption[] = [];
  for (const { id, remainingCents, remainingPurchasedCents } of open) {
    const take = Math.min(missing, remainingCents);
    if (take === 0) continue;
    const granted = Math.min(take, remainingCents - remainingPurchasedCents);
    taken.push({ id, amountCents: cents(take), purchasedCents: cents(take - granted) });
    missing -= take;
  }
  return missing === 0 ? taken : undefined;
}

/** The granted and the purchased part of it. */
export function splitOf(consumed: readonly Consumption[]): { grantedCents: Cents; purchasedCents: Cents } {
  const purchasedCents = sumCents(consumed.map((each) => each.purchasedCents));
  return { grantedCents: cents(sumCents(consumed.map((each) => each.amountCents)) - purchasedCents), purchasedCents };
}
