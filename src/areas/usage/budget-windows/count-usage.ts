import type { Temporal } from 'temporal-polyfill';
import type { Budget } from '../../../engine/budgets/budget.ts';
import type { Usage } from '../../../engine/budgets/match-budget.ts';
import { type MeasuredEvent, measureUsage } from '../../../engine/budgets/measure-usage.ts';
import type { Decimal } from '../../../engine/money/decimal.ts';
import type { ExternalSubscriptionId } from '../../../platform/ids.ts';
import { MOST_MATCHING, matching, type PlacedWindow, placeUsage } from './place-usage.ts';
import type { Subscribers } from './subscribers.ts';

/** What an event adds to a window. */
export interface Count {
  window: PlacedWindow;
  amount: Decimal;
}

/**
 * What an event adds, and where: to the 8 oldest budgets that match it and whose figure it has.
 *
 * at  instant by which the window is chosen: of the event, or of the hold that it settles
 *
 * Rule: budgets.md#definition, budgets.md#windows.
 */
export function countUsage(
  budgets: readonly Budget[],
  event: MeasuredEvent & { external_subscription_id: ExternalSubscriptionId },
  { at, subscribers }: { at: Temporal.Instant; subscribers: Subscribers },
): Count[] {
  const customer_id = subscribers.of(event.external_subscription_id)?.customer_id ?? null;
  const usage: Usage = { ...event, customer_id };
  const counts: Count[] = [];
  for (const budget of matching(budgets, usage)) {
    const amount = measureUsage(budget, event);
    if (amount === undefined) continue;
    const window = placeUsage(budget, usage, { at, billingPeriods: subscribers.billingPeriods });
    if (window) counts.push({ window, amount });
    if (counts.length === MOST_MATCHING) break;
  }
  return counts;
}
