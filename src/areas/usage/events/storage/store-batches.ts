import { Temporal } from 'temporal-polyfill';
import { assert } from '../../../../engine/assert.ts';
import type { Db } from '../../../../platform/db/connect.ts';
import { waitForLocks } from '../../../../platform/db/lock-patience.ts';
import type { EventBatchId, ExternalSubscriptionId, OrganizationId, UsageShapeId } from '../../../../platform/ids.ts';
import { madeAtMs, newId } from '../../../../platform/ids.ts';
import { Refusal, refuse } from '../../../../platform/refusal.ts';
import type { Books } from '../../../catalog/model-books/model-books.ts';
import type { Catalog, LiveShape } from '../../../catalog/usage-shapes/storing-catalog.ts';
import { MOST_GROUPS_BY_HOURS, sumsUpToDays } from '../../../catalog/usage-shapes/usage-shape.ts';
import { type Count, countUsage } from '../../budget-windows/count-usage.ts';
import type { IncomingBatch, Verdict } from '../incoming-event.ts';
import { parseProperties } from '../property-json.ts';
import { isoOfMs } from '../timestamps.ts';
import { eventText } from '../view.ts';
import { byKey, columnsOf, type EventRow, type NewGroup, newGroupsOf } from './columns.ts';
import { findKept, holdClocks, insertEvents, type KeptKey, type StoredEvent } from './insert-events.ts';
import { type LimitedUsage, limitedUsageOf } from './limited-usage.ts';
import { type PreparedEvent, prepareEvent } from './prepare-event.ts';
import { readSubscribersOf, type SubscribersOf } from './subscribers-of-batches.ts';

export interface StoreOutcome {
  /** By batch, in the order of its events; undefined if the organization's catalog was stale and nothing was stored. */
  verdicts: (Verdict[] | undefined)[];
  /** Row of `event_batches` that owes asynchronous steps; null if nothing new was stored. */
  batchId: EventBatchId | null;
  /** Stored usage of metrics under limits; null if there is none. */
  limitedUsage: LimitedUsage | null;
  /** Organizations of which a budget has counted an event. */
  budgeted: ReadonlySet<OrganizationId>;
  /**
   * To be called after the commit: marks stored groups as known, so that they are not sent again. Returns subscriptions
   * that have got many groups, which are to be counted.
   */
  committed(): CrowdedShape[];
}

/** What batches are stored by. */
export interface StoreTerms {
  catalogs: ReadonlyMap<string, Catalog>;
  books: Books;
  /** Real time as ISO text. */
  now: string;
  patienceMs?: number | undefined;
}

/** A subscription that may have too many groups of a shape for rollups. */
export interface CrowdedShape {
  organization_id: OrganizationId;
  shape_id: UsageShapeId;
  external_subscription_id: ExternalSubscriptionId;
}

/** A batch in work: its prepared events, and the verdicts known so far. */
interface Passage {
  batch: IncomingBatch;
  rows: (EventRow | null)[];
  verdicts: (Verdict | undefined)[];
  /** An event refuses the whole batch. */
  isRefused: boolean;
}

const SAVEPOINT = 'events_insertion';
const NO_COUNTS: readonly Count[] = [];
const NO_CLOCKS: ReadonlyMap<string, string | Refusal> = new Map();

/** Whether parts of a batch may have to be undone. */
const isAllOrNothing = (batch: IncomingBatch): boolean => batch.atomic && batch.events.length > 1;

/** Whether batches need a transaction around `storeBatches`; others are stored by its single statement. */
export const needTransaction = (batches: readonly IncomingBatch[]): boolean =>
  batches.some((batch) => batch.sandbox || isAllOrNothing(batch));

/**
 * Stores batches of events, in the caller's transaction where they need one, and returns the result of each event. At
 * most three awaited statements: clocks of sandboxes, insertion with locks and rollups, and, if something was not
 * inserted, a read of the stored events.
 *
 * An event with a stored id counts as stored (its job was delivered twice); an identical one under its key is a replay,
 * a different one a conflict. A conflict or a refusal in an atomic batch leaves nothing of the batch stored. An event
 * of a sandbox whose test clock advances is refused.
 *
 * catalogs    of all organizations of the batches
 * books       of all models of calls to be rated, as of the catalogs
 * now         real time as ISO text
 * patienceMs  how long a lock is waited for; without one as long as the transaction does
 *
 * Rules: storing-events.md#jobs-and-replies, storing-events.md#statement, events.md#order-of-checks, events.md#batch,
 * events.md#deduplication, test-clocks.md#what-an-advance-promises.
 */
