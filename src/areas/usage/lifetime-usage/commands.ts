import type { z } from 'zod';
import type { Context } from '../../../platform/context.ts';
import { refuse } from '../../../platform/refusal.ts';
import { markUsage } from '../../catalog/usage-thresholds/usage-marks.ts';
import { putHistoricalUsage } from './queries.ts';
import type { LifetimeUsageUpdate } from './schema.ts';
import { lifetimeUsageView, subscriptionWithLifetime } from './show-lifetime-usage.ts';

/**
 * Sets the usage that was imported from before the subscription; its thresholds are evaluated again.
 *
 * @throws Refusal 404 subscription, lifetime_usage; 422 historical_usage_amount_cents
 * Rule: usage-reads.md#lifetime-usage.
 */
export async function updateLifetimeUsage(
  ctx: Context,
  { external_id, body }: { external_id: string; body: z.infer<typeof LifetimeUsageUpdate> },
) {
  const subscription = await subscriptionWithLifetime(ctx, external_id);
  const historicalCents = body.external_historical_usage_amount_cents;
  if (historicalCents < 0) throw refuse.invalid({ historical_usage_amount_cents: ['value_is_out_of_range'] });
  await putHistoricalUsage(ctx, subscription, { historicalCents, now: ctx.now() });
  await markUsage(ctx, { external_id: subscription.external_id });
  return { lifetime_usage: await lifetimeUsageView(ctx, subscription) };
}
