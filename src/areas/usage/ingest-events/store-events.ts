import { assert } from '../../../engine/assert.ts';
import { realNow, realNowExactMs } from '../../../platform/clock/real-clock.ts';
import type { Db, Sql } from '../../../platform/db/connect.ts';
import type { Log } from '../../../platform/log/log.ts';
import type { Producer } from '../../../platform/queue/producer.ts';
import { type Books, NO_BOOKS } from '../../catalog/model-books/model-books.ts';
import type { Catalog, CatalogCache } from '../../catalog/usage-shapes/storing-catalog.ts';
import type { AccessCounters } from '../access/counters.ts';
import { wakeSweep } from '../budget-windows/nudge-sweep.ts';
import type { IncomingBatch, Verdict } from '../events/incoming-event.ts';
import { alone, isDataError, unstorable } from '../events/storage/data-errors.ts';
import { modelsToRate } from '../events/storage/prepare-event.ts';
import { needTransaction, type StoreOutcome, storeBatches } from '../events/storage/store-batches.ts';
import { isoOfMs } from '../events/timestamps.ts';
import type { FinisherNudge } from './nudge-finisher.ts';

export interface StoreDeps {
  sql: Sql;
  log: Log;
  producer: Pick<Producer, 'add'>;
  catalogs: CatalogCache;
  /** Collects the nudges of stored batches; without it each batch gets its own job. */
  finisher?: Pick<FinisherNudge, 'add'>;
  /** Counters of access checks; without them their cached values expire within a minute. */
  counters?: Pick<AccessCounters, 'add'>;
  /** Longest wait for a lock; without it as long as statements may run. */
  patienceMs?: number;
  /**
   * Fails as a whole if a value cannot be stored, so that other batches in the statement do not wait for the search.
   */
  isShared?: boolean;
}

/** Number of events from which two statements of half of them take less time than one. */
const WORTH_TWO = 600;
/** How often a statement is tried that Postgres chose as the victim of a deadlock. */
const DEADLOCK_TRIES = 4;
/**
 * How often a statement is tried after catalog changes: people edit metrics, so a second change between two tries is
 * rare and a tenth is a defect.
 */
export const STALE_TRIES = 10;

/**
 * Stores batches of events before they are answered with 200: each batch in one transaction, and at most three awaited
 * statements for all of them, or for each half of very many, if nothing has to be repeated. Repeats for organizations
 * whose catalog was stale, on a deadlock, and in halves when a value cannot be stored, until the faulty event is alone
 * and refused. Then it starts the asynchronous steps.
 *
 * Called by every source of events: the HTTP lane, connectors, imports. Rules: storing-events.md#which-path,
 * storing-events.md#jobs-and-replies, storing-events.md#statement.
 *
 * @returns verdicts by batch, in the order of its events
 */
export async function storeEvents(deps: StoreDeps, batches: readonly IncomingBatch[]): Promise<Verdict[][]> {
  const verdicts: Verdict[][] = new Array(batches.length);
  let left = batches.map((batch, index) => ({ batch, index }));
  for (let attempt = 1; left.length > 0; attempt += 1) {
    assert(attempt <= STALE_TRIES, 'a catalog that was just read is of the present version');
    const outcome = await storeParts(
      deps,
      left.map((each) => each.batch),
    );
    for (const [position, { index }] of left.entries()) {
      const found = outcome[position];
      if (found) verdicts[index] = found;
    }
    left = left.filter((_, position) => outcome[position] === undefined);
    deps.catalogs.forget(left.map((each) => each.batch.organization_id));
  }
  return verdicts;
}

type Verdicts = StoreOutcome['verdicts'];

/**
 * Two statements side by side, each for half of the batches, where there are many events: Postgres works on each with a
 * core of its own. If one fails, the other's events stay stored, as after any job that runs again.
 */
async function storeParts(deps: StoreDeps, batches: readonly IncomingBatch[]): Promise<Verdicts> {
  const parts = partsOf(batches);
  if (parts.length > 1) await catalogsOf(deps, batches); // read once for both halves halves
  const results = await Promise.allSettled(parts.map((part) => storeOrSplit(deps, part)));
  return results.flatMap((result) => {
    if (result.status === 'rejected') throw result.reason;
    return result.value;
  });
}

function partsOf(batches: readonly IncomingBatch[]): (readonly IncomingBatch[])[] {
  const events = batches.reduce((sum, batch) => sum + batch.events.length, 0);
  if (events < WORTH_TWO) return [batches];
  let before = 0;
  const middle = batches.findIndex((batch) => {
    before += batch.events.length;
    return before * 2 > events;
  });
  return middle === 0 ? [batches] : [batches.slice(0, middle), batches.slice(middle)];
}

/** Whose events they are, for a line of the log. */
export function ownerOf(
  batches: readonly IncomingBatch[],
): Pick<IncomingBatch, 'organization_id'> | { organizations: number } {
  const [first, ...others] = new Set(batches.map(({ organization_id }) => organization_id));
  return others.length === 0 ? { organization_id: first! } : { organizations: others.length + 1 };
}

