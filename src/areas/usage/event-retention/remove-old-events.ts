import type { Temporal } from 'temporal-polyfill';
import type { Sql } from '../../../platform/db/connect.ts';
import type { ExternalSubscriptionId, OrganizationId } from '../../../platform/ids.ts';
import type { Hold, SweepDeps } from '../../../platform/periodic-job.ts';
import { type ArchiveStore, openStore } from './archive-store.ts';
import { archiveEvents, eventsOf, insertArchive, listArchives, setArchiveRemoved } from './archives.ts';
import { closeTime } from './close-time.ts';
import {
  hasOldWork,
  listDue,
  listOldEvents,
  listRetaining,
  type OldEvents,
  readOldEvents,
  removeEvents,
  SUBSCRIPTIONS_A_ROUND,
  setRemoved,
} from './old-events.ts';

const HOURS_OF_A_DAY = 24;
/** Events of one statement that removes: some tenths of a second. */
const EVENTS_A_PAGE = 5000;
/** Events that are archived before they are removed: some files of at most 100 MB, and a snapshot of a minute. */
const EVENTS_A_PART = 200_000;

/**
 * Closes what was billed longer ago than its organization keeps raw events, and removes the events of what was closed
 * the last time. Works month by month, in the time of the real clock. Whatever an interrupted run has archived is
 * removed first.
 *
 * Rule: retention.md#raw-events.
 */
export async function removeOldEvents(
  { sql, config, log }: Pick<SweepDeps, 'sql' | 'config' | 'log'>,
  now: Temporal.Instant,
  hold?: Hold,
): Promise<void> {
  const store = config.EVENTS_ARCHIVE_URL === undefined ? undefined : openStore(config.EVENTS_ARCHIVE_URL);
  for (const { id: organizationId, days } of await listRetaining(sql, config.EVENTS_RAW_DAYS ?? null)) {
    const before = now.subtract({ hours: HOURS_OF_A_DAY * days });
    const closing = { before, until: startOfMonth(before), now };
    const of = { sql, store, organizationId, now, hold };
    await finishRemovals(of);
    const removed = await removeDue(of, closing.until);
    await closeTime({ db: sql, organizationId }, closing, hold);
    if (removed > 0) log.info({ organization_id: organizationId, events: removed }, 'raw events removed');
  }
}

const startOfMonth = (at: Temporal.Instant): Temporal.Instant =>
  at.toZonedDateTimeISO('UTC').with({ day: 1 }).startOfDay().toInstant();

interface Removal {
  sql: Sql;
  /** Undefined: events are removed without an archive. */
  store: ArchiveStore | undefined;
  organizationId: OrganizationId;
  now: Temporal.Instant;
  hold: Hold | undefined;
}

async function removeDue(of: Removal, until: Temporal.Instant): Promise<number> {
  const scope = { db: of.sql, organizationId: of.organizationId };
  if (await hasOldWork(scope, of.now)) return 0;
  let removed = 0;
  for (let after: ExternalSubscriptionId = ''; ; ) {
    const due = await listDue(scope, after, of.now);
    if (due.length === 0) return removed;
    const old = { ids: due.map(({ id }) => id), until };
    for (let count = 1; count > 0; removed += count)
      count = of.store === undefined ? await removePage(of, old) : await archivePart(of, of.store, old);
    await setRemoved(scope, due);
    if (due.length < SUBSCRIPTIONS_A_ROUND) return removed;
    after = due.at(-1)!.id;
  }
}

async function removePage({ sql, organizationId, hold }: Removal, old: OldEvents): Promise<number> {
  await hold?.();
  const scope = { db: sql, organizationId };
  const events = await listOldEvents(scope, old, EVENTS_A_PAGE);
  return events.length === 0 ? 0 : removeEvents(scope, events);
}

/** Archives some events, and removes what the files in the store hold. */
async function archivePart(of: Removal, store: ArchiveStore, old: OldEvents): Promise<number> {
  const { sql, organizationId, hold, now } = of;
  await hold?.();
  const archives = await sql.begin('isolation level repeatable read read only', (tx) => {
    const pages = readOldEvents({ db: tx, organizationId }, old, { limit: EVENTS_A_PART, page: EVENTS_A_PAGE });
    return archiveEvents(store, organizationId, pages);
  });
  if (archives.length === 0) return 0;
  await sql.begin(async (tx) => {
    for (const archive of archives) await insertArchive({ db: tx, organizationId }, archive, now);
  });
  return finishRemovals(of);
}

/** Removes the events of archives that an interrupted run has left, or this one has made. */
async function finishRemovals({ sql, store, organizationId, now, hold }: Removal): Promise<number> {
  const scope = { db: sql, organizationId };
  if (store === undefined) return 0;
  let removed = 0;
  for (const archive of await listArchives(scope, 'unfinished')) {
    for await (const events of eventsOf(store, archive)) {
      await hold?.();
      removed += await removeEvents(scope, events);
    }
    await setArchiveRemoved(scope, archive.id, now);
  }
  return removed;
}
