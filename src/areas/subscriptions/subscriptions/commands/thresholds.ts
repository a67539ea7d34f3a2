import type { Context } from '../../../../platform/context.ts';
import { markUsage } from '../../../catalog/usage-thresholds/usage-marks.ts';
import { replaceThresholds } from '../../../catalog/usage-thresholds/writes.ts';
import type { SubscriptionCreate, SubscriptionUpdate } from '../schema.ts';

type Thresholds = Pick<
  SubscriptionCreate | SubscriptionUpdate,
  'usage_thresholds' | 'plan_overrides' | 'progressive_billing_disabled'
>;

/**
 * Stores the usage thresholds that an input gives a subscription: the whole list, which replaces that of its plan; an
 * empty list restores the plan's. New thresholds that are already passed are billed, also those of an override.
 *
 * Rule: progressive-billing.md#usage-thresholds.
 */
export async function saveThresholds(ctx: Context, id: string, body: Thresholds): Promise<void> {
  if (body.usage_thresholds)
    await replaceThresholds(ctx, { subscription_id: id }, { thresholds: body.usage_thresholds, now: ctx.now() });
  if (changesThresholds(body)) await markUsage(ctx, { ids: [id] });
}

/** Whether other thresholds apply than before, so that usage is evaluated again. */
export const changesThresholds = (body: Thresholds): boolean =>
  Boolean(body.usage_thresholds || body.plan_overrides?.usage_thresholds) ||
  body.progressive_billing_disabled === false;
