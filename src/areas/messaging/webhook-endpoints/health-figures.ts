import { Decimal, decimal } from '../../../engine/money/decimal.ts';

/** Classes of how long an attempt took: the first ends at 5 ms, each further one at twice that, the last is open. */
export const LATENCY_CLASSES = 16;
const FIRST_ENDS_AT_MS = 5;

const endOf = (index: number): number => FIRST_ENDS_AT_MS * 2 ** index;

/** The class, from 0, of an attempt that took `ms`. */
export function latencyClassOf(ms: number): number {
  let index = 0;
  while (index < LATENCY_CLASSES - 1 && ms > endOf(index)) index += 1;
  return index;
}

/**
 * The end of the class in which the share of attempts is reached; of the open class its beginning. Null without any.
 *
 *   98 attempts up to 5 ms and 2 up to 80 ms, share 0.95 → 5
 */
export function latencyQuantileMs(counts: readonly number[], share: number): number | null {
  const total = counts.reduce((sum, count) => sum + count, 0);
  if (total === 0) return null;
  const rank = Math.max(1, Math.ceil(total * share));
  let reached = 0;
  const index = counts.findIndex((count) => {
    reached += count;
    return reached >= rank;
  });
  return endOf(Math.min(index, LATENCY_CLASSES - 2));
}

const RATE_DIGITS = 4;

/**
 * Share of ended deliveries that were acknowledged, half up; null if none has ended.
 *
 *   succeeded 987, failed 13 → 0.9870
 */
export function successRate({ succeeded, failed }: { succeeded: number; failed: number }): string | null {
  const ended = succeeded + failed;
  return ended === 0 ? null : decimal(succeeded).div(ended).toFixed(RATE_DIGITS, Decimal.ROUND_HALF_UP);
}
