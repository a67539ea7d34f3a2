import type { Temporal } from 'temporal-polyfill';
import type { Db } from '../../platform/db/connect.ts';
import type { Producer } from '../../platform/queue/producer.ts';
import type { EventToMatch } from '../../resources/unmatched-events/match-event.ts';
import { type MarkToSet, markWatched, USAGE_ACTIVITY } from '../../resources/usage-thresholds/marks.ts';
import type { MatchedEvent } from './match-all.ts';

/** A subscription whose usage is to be looked at. */
export interface Watched {
  organization_id: string;
  subscription_id: string;
}

/** Looks of one subscription are this far apart at least: usage that comes in a rush is counted once for all of it. */
const COALESCE_MS = 500;

/** Marks the active subscriptions of events that somebody watches. */
export async function markUsed(tx: Db, matched: readonly MatchedEvent<EventToMatch>[]): Promise<Watched[]> {
  const marks = new Map<string, MarkToSet>();
  for (const { event, subscription } of matched) {
    if (subscription?.status !== 'active') continue;
    const known = marks.get(subscription.id);
    if (known && known.at >= event.created_at) continue;
    marks.set(subscription.id, {
      organization_id: event.organization_id,
      subscription_id: subscription.id,
      at: event.created_at,
    });
  }
  return marks.size === 0 ? [] : [...(await markWatched(tx, [...marks.values()]))];
}

/** Payload of the job that looks at a subscription. */
export const workOf = (organizationId: string, subscriptionId: string, at: Temporal.Instant) => ({
  job: USAGE_ACTIVITY,
  organization_id: organizationId,
  at: at.toString(),
  item: { subscription_id: subscriptionId },
});

/**
 * After commit: has marked subscriptions looked at. All nudges of half a second share one job at its end, which therefore
 * starts after the last mark it is for; the job `usage-activity` finds marks whose nudge was lost.
 */
export async function nudgeWatchers(
  producer: Pick<Producer, 'addMany'>,
  watched: readonly Watched[],
  realNow: Temporal.Instant,
): Promise<void> {
  const nowMs = realNow.epochMilliseconds;
  const slot = Math.floor(nowMs / COALESCE_MS) + 1;
  const at = new Map(watched.map((each) => [each.subscription_id, each]));
  await producer
    .addMany(
      'periodic.work',
      [...at.values()].map(({ organization_id, subscription_id }) => ({
        payload: workOf(organization_id, subscription_id, realNow),
        options: {
          id: `${USAGE_ACTIVITY}-${organization_id}-${subscription_id}-${slot}`,
          delayMs: slot * COALESCE_MS - nowMs,
          forgetFailed: true,
        },
      })),
    )
    .catch(() => {}); // see above
}