export async function storeBatches(
  db: Db,
  batches: readonly IncomingBatch[],
  { catalogs, books, now, patienceMs }: StoreTerms,
): Promise<StoreOutcome> {
  const sandboxes = [...new Set(batches.filter((batch) => batch.sandbox).map((batch) => batch.organization_id))];
  const presents = sandboxes.length === 0 ? NO_CLOCKS : await presentsOf(db, sandboxes, patienceMs);
  const subscribersOf = await readSubscribersOf(db, batches, catalogs);
  // Sent without waiting; the next statement runs after it.
  const ahead = batches.some(isAllOrNothing) ? [db.unsafe(`savepoint ${SAVEPOINT}`).execute()] : [];

  const passages = batches.map((batch) => passageOf(batch, { catalogs, books, presents, subscribersOf }));
  const versions = new Map([...catalogs].map(([id, catalog]) => [id, catalog.version]));
  const batchId = newId();
  for (;;) {
    const rows = passages.flatMap((passage) =>
      passage.isRefused ? [] : passage.rows.filter((row): row is EventRow => row !== null),
    );
    const newGroups = newGroupsOf(rows);
    const inserted =
      rows.length === 0
        ? []
        : insertEvents(db, columnsOf(rows.sort(byKey), versions, newGroups), { id: batchId, now, patienceMs });
    const [answered] = await Promise.all([inserted, ...ahead.splice(0)]);
    const missing = new Set(answered.flatMap(({ id }) => (id === null ? [] : [id])));
    const kept = await keptInstead(db, rows, missing);
    const refusedNow = passages.filter((passage) => !passage.isRefused && judge(passage, kept));
    if (refusedNow.length > 0) {
      for (const passage of refusedNow) passage.isRefused = true;
      if (refusedNow.some((passage) => passage.rows.length > 1)) {
        await db.unsafe(`rollback to savepoint ${SAVEPOINT}`);
        continue;
      }
    }
    return {
      verdicts: passages.map((passage) =>
        passage.verdicts.includes(undefined) ? undefined : (passage.verdicts as Verdict[]),
      ),
      batchId: missing.size < rows.length ? batchId : null,
      limitedUsage: limitedUsageOf(
        rows.filter(({ prepared }) => !missing.has(prepared.event.id)),
        catalogs,
        answered.flatMap((row) => (row.id === null ? [row.transaction] : []))[0],
      ),
      budgeted: new Set(rows.flatMap((row) => (row.counts.length > 0 ? [row.organization_id] : []))),
      committed: () => remember(rows, newGroups),
    };
  }
}

/** New groups of one subscription and shape after which they are counted. */
const LOOK_EVERY = 2000;
/** How many groups of one shape are cached; beyond it all are dropped together, never while a statement uses them. */
const MOST_GROUPS = 20_000;

function remember(rows: readonly EventRow[], newGroups: readonly NewGroup[]): CrowdedShape[] {
  const crowded = rows.flatMap(({ organization_id, prepared: { rollup, event } }) => {
    if (!rollup || rollup.group.isStored) return [];
    const { external_subscription_id } = event;
    const count = (rollup.shape.newGroups.get(external_subscription_id) ?? 0) + 1;
    rollup.shape.newGroups.set(external_subscription_id, count);
    const isLookedAt = count % LOOK_EVERY === 0 || (count === MOST_GROUPS_BY_HOURS + 1 && mayKeepDays(rollup.shape));
    return isLookedAt ? [{ organization_id, shape_id: rollup.shape.id, external_subscription_id }] : [];
  });
  for (const { shape, group } of newGroups) {
    group.isStored = true;
    if (shape.groups.size > MOST_GROUPS) shape.groups.clear();
  }
  return crowded;
}

const mayKeepDays = ({ aggregation_type, keeps_days }: LiveShape): boolean =>
  sumsUpToDays(aggregation_type) && !keeps_days;

/** Present of each sandbox with a test clock, or a refusal while it advances. */
async function presentsOf(
  db: Db,
  sandboxes: readonly string[],
  patienceMs: number | undefined,
): Promise<Map<string, string | Refusal>> {
  // Sent without waiting.
  const ahead = patienceMs === undefined ? undefined : waitForLocks(db, patienceMs).execute();
  const [held] = await Promise.all([holdClocks(db, sandboxes), ahead]);
  return new Map(
    held.map(({ organization_id, present, status }) => [
      organization_id,
      status === 'advancing' ? refuse.notAllowed('test_clock_advancing') : present,
    ]),
  );
}

