import type { Db } from '../../../platform/db/connect.ts';
import type { MetricId, PlanId } from '../../../platform/ids.ts';
import { groupRows } from '../../../platform/lists/group-rows.ts';
import { type CandidateSubscription, type EventToMatch, type Match, matchEvent } from '../match-events/match-event.ts';
import { type ActivityMark, listCandidates, listChargedPairs } from './open-batches.ts';

export interface MatchedEvent<Event extends EventToMatch> extends Match {
  event: Event;
  /** Whether a charge of the plan bills it in advance. */
  isPaidInAdvance: boolean;
  /** Whether a charge of the plan accepts target wallets. */
  acceptsTargetWallet: boolean;
}

/** Matches events with current subscriptions and charges: two statements. */
export async function matchAll<Event extends EventToMatch>(
  tx: Db,
  events: readonly Event[],
): Promise<MatchedEvent<Event>[]> {
  const keys = new Map(events.map((event) => [keyOf(event.organization_id, event.external_subscription_id), event]));
  const candidates = keys.size === 0 ? [] : await listCandidates(tx, [...keys.values()]);
  const candidatesOf = groupRows(candidates, (each) => keyOf(each.organization_id, each.external_id));
  const { isCharged, isPaidInAdvance, acceptsTargetWallet } = await chargedPairs(tx, candidates);
  return events.map((event) => {
    const own = candidatesOf.get(keyOf(event.organization_id, event.external_subscription_id)) ?? [];
    const match = matchEvent(event, own, isCharged);
    const { subscription, reason } = match;
    const isCounted = subscription !== undefined && reason === undefined;
    return {
      event,
      ...match,
      isPaidInAdvance: isCounted && isPaidInAdvance(subscription.plan_id, event.metric_id!),
      acceptsTargetWallet: subscription !== undefined && acceptsTargetWallet(subscription.plan_id),
    };
  });
}

/**
 * Active subscriptions that events belong to, each with the newest day of reception. Rule: events.md#after-storing (2).
 */
export function marksOf(matched: readonly MatchedEvent<EventToMatch>[]): ActivityMark[] {
  const marks = new Map<string, ActivityMark>();
  for (const { event, subscription } of matched) {
    if (subscription?.status !== 'active') continue;
    const day = event.created_at.slice(0, 10);
    const known = marks.get(subscription.id);
    if (!known)
      marks.set(subscription.id, { organization_id: event.organization_id, subscription_id: subscription.id, day });
    else if (day > known.day) known.day = day;
  }
  return [...marks.values()];
}

const keyOf = (one: string, other: string): string => `${one} ${other}`;

async function chargedPairs(
  tx: Db,
  candidates: readonly CandidateSubscription[],
): Promise<
  Record<'isCharged' | 'isPaidInAdvance', (planId: PlanId, metricId: MetricId) => boolean> & {
    acceptsTargetWallet: (planId: PlanId) => boolean;
  }
> {
  if (candidates.length === 0)
    return { isCharged: () => false, isPaidInAdvance: () => false, acceptsTargetWallet: () => false };
  const pairs = await listChargedPairs(
    tx,
    [...new Set(candidates.map((each) => each.organization_id))],
    [...new Set(candidates.map((each) => each.plan_id))],
  );
  const inAdvance = new Map(pairs.map((pair) => [keyOf(pair.plan_id, pair.billable_metric_id), pair.pay_in_advance]));
  const minding = new Set(pairs.filter((pair) => pair.accepts_target_wallet).map((pair) => pair.plan_id));
  return {
    isCharged: (planId, metricId) => inAdvance.has(keyOf(planId, metricId)),
    isPaidInAdvance: (planId, metricId) => inAdvance.get(keyOf(planId, metricId)) === true,
    acceptsTargetWallet: (planId) => minding.has(planId),
  };
}
