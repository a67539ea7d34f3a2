import type { Temporal } from 'temporal-polyfill';
import type { Context } from '../../platform/context.ts';
import type { Db, Sql } from '../../platform/db/connect.ts';
import type { Producer } from '../../platform/queue/producer.ts';
import {
  type CandidateSubscription,
  type EventToMatch,
  matchEvent,
} from '../../resources/unmatched-events/match-event.ts';
import {
  type ActivityMark,
  finishBatches as endBatches,
  listCandidates,
  listChargedPairs,
  listOpenBatches,
  takeBatchEvents,
  takeLostBatches,
  type UnmatchedEvent,
} from './finish-sql.ts';

const PAGE = 500;

/**
 * Does what stored events still owe and ends their batches, in the caller's transaction: finds the subscription of each
 * event and marks it as used, keeps the events that no charge takes with the reason. Safe to run twice: batches that are
 * gone are done. Rules: usage-and-charges A.9, A.10, beyond 3.1, 3.2.
 */
export async function finishBatches(tx: Db, ids: readonly string[]): Promise<void> {
  const events = await takeBatchEvents(tx, ids);
  const keys = new Map(events.map((event) => [keyOf(event.organization_id, event.external_subscription_id), event]));
  const candidates = keys.size === 0 ? [] : await listCandidates(tx, [...keys.values()]);
  const candidatesOf = groupBy(candidates, (each) => keyOf(each.organization_id, each.external_id));
  const isCharged = await chargedPairs(tx, candidates);

  const marks = new Map<string, ActivityMark>();
  const unmatched: UnmatchedEvent[] = [];
  for (const event of events) {
    const own = candidatesOf.get(keyOf(event.organization_id, event.external_subscription_id)) ?? [];
    const { subscription, reason } = matchEvent(event, own, isCharged);
    if (subscription?.status === 'active') mark(marks, event, subscription);
    if (reason) unmatched.push({ event, reason });
  }
  await endBatches(tx, ids, [...marks.values()], unmatched);
}

/** The same for every open batch of an organization: an advancing test clock settles them before it goes on. */
export async function finishOpenBatches(sql: Sql, organizationId: string): Promise<number> {
  let done = 0;
  for (;;) {
    const batches = await listOpenBatches(sql, organizationId, PAGE);
    if (batches.length === 0) return done;
    for (const { id } of batches) await sql.begin((tx) => finishBatches(tx, [id]));
    done += batches.length;
  }
}

/** Step `finish-event-batch`: of events that a command stored. */
export const finishBatchStep = (ctx: Context, { batch_id }: { batch_id: string }): Promise<void> =>
  finishBatches(ctx.db, [batch_id]);

/**
 * Enqueues batches again whose job was lost; for the job `row-sweeper`.
 *
 * olderThan  real time: batches enqueued at or before it
 *
 * @returns how many there were
 */
export async function sweepEventBatches(
  deps: { sql: Sql; producer: Pick<Producer, 'addMany'> },
  olderThan: Temporal.Instant,
  now: Temporal.Instant,
): Promise<number> {
  let swept = 0;
  for (;;) {
    const batches = await takeLostBatches(deps.sql, olderThan.toString(), now.toString(), PAGE);
    await deps.producer.addMany(
      'events.finish-batch',
      batches.map(({ id }) => ({
        payload: { batch_ids: [id] },
        // Another id than the first nudge, whose failed job may still be stored.
        options: { id: `finish-${id}-${now.epochMilliseconds}` },
      })),
    );
    swept += batches.length;
    if (batches.length < PAGE) return swept;
  }
}

const keyOf = (organizationId: string, externalId: string): string => `${organizationId} ${externalId}`;

function groupBy<Thing>(things: readonly Thing[], key: (thing: Thing) => string): Map<string, Thing[]> {
  const groups = new Map<string, Thing[]>();
  for (const thing of things) {
    const group = groups.get(key(thing));
    if (group) group.push(thing);
    else groups.set(key(thing), [thing]);
  }
  return groups;
}

async function chargedPairs(
  tx: Db,
  candidates: readonly CandidateSubscription[],
): Promise<(planId: string, metricId: string) => boolean> {
  if (candidates.length === 0) return () => false;
  const pairs = await listChargedPairs(
    tx,
    [...new Set(candidates.map((each) => each.organization_id))],
    [...new Set(candidates.map((each) => each.plan_id))],
  );
  const charged = new Set(pairs.map((pair) => keyOf(pair.plan_id, pair.billable_metric_id)));
  return (planId, metricId) => charged.has(keyOf(planId, metricId));
}

function mark(marks: Map<string, ActivityMark>, event: EventToMatch, subscription: CandidateSubscription): void {
  const day = event.created_at.slice(0, 10);
  const known = marks.get(subscription.id);
  if (!known)
    marks.set(subscription.id, { organization_id: event.organization_id, subscription_id: subscription.id, day });
  else if (day > known.day) known.day = day;
}
