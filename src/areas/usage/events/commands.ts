import { assert } from '../../../engine/assert.ts';
import { realNowExactMs } from '../../../platform/clock/real-clock.ts';
import type { Context } from '../../../platform/context.ts';
import type { Db } from '../../../platform/db/connect.ts';
import { Answer } from '../../../platform/operation.ts';
import { nested } from '../../../platform/records/nested.ts';
import { ModelBooks } from '../../catalog/model-books/model-books.ts';
import { listCatalogs } from '../../catalog/usage-shapes/queries.ts';
import { catalogOf } from '../../catalog/usage-shapes/storing-catalog.ts';
import { answerText } from './answer-text.ts';
import { explainBatch } from './explain/explain-batch.ts';
import type { IncomingBatch, Verdict } from './incoming-event.ts';
import type { EventsInput } from './read-request.ts';
import { alone, isDataError, unstorable } from './storage/data-errors.ts';
import type { LimitedUsage } from './storage/limited-usage.ts';
import { modelsToRate } from './storage/prepare-event.ts';
import { storeBatches } from './storage/store-batches.ts';
import { isoOfMs } from './timestamps.ts';

/**
 * How often a write is tried: the shared lock is held after the first try, so the second try cannot meet a stale
 * catalog.
 */
const TRIES = 2;

/**
 * POST /events and /events/batch with an Idempotency-Key: stores events as the events lane does, in the command's own
 * transaction (idempotency.md).
 *
 * @throws Refusal 422 of the events, 405 while the test clock advances
 */
export async function storeInCommand(ctx: Context, input: EventsInput): Promise<Answer> {
  const { batch } = input;
  const now = isoOfMs(realNowExactMs());
  const verdicts = batch.events.length === 0 ? [] : await storeOrRefuse(ctx, batch, now);
  const { text, isReplayed } = answerText(input, await explainBatch(ctx.db, batch, { verdicts, now }));
  return new Answer(null, { json: text, ...(isReplayed ? { headers: { 'X-Svc-Replayed': 'true' } } : {}) });
}

/**
 * Stores a batch in the command's own transaction and returns the verdict on each event. What follows from stored
 * events is owed by it.
 */
export async function storeOrRefuse(ctx: Context, batch: IncomingBatch, now: string): Promise<Verdict[]> {
  try {
    return await store(ctx, batch, now);
  } catch (error) {
    if (!isDataError(error)) throw error;
    ctx.log.warn({ events: batch.events.length, err: (error as Error).message }, 'a value cannot be stored');
  }
  const verdicts: Verdict[] = [];
  for (const event of batch.events) verdicts.push(await storeAlone(ctx, alone(batch, event), now));
  // A refusal undoes what an atomic batch stored meanwhile.
  return verdicts;
}

/**
 * The same for several batches, which do not depend on each other: in one statement unless a value cannot be stored.
 *
 * @returns verdicts by batch, in the order of its events
 */
export async function storeEachOrRefuse(
  ctx: Context,
  batches: readonly IncomingBatch[],
  now: string,
): Promise<Verdict[][]> {
  if (batches.length === 0) return [];
  try {
    return await storeAll(ctx, batches, now);
  } catch (error) {
    if (!isDataError(error)) throw error;
  }
  const verdicts: Verdict[][] = [];
  for (const batch of batches) verdicts.push(await storeOrRefuse(ctx, batch, now));
  return verdicts;
}

async function storeAlone(ctx: Context, batch: IncomingBatch, now: string): Promise<Verdict> {
  try {
    return (await store(ctx, batch, now))[0]!;
  } catch (error) {
    if (isDataError(error)) return unstorable();
    throw error;
  }
}

const store = async (ctx: Context, batch: IncomingBatch, now: string): Promise<Verdict[]> =>
  (await storeAll(ctx, [batch], now))[0]!;

async function storeAll(ctx: Context, batches: readonly IncomingBatch[], now: string): Promise<Verdict[][]> {
  for (let attempt = 1; attempt <= TRIES; attempt += 1) {
    const [row] = await listCatalogs(ctx.db, [ctx.organizationId]);
    assert(row, 'the organization of a command is there');
    const catalog = catalogOf(row);
    const catalogs = new Map([[row.id, catalog]]);
    const asked = batches.flatMap((batch) => modelsToRate(batch, catalog));
    const books = await new ModelBooks().of(ctx.db, asked);
    const { verdicts, batchId, limitedUsage } = await nested(ctx, ({ db }) =>
      storeBatches(db, batches, { catalogs, books, now }),
    );
    if (verdicts.includes(undefined)) continue; // its catalog was stale: nothing is stored
    if (limitedUsage) await tellAccess(ctx.db, limitedUsage);
    if (batchId !== null) ctx.after({ step: 'finish-event-batch', payload: { batch_id: batchId } });
    return verdicts as Verdict[][];
  }
  throw new Error('a catalog read under the shared lock is of the present version');
}

/**
 * Events of a command are not added to the cache of access checks; the cache is dropped instead. Rule: access-check.md
 * "invalidation".
 */
export const tellAccess = (db: Db, { groups }: LimitedUsage) => db`
  select tell_access('s:' || id) from unnest(${groups.map((group) => group.external_subscription_id)}::text[]) id`;
