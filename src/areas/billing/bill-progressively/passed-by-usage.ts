import { passedThresholds, type UsageSoFar } from '../../../engine/invoices/passed-thresholds.ts';
import { addCents, cents } from '../../../engine/money/cents.ts';
import type { Context } from '../../../platform/context.ts';
import type { InvoiceId } from '../../../platform/ids.ts';
import type { UsageThresholdRow } from '../../catalog/usage-thresholds/queries.ts';
import type { SubscriptionShown } from '../../subscriptions/subscriptions/queries.ts';
import { usageToInvoice } from '../../usage/lifetime-usage/lifetime-usage.ts';
import { readLifetimeParts } from '../../usage/lifetime-usage/queries.ts';
import { amountOf, type ChargeUsage } from '../../usage/usage/subscription-usage.ts';
import { findProgressiveInvoice } from './progressive-runs.ts';

export interface PassedByUsage {
  /** Sorted by amount with the recurring one last; empty when there is nothing to bill. */
  passed: UsageThresholdRow[];
  usage: UsageSoFar;
  /** The last progressive invoice of the window in progress. */
  previousInvoiceId: InvoiceId | null;
}

const NOTHING: PassedByUsage = {
  passed: [],
  usage: { invoicedCents: cents(0), currentCents: cents(0), progressivelyBilledCents: cents(0) },
  previousInvoiceId: null,
};

/**
 * Those of the thresholds that apply to a subscription which its usage has passed and no progressive invoice has
 * answered to.
 *
 * Rules: progressive-billing.md#trigger, progressive-billing.md#invoice, usage-reads.md#lifetime-usage "once".
 */
export async function passedByUsage(
  ctx: Context,
  subscription: SubscriptionShown,
  thresholds: readonly UsageThresholdRow[],
  usage: readonly ChargeUsage[],
): Promise<PassedByUsage> {
  if (thresholds.length === 0) return NOTHING;
  const [parts, previous] = await Promise.all([
    readLifetimeParts(ctx, subscription),
    findProgressiveInvoice(ctx, subscription, ctx.now()),
  ]);
  const soFar: UsageSoFar = {
    invoicedCents: addCents(parts.historical_cents, parts.invoiced_cents),
    currentCents: amountOf(usageToInvoice(usage)),
    progressivelyBilledCents: cents(previous?.fees_amount_cents ?? 0),
  };
  return { passed: passedThresholds(thresholds, soFar), usage: soFar, previousInvoiceId: previous?.id ?? null };
}
