import { addCents, type Cents, cents, subtractCents } from '../money/cents.ts';

/** A threshold of usage: fixed, or at every further `amount_cents`. */
export interface UsageThreshold {
  amount_cents: number;
  recurring: boolean;
}

export interface UsageSoFar {
  /** Historical and invoiced usage from before the window in progress. */
  invoicedCents: Cents;
  /** Usage of the window in progress. */
  currentCents: Cents;
  /** The part of it that progressive invoices have billed. */
  progressivelyBilledCents: Cents;
}

/** Usage that is on no invoice yet. Negative if usage shrank after a progressive invoice. */
export const unbilledCents = ({ currentCents, progressivelyBilledCents }: UsageSoFar): Cents =>
  subtractCents(currentCents, progressivelyBilledCents);

/** Usage of the whole lifetime. */
export const lifetimeCents = ({ invoicedCents, currentCents }: UsageSoFar): Cents =>
  addCents(invoicedCents, currentCents);

/**
 * Thresholds that usage has passed since the last progressive invoice, smallest first, the recurring one last; empty
 * when there is nothing to bill.
 *
 *   10, 20, 31, 40 and every 5; invoiced 21, current 24 → 31, 40, every 5
 *
 * Rules: progressive-billing.md#trigger, progressive-billing.md#invoice.
 */
export function passedThresholds<Threshold extends UsageThreshold>(
  thresholds: readonly Threshold[],
  usage: UsageSoFar,
): Threshold[] {
  const actual = unbilledCents(usage);
  if (actual < 0) return [];
  const before = addCents(usage.invoicedCents, usage.progressivelyBilledCents);
  const total = addCents(before, actual);
  const fixed = thresholds.filter(({ recurring }) => !recurring).sort((a, b) => a.amount_cents - b.amount_cents);
  const last = cents(fixed.at(-1)?.amount_cents ?? 0);
  const recurring = thresholds.filter((threshold) => threshold.recurring);
  if (before < last) {
    return [
      ...fixed.filter(({ amount_cents }) => before < amount_cents && amount_cents <= total),
      ...recurring.filter(({ amount_cents }) => total - last >= amount_cents),
    ];
  }
  return recurring.filter(({ amount_cents }) => actual + (before % amount_cents) >= amount_cents);
}
