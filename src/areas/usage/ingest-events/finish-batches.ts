import type { Temporal } from 'temporal-polyfill';
import { InOtherHands } from '../../../platform/busy.ts';
import type { Context } from '../../../platform/context.ts';
import type { Db, Sql } from '../../../platform/db/connect.ts';
import type { Scope } from '../../../platform/db/scope.ts';
import type { EventBatchId } from '../../../platform/ids.ts';
import type { Producer } from '../../../platform/queue/producer.ts';
import { stepJob } from '../../../platform/records/nudge.ts';
import { changeHours } from '../ai-usage-sums/change-hours.ts';
import { volumesOf } from '../event-volumes/count-events.ts';
import { plainArray } from '../events/storage/array-literal.ts';
import { tryMatching } from '../unmatched-events/matching-lock.ts';
import { countUnpriced } from '../unpriced-events/count-unpriced.ts';
import { addLateRollups, listAddedLate } from './late-rollups.ts';
import { marksOf, matchAll } from './match-all.ts';
import { markUsed, type Watched, watchersOf, workOf } from './nudge-watchers.ts';
import {
  type EventInBatch,
  finishBatches as endBatches,
  listOpenBatches,
  splitBatches,
  takeBatchEvents,
  takeLostBatches,
} from './open-batches.ts';
import { createOwed, type OwedInAdvance } from './owe-in-advance.ts';
import { reopenChecks } from './unchecked-events.ts';

const PAGE = 500;

/**
 * Finishes batches of stored events in the caller's transaction: finds the subscription of each event and marks it as
 * used, lists unmatched events with their reason, and adds last values and members to the rollups. Safe to run twice:
 * finished batches are gone.
 *
 * owed collects the after-steps that bill events in advance, for the caller to nudge after the commit
 *
 * @returns subscriptions whose usage is watched, to be nudged after the commit
 * @throws InOtherHands when an organization of them is being healed
 * Rules: events.md#subscription-of-an-event, events.md#after-storing, event-verdicts.md#verdict,
 * event-verdicts.md#unmatched-events.
 */
export async function finishBatches(
  tx: Db,
  ids: readonly EventBatchId[],
  owed: OwedInAdvance = createOwed(),
): Promise<Watched[]> {
  const held = await tryMatching(tx, ids);
  if (held.length > 0) throw new InOtherHands('the organization is being healed');
  return finishFree(tx, ids, owed);
}

/** The same for batches whose organizations' matching locks the transaction holds. */
export async function finishFree(tx: Db, ids: readonly EventBatchId[], owed: OwedInAdvance): Promise<Watched[]> {
  const events = await takeBatchEvents(tx, ids);
  // The first statement of both is sent together.
  const [late, matched] = await Promise.all([listAddedLate(tx, events), matchAll(tx, events)]);
  await addLateRollups(tx, late);
  const unmatched = matched.flatMap(({ event, reason }) => (reason === undefined ? [] : [{ event, reason }]));
  const [watchers] = await Promise.all([
    watchersOf(tx, matched),
    endBatches(tx, ids, { marks: marksOf(matched), unmatched, volumes: volumesOf(matched) }),
    reopenChecks(tx, events),
  ]);
  await owed.store(tx, matched, await countUnpriced(tx, unpricedOf(events)));
  await countCalls(tx, events);
  return markUsed(tx, matched, watchers);
}

/** Adds the rated calls of a batch to the sums of their hours. */
async function countCalls(tx: Db, events: readonly EventInBatch[]): Promise<void> {
  const ids = events.filter(({ is_rated }) => is_rated).map(({ id }) => id);
  if (ids.length === 0) return;
  const added = tx`events e where e.id = any (${plainArray(ids)}::uuid[]) and e.deleted_at is null`;
  await changeHours(tx, { added, taken: null });
}

const unpricedOf = (events: readonly EventInBatch[]) => events.flatMap(({ unpriced }) => (unpriced ? [unpriced] : []));

/**
 * The same for one organization's events in all open batches, which an advancing test clock finishes before it goes on.
 * Events of other organizations stay in their batch, so that nothing waits for them.
 */
export async function finishOpenBatches(scope: Scope<Sql>): Promise<number> {
  let done = 0;
  for (;;) {
    const batches = await listOpenBatches(scope, PAGE);
    if (batches.length === 0) return done;
    for (const { id, is_shared } of batches) {
      await scope.db.begin(async (tx) => {
        const own = is_shared ? await splitBatches(tx, [id], [scope.organizationId]) : [{ id }];
        await finishBatches(
          tx,
          own.map((batch) => batch.id),
        );
      });
    }
    done += batches.length;
  }
}

/** Step `finish-event-batch`: finishes the batch of events that a command stored. */
export async function finishBatchStep(ctx: Context, { batch_id }: { batch_id: EventBatchId }): Promise<void> {
  const owed = createOwed();
  for (const watched of await finishBatches(ctx.db, [batch_id], owed))
    ctx.after({ nudge: 'periodic.work', payload: workOf(watched, ctx.now()) });
  for (const step of owed.steps) ctx.after({ nudge: 'step.run', payload: stepJob(step).payload });
}

/**
 * Enqueues batches again whose job was lost; for the job `row-sweeper`.
 *
 * olderThan  real time: batches enqueued at or before it
 * by part of the jobs' ids: a second nudge by the same caller is ignored while the first is stored
 *
 * @returns how many there were
 */
export async function sweepEventBatches(
  deps: { sql: Sql; producer: Pick<Producer, 'addMany'> },
  olderThan: Temporal.Instant,
  now: Temporal.Instant,
  by = `${now.epochMilliseconds}`,
): Promise<number> {
  let swept = 0;
  for (;;) {
    const batches = await takeLostBatches(deps.sql, olderThan.toString(), { now: now.toString(), limit: PAGE });
    await deps.producer.addMany(
      'events.finish-batch',
      batches.map(({ id, organization_ids: owners }) => ({
        payload: { organization_id: owners.length === 1 ? owners[0] : undefined, batch_ids: [id] },
        // Another id than that of the first nudge, whose failed job may still be stored.
        options: { id: `finish-${id}-${by}`, forgetFailed: true },
      })),
    );
    swept += batches.length;
    if (batches.length < PAGE) return swept;
  }
}
