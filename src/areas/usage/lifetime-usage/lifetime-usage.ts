import { addCents, type Cents, ZERO_CENTS } from '../../../engine/money/cents.ts';
import type { Context } from '../../../platform/context.ts';
import type { SubscriptionShown } from '../../subscriptions/subscriptions/queries.ts';
import { amountOf, type ChargeUsage, wholeUsageOf } from '../usage/subscription-usage.ts';
import { type AppliedThreshold, readLifetimeParts } from './queries.ts';

/** Usage of a chain of subscriptions since it began, in cents. */
export interface LifetimeUsage {
  id: string;
  historicalCents: Cents;
  invoicedCents: Cents;
  /** What the invoice of the charges period in progress will bill; 0 for a subscription that is not active. */
  currentCents: Cents;
  totalCents: Cents;
  /** Thresholds that progressive invoices billed, oldest first. */
  applied: readonly AppliedThreshold[];
}

/**
 * Lifetime usage of a subscription's chain, as of now: computed from rollups and fees at every read, so that no stored
 * figure can be stale. Four statements at most, in three round trips; one if the caller passes the usage.
 *
 * usage of the period in progress, if known
 *
 * Rule: usage-reads.md#lifetime-usage.
 */
export async function lifetimeUsageOf(
  ctx: Context,
  subscription: SubscriptionShown,
  usage?: readonly ChargeUsage[],
): Promise<LifetimeUsage> {
  const isActive = subscription.status === 'active';
  const [parts, current] = await Promise.all([
    readLifetimeParts(ctx, subscription),
    usage ?? (isActive ? wholeUsageOf(ctx, subscription, ctx.now()) : []),
  ]);
  const currentCents = isActive ? amountOf(usageToInvoice(current)) : ZERO_CENTS;
  return {
    id: parts.id,
    historicalCents: parts.historical_cents,
    invoicedCents: parts.invoiced_cents,
    currentCents,
    totalCents: addCents(addCents(parts.historical_cents, parts.invoiced_cents), currentCents),
    applied: parts.applied,
  };
}

/**
 * Usage that the invoice of its period bills, and a progressive one before: that of charges in arrears. What is paid in
 * advance is in the invoiced part from the moment of its invoice, so that nothing counts twice.
 */
export const usageToInvoice = (usage: readonly ChargeUsage[]): ChargeUsage[] =>
  usage.filter(({ charge }) => charge.invoiceable && !charge.pay_in_advance);