function passageOf(
  batch: IncomingBatch,
  {
    catalogs,
    books,
    presents,
    subscribersOf,
  }: Pick<StoreTerms, 'catalogs' | 'books'> & {
    presents: ReadonlyMap<string, string | Refusal>;
    subscribersOf: SubscribersOf;
  },
): Passage {
  const catalog = catalogs.get(batch.organization_id);
  assert(catalog, 'an organization that sends events has a catalog');
  const present = presents.get(batch.organization_id) ?? null;
  const results = batch.events.map((event): PreparedEvent | Refusal =>
    present instanceof Refusal ? present : prepareEvent(event, batch, catalog, { present, books }),
  );
  const isRefused = batch.atomic && results.some((result) => result instanceof Refusal);
  return {
    batch,
    isRefused,
    rows: results.map((result) =>
      result instanceof Refusal
        ? null
        : {
            prepared: result,
            organization_id: batch.organization_id,
            user_agent: batch.user_agent,
            remote_address: batch.remote_address,
            counts: countsOf(result, batch, catalog, subscribersOf),
          },
    ),
    verdicts: results.map((result) =>
      result instanceof Refusal ? { e: { status: result.status, body: result.body } } : isRefused ? 0 : undefined,
    ),
  };
}

/** What an event adds to budgets; one that settles a hold is counted by its settlement. */
function countsOf(
  { event, timestamp, properties }: PreparedEvent,
  { isHeld, organization_id }: IncomingBatch,
  { budgets }: Catalog,
  subscribersOf: SubscribersOf,
): readonly Count[] {
  if (isHeld || budgets.length === 0) return NO_COUNTS;
  const { external_subscription_id, code, precise_total_amount_cents } = event;
  return countUsage(
    budgets,
    { external_subscription_id, code, properties: parseProperties(properties), precise_total_amount_cents },
    { at: Temporal.Instant.from(timestamp), subscribers: subscribersOf(organization_id) },
  );
}

/** The keys that events found taken, by the id of the event that was not inserted; undefined: the catalog was stale. */
async function keptInstead(
  db: Db,
  rows: readonly EventRow[],
  missing: ReadonlySet<string>,
): Promise<ReadonlyMap<string, KeptKey | undefined>> {
  if (missing.size === 0) return new Map();
  const events = rows.filter((row) => missing.has(row.prepared.event.id));
  const found = await findKept(
    db,
    events.map(({ organization_id, prepared: { event } }) => ({ organization_id, ...event })),
  );
  const byNumber = new Map(found.map((kept) => [kept.n, kept]));
  return new Map(events.map((row, index) => [row.prepared.event.id, byNumber.get(index + 1)]));
}

/** Writes the verdicts of a batch; true when a conflict refuses an atomic one. */
function judge(passage: Passage, kept: ReadonlyMap<string, KeptKey | undefined>): boolean {
  passage.rows.forEach((row, index) => {
    if (row) passage.verdicts[index] = verdictOf(row.prepared, kept);
  });
  return passage.batch.atomic && passage.verdicts.includes(1);
}

/** Undefined if it was neither inserted nor its key taken, so that the catalog was stale. */
function verdictOf(prepared: PreparedEvent, kept: ReadonlyMap<string, KeptKey | undefined>): Verdict | undefined {
  const { event, timestamp, created_at, properties, isChanged } = prepared;
  if (!kept.has(event.id)) {
    if (prepared.rated) return { c: prepared.rated };
    return isChanged ? { s: eventText({ ...event, timestamp, created_at, properties }) } : 0;
  }
  const key = kept.get(event.id);
  if (!key) return undefined;
  const there = key.event ?? goneEvent(prepared, key);
  if (key.id === event.id) return isChanged ? { s: eventText(there) } : 0;
  return key.is_same ? { r: eventText(there) } : 1;
}

/**
 * What is answered for an event of which only its key is left: an identical one was sent, and the key has its id and
 * timestamp; the id begins with the time at which it was made. Rule: storing-events.md#keys.
 */
function goneEvent({ event, properties }: PreparedEvent, { id, event_timestamp: timestamp }: KeptKey): StoredEvent {
  return { ...event, id, timestamp, properties, created_at: isoOfMs(madeAtMs(id)) };
}
