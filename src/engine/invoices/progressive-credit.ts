import { addCents, type Cents, cents, roundToCents, sumCents, ZERO_CENTS } from '../money/cents.ts';
import { type Decimal, decimal, max, min, ONE, sum, ZERO } from '../money/decimal.ts';
import type { ProgressivePart, RestOfFee } from './progressive-rest.ts';
import { type CreditableFee, takeOver } from './take-over.ts';

/** The newest progressive invoice of the window that a line bills. */
export interface ProgressiveInvoice {
  id: string;
  /** Fees less coupons, earlier credits and notes, which give back taxes too, so that it can be negative. */
  leftCents: Decimal;
  fees: readonly (CreditableFee & RestOfFee & { id: string })[];
}

export interface ProgressiveCredit {
  progressiveInvoiceId: string;
  amountCents: Cents;
  /** The excess over the usage that is billed now, to be given back otherwise. */
  excessCents: Cents;
  /** Fees of the progressive invoice whose usage has fallen below what notes left of it, by how much. */
  fallen: ReadonlyMap<string, Cents>;
  /** For each fee of the new invoice, by key: the amount billed for the same usage. */
  shares: ReadonlyMap<string, Decimal>;
  /** For each fee of the new invoice, by key: what it takes over of which progressive fees. Credits sum up to ours. */
  parts: ReadonlyMap<string, readonly ProgressivePart[]>;
}

/**
 * The credit of a progressive invoice for the fees of a line: its rest, at most the fees of the charges that it billed.
 * Taxes that its notes gave back lower the rest only as far as the usage behind them is billed again, since these fees
 * are not taxed once more for it.
 *
 *   1200 + 120 billed, 700 + 70 given back: now 500 → 500; now 900 → 460; now 1200 or more → 430
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
  const billed = amountsByUsage(invoice.fees);
  const now = amountsByUsage(fees);
  const spared = taxesNotBilledAgain(invoice.fees, { billed, now });
  const left = roundToCents(max(invoice.leftCents.plus(sum(spared.values())), ZERO));
  const amountCents = cents(Math.min(left, cap));
  return {
    progressiveInvoiceId: invoice.id,
    amountCents,
    excessCents: cents(Math.max(left - cap, 0)),
    fallen: new Map(
      invoice.fees.flatMap(({ id, usageKey, amountCents: was, noted }) => {
        const fall = roundToCents(ONE.minus(noted.share).times(was)) - (now.get(usageKey) ?? 0);
        return fall > 0 ? [[id, cents(fall)] as const] : [];
      }),
    ),
    shares: new Map(
      fees.flatMap(({ key, usageKey, amountCents: own }) => {
        const share = billed.get(usageKey);
        return share === undefined || amountCents === 0 ? [] : [[key, min(decimal(share), decimal(own))] as const];
      }),
    ),
    parts: takeOver(
      amountCents,
      invoice.fees.map((fee) => ({ ...fee, leftCents: fee.leftCents.plus(spared.get(fee.id)!) })),
      credited,
    ),
  };
}

/** Of the taxes that notes of fees gave back those of usage that is not there any more, by fee. */
function taxesNotBilledAgain(
  fees: ProgressiveInvoice['fees'],
  { billed, now }: { billed: ReadonlyMap<string, Cents>; now: ReadonlyMap<string, Cents> },
): Map<string, Decimal> {
  const noted = (usageKey: string) =>
    sum(fees.map((fee) => (fee.usageKey === usageKey ? fee.noted.share.times(fee.amountCents) : ZERO)));
  return new Map(
    fees.map(({ id, usageKey, noted: { taxesCents } }) => {
      const given = noted(usageKey);
      const gone = max(decimal(billed.get(usageKey)!).minus(now.get(usageKey) ?? 0), ZERO);
      return [id, given.isZero() ? ZERO : taxesCents.times(min(gone.div(given), ONE))];
    }),
  );
}

function amountsByUsage(fees: readonly CreditableFee[]): Map<string, Cents> {
  const amounts = new Map<string, Cents>();
  for (const { usageKey, amountCents } of fees)
    amounts.set(usageKey, addCents(amounts.get(usageKey) ?? ZERO_CENTS, amountCents));
  return amounts;
}
