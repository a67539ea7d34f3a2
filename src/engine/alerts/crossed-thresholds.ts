import { Decimal, decimal, ZERO } from '../money/decimal.ts';
import type { AlertDirection } from './alert-types.ts';

export interface AlertThreshold {
  code: string | null;
  value: Decimal;
  /** Every further step of `value` beyond the last one-time threshold; at most one of a list. */
  recurring: boolean;
}

/** How many steps of a recurring threshold one evaluation reports at most: the last ones. */
const MOST_STEPS = 100;

/**
 * Thresholds that a value has crossed on its way from `previous` to `current`, smallest value first; a step of the
 * recurring one carries the value that was crossed.
 *
 *   up, 10, 30, 50 and every 100, 33 → 351: 50, 150, 250, 350
 *
 * Of very many steps only the last hundred are reported. Rules: alerts.md#evaluation, alerts.md#usage-alerts.
 */
export function crossedThresholds(
  direction: AlertDirection,
  thresholds: readonly AlertThreshold[],
  { previous, current }: { previous: Decimal; current: Decimal },
): AlertThreshold[] {
  // A shrinking balance is treated as its growing mirror image.
  const sign = direction === 'increasing' ? 1 : -1;
  const mirrored = ({ value, ...rest }: AlertThreshold) => ({ ...rest, value: value.times(sign).plus(ZERO) }); // no -0
  const [from, to] = [previous.times(sign), current.times(sign)];
  const oneTime = thresholds.filter(({ recurring }) => !recurring).map(mirrored);
  const crossed = oneTime.filter(({ value }) => value.gt(from) && value.lte(to));
  const recurring = thresholds.find((threshold) => threshold.recurring);
  const origin = oneTime.length === 0 ? ZERO : Decimal.max(...oneTime.map(({ value }) => value));
  const steps = recurring === undefined ? [] : stepsBetween(recurring, origin, from, to);
  return [...crossed, ...steps].map(mirrored).sort((a, b) => a.value.cmp(b.value));
}

/** `origin + k × step` for k ≥ 1 in (from, to]. */
function stepsBetween(recurring: AlertThreshold, origin: Decimal, from: Decimal, to: Decimal): AlertThreshold[] {
  const step = recurring.value;
  const stepsUntil = (value: Decimal) => value.minus(origin).div(step).floor();
  const last = stepsUntil(to);
  const first = Decimal.max(1, stepsUntil(from).plus(1), last.minus(MOST_STEPS - 1));
  const count = Decimal.max(0, last.minus(first).plus(1)).toNumber();
  return Array.from({ length: count }, (_, index) => ({
    ...recurring,
    value: origin.plus(step.times(first.plus(decimal(index)))),
  }));
}
