import type { Instant } from '../calendar/instants.ts';
import { Decimal } from '../money/decimal.ts';

const NANOSECONDS = 1_000_000_000;

/** Exact seconds from one instant to another, negative when `to` is earlier. */
export const secondsBetween = (from: Instant, to: Instant): Decimal =>
  new Decimal(String(to.epochNanoseconds - from.epochNanoseconds)).div(NANOSECONDS);
