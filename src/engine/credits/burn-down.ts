import { isDateBefore, type PlainDate } from '../calendar/instants.ts';
import { type Decimal, decimal } from '../money/decimal.ts';

/** Complete days whose mean is the rate. */
export const RATE_DAYS = 14;
const LEAST_DAYS = 3;

/** Last figures of a day; days without are as the one before. */
export interface WalletDay {
  day: PlainDate;
  balance_cents: number;
  ongoing_balance_cents: number;
  added_cents: number;
}

export type WalletPoint = WalletDay & { consumed_cents: number };

/**
 * Each day from `from` up to `to`, both included, but none before the first known one. What a day consumed is what was
 * left the evening before and was added, less what is left; never negative.
 *
 * known  ascending; may begin before `from`
 *
 *   600 left, then 500 added and 1080 left → 20 consumed
 */
export function walletPoints(known: readonly WalletDay[], from: PlainDate, to: PlainDate): WalletPoint[] {
  const points: WalletPoint[] = [];
  let next = 0;
  let before: WalletDay | undefined;
  for (; next < known.length && isDateBefore(known[next]!.day, from); next += 1) before = known[next]!;
  let day = before === undefined && known[next] !== undefined ? known[next]!.day : from;
  for (; !isDateBefore(to, day) && (before !== undefined || known[next] !== undefined); day = day.add({ days: 1 })) {
    const own = known[next]?.day.equals(day) ? known[next++]! : { ...before!, day, added_cents: 0 };
    const consumed = (before?.ongoing_balance_cents ?? 0) + own.added_cents - own.ongoing_balance_cents;
    points.push({ ...own, consumed_cents: Math.max(0, consumed) });
    before = own;
  }
  return points;
}

export interface BurnDown {
  /** Cents a day, not rounded; null with fewer than three complete days. */
  rate: Decimal | null;
  /** Whole days; null where nothing is consumed or the rate is unknown. */
  daysLeft: number | null;
}

/**
 * How fast a wallet is used up, and for how many days it lasts.
 *
 * consumed  cents of each complete day, ascending
 *
 *   available 600, consumed 10, 20, 30 → rate 20, 30 days
 *
 * Rule: wallets.md#burn-down.
 */
export function burnDown({ available, consumed }: { available: number; consumed: readonly number[] }): BurnDown {
  if (consumed.length < LEAST_DAYS) return { rate: null, daysLeft: null };
  const last = consumed.slice(-RATE_DAYS);
  const rate = decimal(last.reduce((sum, cents) => sum + cents, 0)).div(last.length);
  if (available <= 0) return { rate, daysLeft: 0 };
  return { rate, daysLeft: rate.isZero() ? null : decimal(available).div(rate).floor().toNumber() };
}
