import type { Temporal } from 'temporal-polyfill';
import type { Db } from '../../../platform/db/connect.ts';
import type { CustomerId, OrganizationId, SubscriptionId } from '../../../platform/ids.ts';
import type { Producer } from '../../../platform/queue/producer.ts';
import { type MarkToSet, markWatched, USAGE_ACTIVITY } from '../../catalog/usage-thresholds/usage-marks.ts';
import type { EventToMatch } from '../match-events/match-event.ts';
import { markWalletsOfUsage, WALLET_ONGOING } from '../wallet-marks/wallet-marks.ts';
import type { MatchedEvent } from './match-all.ts';

/** A subscription whose usage must be evaluated, or a customer whose wallets must be. */
export type Watched = { organization_id: OrganizationId } & (
  | { subscription_id: SubscriptionId; customer_key: string }
  | { customer_id: CustomerId }
);

/** Shortest time between two evaluations of one subscription, so that a burst of usage is counted once. */
const COALESCE_MS = 500;

/** Whether usage of organizations is watched at all, and whether any of their customers has a wallet. */
export interface Watchers {
  usage: boolean;
  wallets: boolean;
}

/** Most organizations have no watchers, and one check for each costs less than one for each subscription. */
export async function watchersOf(tx: Db, matched: readonly MatchedEvent<EventToMatch>[]): Promise<Watchers> {
  const ids = [...new Set(matched.map(({ event }) => event.organization_id))];
  const [row] = await tx<Watchers[]>`
    select
      exists (select from alerts where organization_id = any (${ids}::uuid[]) and deleted_at is null)
        or exists (select from usage_thresholds where organization_id = any (${ids}::uuid[])
          and deleted_at is null) as usage,
      exists (select from wallets where organization_id = any (${ids}::uuid[]) and status = 'active') as wallets`;
  return row!;
}

/**
 * Marks the watched active subscriptions of events, and their customers with wallets. A watcher created meanwhile
 * evaluates the usage itself.
 */
export async function markUsed(
  tx: Db,
  matched: readonly MatchedEvent<EventToMatch>[],
  watchers: Watchers,
): Promise<Watched[]> {
  if (!watchers.usage && !watchers.wallets) return [];
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
  if (marks.size === 0) return [];
  // Sent one after the other without waiting between.
  const [watched, wallets] = await Promise.all([
    watchers.usage ? markWatched(tx, [...marks.values()]) : [],
    watchers.wallets ? markWalletsOfUsage(tx, [...marks.values()]) : [],
  ]);
  return [...watched, ...wallets];
}

/** Payload of the job that evaluates a subscription, or the wallets of a customer. */
export const workOf = ({ organization_id, ...watched }: Watched, at: Temporal.Instant) =>
  'customer_id' in watched
    ? { job: WALLET_ONGOING, organization_id, at: at.toString(), item: { customer_id: watched.customer_id } }
    : {
        job: USAGE_ACTIVITY,
        organization_id,
        customer_key: watched.customer_key,
        at: at.toString(),
        item: { subscription_id: watched.subscription_id },
      };

/**
 * After the commit: nudges the evaluation of marks. Nudges within half a second share one job at its end, so that it
 * starts after its last mark; the jobs `usage-activity` and `wallet-ongoing` find marks whose nudge was lost.
 */
export async function nudgeWatchers(
  producer: Pick<Producer, 'addMany'>,
  watched: readonly Watched[],
  realNow: Temporal.Instant,
): Promise<void> {
  const nowMs = realNow.epochMilliseconds;
  const slot = Math.floor(nowMs / COALESCE_MS) + 1;
  const at = new Map(watched.map((each) => [idOf(each), each]));
  await producer
    .addMany(
      'periodic.work',
      [...at.values()].map((each) => ({
        payload: workOf(each, realNow),
        options: {
          id: `${workOf(each, realNow).job}-${each.organization_id}-${idOf(each)}-${slot}`,
          delayMs: slot * COALESCE_MS - nowMs,
          forgetFailed: true,
        },
      })),
    )
    .catch(() => {}); // see above
}

const idOf = (watched: Watched): string => ('customer_id' in watched ? watched.customer_id : watched.subscription_id);
