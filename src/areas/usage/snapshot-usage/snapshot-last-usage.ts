import { localDate } from '../../../engine/calendar/local-day.ts';
import type { Context } from '../../../platform/context.ts';
import type { InvoiceId, SubscriptionId } from '../../../platform/ids.ts';
import { listShown } from '../../subscriptions/subscriptions/queries.ts';
import { snapshotIfCountable } from './snapshot-daily-usage.ts';
import { findLastWindow } from './usage-to-snapshot.ts';

/**
 * Step `snapshot-last-usage`: stores the usage that the last invoice of a subscription bills for the day on which it
 * ended, so that the days of its last period add up to the billed amount: usage weighted by a whole period, or taken
 * over by another plan, is subtracted. It runs each time that a draft is computed.
 *
 * Rules: usage-reads.md#daily-usage, everywhere.md#ignored-events.
 */
export async function snapshotLastUsage(
  ctx: Context,
  { subscription_id, invoice_id }: { subscription_id: SubscriptionId; invoice_id: InvoiceId },
): Promise<void> {
  const [subscription] = await listShown(ctx, [subscription_id]);
  const window = await findLastWindow(ctx, subscription_id, invoice_id);
  if (subscription === undefined || window === undefined) return;
  const lastDay = localDate(window.to.subtract({ microseconds: 1 }), subscription.zone);
  await snapshotIfCountable(ctx, subscription, window, lastDay);
}
