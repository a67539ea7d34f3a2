import { addCents, type Cents, cents, subtractCents } from '../money/cents.ts';
import { type Decimal, decimal, ONE, ZERO } from '../money/decimal.ts';

/** A threshold of lifetime usage: once for all, or every further `amount_cents`. */
export interface Threshold {
  amount_cents: number;
  recurring: boolean;
}

/** Progress of usage towards an amount. */
export interface ThresholdProgress<Of extends Threshold> {
  threshold: Of;
  amountCents: Cents;
  /** 1 when it is reached. */
  ratio: Decimal;
}

/**
 * Progress of lifetime usage through thresholds: reached ones, the next one in part, and the rest at 0; the recurring
 * one follows the fixed ones, once for every completed step and once for the step in progress.
 *
 *   100 and every 200; usage 723 → 100, 300, 500, 700: 1; 900: 0.115
 *
 * Rule: usage-reads.md#lifetime-usage "usage_thresholds".
 */
export function thresholdProgress<Of extends Threshold>(
  thresholds: readonly Of[],
  totalCents: Cents,
): ThresholdProgress<Of>[] {
  const fixed = thresholds.filter(({ recurring }) => !recurring).sort((a, b) => a.amount_cents - b.amount_cents);
  const progress: ThresholdProgress<Of>[] = [];
  let last = cents(0);
  let isOpen = true;
  for (const threshold of fixed) {
    const amountCents = cents(threshold.amount_cents);
    const isReached = amountCents <= totalCents;
    progress.push({
      threshold,
      amountCents,
      ratio: isReached ? ONE : isOpen ? share(last, amountCents, totalCents) : ZERO,
    });
    if (!isReached) isOpen = false;
    last = amountCents;
  }
  const step = thresholds.find(({ recurring }) => recurring);
  if (step === undefined) return progress;

  const stepCents = cents(step.amount_cents);
  for (;;) {
    const next = addCents(last, stepCents);
    const isReached = isOpen && next <= totalCents;
    progress.push({
      threshold: step,
      amountCents: next,
      ratio: isReached ? ONE : isOpen ? share(last, next, totalCents) : ZERO,
    });
    if (!isReached) return progress;
    last = next;
  }
}

const share = (from: Cents, to: Cents, totalCents: Cents): Decimal =>
  decimal(subtractCents(totalCents, from)).div(subtractCents(to, from));
