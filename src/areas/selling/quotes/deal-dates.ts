import { Temporal } from 'temporal-polyfill';
import { isAfter, isDateBefore } from '../../../engine/calendar/instants.ts';
import { localDate } from '../../../engine/calendar/local-day.ts';
import { earliestEnd } from '../../../engine/quotes/deal-dates.ts';
import type { Context } from '../../../platform/context.ts';

/**
 * The fault of a day until which a deal may be signed, or on which it is executed: it must be in the future and before
 * the first end in the deal, in the customer's zone.
 *
 * Rule: quotes.md#routes "dates".
 */
export function dealDateFault(
  ctx: Context,
  given: string | null | undefined,
  { ends, zone }: { ends: readonly string[]; zone: string },
): 'invalid_date' | 'after_deal_expiration' | undefined {
  if (given === null || given === undefined) return undefined;
  const at = Temporal.Instant.from(given);
  if (!isAfter(at, ctx.now())) return 'invalid_date';
  const end = earliestEnd(ends, zone);
  return end === null || isDateBefore(localDate(at, zone), end) ? undefined : 'after_deal_expiration';
}
