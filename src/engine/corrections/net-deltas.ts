import { type Cents, cents } from '../money/cents.ts';

/**
 * Nets the differences of one invoice: increases and decreases cancel each other out, and only the rest is booked. On
 * the prevailing side the smallest differences are canceled first, so that the greatest remain.
 *
 *   −300, +300 → nothing is left;  +300, −200 → +100, 0;  −300, −50, +100 → −250, 0, 0
 *
 * @returns the rest of each in the given order; its sum equals the sum of the differences
 * Rule: event-corrections.md#difference "netted per invoice".
 */
export function netDeltas(deltas: readonly Cents[]): Cents[] {
  const total = deltas.reduce((sum, delta) => sum + delta, 0);
  const prevails = (delta: number) => (total > 0 ? delta > 0 : total < 0 && delta < 0);
  let against = deltas.reduce((sum, delta) => sum + (prevails(delta) ? 0 : Math.abs(delta)), 0);
  if (total === 0) return deltas.map(() => cents(0));
  const rest = deltas.map(() => 0);
  const order = deltas.map((_, index) => index).sort((a, b) => Math.abs(deltas[a]!) - Math.abs(deltas[b]!) || a - b);
  for (const index of order) {
    const delta = deltas[index]!;
    if (!prevails(delta)) continue;
    const taken = Math.min(against, Math.abs(delta));
    against -= taken;
    rest[index] = Math.sign(delta) * (Math.abs(delta) - taken);
  }
  return rest.map((each) => cents(each));
}