async function storeOrSplit(deps: StoreDeps, batches: readonly IncomingBatch[]): Promise<Verdicts> {
  try {
    return await storeOnce(deps, batches);
  } catch (error) {
    if (deps.isShared || !isDataError(error)) throw error;
    deps.log.warn(
      { ...ownerOf(batches), batches: batches.length, err: (error as Error).message },
      'a value cannot be stored',
    );
    if (batches.length === 1) return [await refuseCulprits(deps, batches[0]!)];
    const half = Math.ceil(batches.length / 2);
    return [...(await storeOrSplit(deps, batches.slice(0, half))), ...(await storeOrSplit(deps, batches.slice(half)))];
  }
}

async function storeOnce(deps: StoreDeps, batches: readonly IncomingBatch[]): Promise<Verdicts> {
  const outcome = await attempt(deps, batches, needTransaction(batches), (stored) => stored);
  await followStored(deps, batches, outcome);
  return outcome.verdicts;
}

/** What is started after the commit of stored events. What is lost of it is made up by sweepers. */
export async function followStored(
  deps: StoreDeps,
  batches: readonly IncomingBatch[],
  outcome: StoreOutcome,
): Promise<void> {
  // A lost check is made up when the subscription next gets many groups.
  for (const crowded of outcome.committed()) deps.producer.add('rollup.guard', crowded).catch(() => {});
  if (outcome.batchId !== null) {
    const id = onlyOrganizationOf(batches);
    if (deps.finisher) deps.finisher.add(outcome.batchId, id);
    else
      deps.producer.add('events.finish-batch', { organization_id: id, batch_ids: [outcome.batchId] }).catch(() => {});
  }
  if (outcome.budgeted.size > 0) wakeSweep(deps.producer, outcome.budgeted, realNow());
  // Before the answer, so that a caller with an answer finds the event counted. One call, and none without limits
  // (access-check.md).
  if (deps.counters && outcome.limitedUsage) await deps.counters.add(outcome.limitedUsage);
}

/** Undefined if there are several. */
function onlyOrganizationOf([first, ...others]: readonly IncomingBatch[]): string | undefined {
  const id = first?.organization_id;
  return others.every((batch) => batch.organization_id === id) ? id : undefined;
}

/**
 * Verdicts of a batch that holds a value Postgres refuses: its events are tried one by one. Those of an atomic batch
 * are rolled back.
 */
async function refuseCulprits(deps: StoreDeps, batch: IncomingBatch): Promise<Verdict[] | undefined> {
  if (batch.events.length === 1) return [unstorable()];
  const verdicts: Verdict[] = [];
  for (const event of batch.events) {
    const single = alone(batch, event);
    const verdict = batch.atomic ? await tryAlone(deps, single) : (await storeOrSplit(deps, [single]))[0]?.[0];
    if (verdict === undefined) return undefined;
    verdicts.push(verdict);
  }
  return verdicts;
}

const tryAlone = async (deps: StoreDeps, single: IncomingBatch): Promise<Verdict> =>
  (await isStorableBatch(deps, single)) ? 0 : unstorable();

class TrialOver extends Error {}

/** Whether the events of a batch can be stored; they are stored and rolled back. */
export async function isStorableBatch(deps: StoreDeps, batch: IncomingBatch): Promise<boolean> {
  try {
    await attempt(deps, [batch], true, () => {
      throw new TrialOver();
    });
    return true;
  } catch (error) {
    if (error instanceof TrialOver) return true;
    if (isDataError(error)) return false;
    throw error;
  }
}

/**
 * One try to store batches, repeated when Postgres chose it as the victim of a deadlock.
 *
 * then  runs in the transaction, if one is needed
 */
export async function attempt<Result>(
  deps: StoreDeps,
  batches: readonly IncomingBatch[],
  needsTransaction: boolean,
  then: (outcome: StoreOutcome, db: Db) => Result | Promise<Result>,
): Promise<Result> {
  const now = isoOfMs(realNowExactMs());
  for (let tried = 1; ; tried += 1) {
    const catalogs = await catalogsOf(deps, batches);
    const books = await booksOf(deps, batches, catalogs);
    try {
      const run = async (db: Db) =>
        then(await storeBatches(db, batches, { catalogs, books, now, patienceMs: deps.patienceMs }), db);
      return needsTransaction ? ((await deps.sql.begin(run)) as Result) : await run(deps.sql);
    } catch (error) {
      if ((error as { code?: string }).code !== '40P01' || tried === DEADLOCK_TRIES) throw error;
    }
  }
}

const catalogsOf = ({ catalogs, sql }: StoreDeps, batches: readonly IncomingBatch[]) =>
  catalogs.of(
    sql,
    batches.map((batch) => batch.organization_id),
  );

/** Prices of the models of calls among the events: those that this process does not have are one statement. */
function booksOf(
  { catalogs: cache, sql }: StoreDeps,
  batches: readonly IncomingBatch[],
  catalogs: ReadonlyMap<string, Catalog>,
): Books | Promise<Books> {
  const asked = batches.flatMap((batch) => modelsToRate(batch, catalogs.get(batch.organization_id)!));
  return asked.length === 0 ? NO_BOOKS : cache.books.of(sql, asked);
}
