import { addCents, type Cents, cents, sumCents, ZERO_CENTS } from '../money/cents.ts';
import { type Decimal, decimal, min } from '../money/decimal.ts';
import type { ProgressivePart, RestOfFee } from './progressive-rest.ts';
import { type CreditableFee, takeOver } from './take-over.ts';

/** The newest progressive invoice of the window that a line bills. */
export interface ProgressiveInvoice {
  id: string;
  /** Fees less coupons and earlier credits; not negative. */
  leftCents: Cents;
  fees: readonly (CreditableFee & RestOfFee & { id: string })[];
}

export interface ProgressiveCredit {
  progressiveInvoiceId: string;
  amountCents: Cents;
  /** The excess over the usage that is billed now, to be given back otherwise. */
  excessCents: Cents;
  /** Fees of the progressive invoice whose usage has fallen, by how much. */
  fallen: ReadonlyMap<string, Cents>;
  /** For each fee of the new invoice, by key: the amount billed for the same usage. */
  shares: ReadonlyMap<string, Decimal>;
  /** For each fee of the new invoice, by key: what it takes over of which progressive fees. Credits sum up to ours. */
  parts: ReadonlyMap<string, readonly ProgressivePart[]>;
}

/**
 * The credit of a progressive invoice for the fees of a line: its rest, at most the fees of the charges that it billed.
 *
 * Rules: progressive-billing.md#credit-on-later-invoices, progressive-billing.md#credit-in-steps.
 */
export function progressiveCredit(
  invoice: ProgressiveInvoice,
  fees: readonly (CreditableFee & { key: string })[],
): ProgressiveCredit {
  const charges = new Set(invoice.fees.map(({ chargeId }) => chargeId));
  const credited = fees.filter(({ chargeId }) => charges.has(chargeId));
  const cap = sumCents(credited.map(({ amountCents }) => amountCents));
  const amountCents = cents(Math.min(invoice.leftCents, cap));
  const billed = amountsByUsage(invoice.fees);
  const now = amountsByUsage(fees);
  return {
    progressiveInvoiceId: invoice.id,
    amountCents,
    excessCents: cents(Math.max(invoice.leftCents - cap, 0)),
    fallen: new Map(
      invoice.fees.flatMap(({ id, usageKey, amountCents: was }) => {
        const fall = was - (now.get(usageKey) ?? 0);
        return fall > 0 ? [[id, cents(fall)] as const] : [];
      }),
    ),
    shares: new Map(
      fees.flatMap(({ key, usageKey, amountCents: own }) => {
        const share = billed.get(usageKey);
        return share === undefined || amountCents === 0 ? [] : [[key, min(decimal(share), decimal(own))] as const];
      }),
    ),
    parts: takeOver(amountCents, invoice.fees, credited),
  };
}

function amountsByUsage(fees: readonly CreditableFee[]): Map<string, Cents> {
  const amounts = new Map<string, Cents>();
  for (const { usageKey, amountCents } of fees)
    amounts.set(usageKey, addCents(amounts.get(usageKey) ?? ZERO_CENTS, amountCents));
  return amounts;
}
