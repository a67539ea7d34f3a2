import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { mkdtemp, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Temporal } from 'temporal-polyfill';
import type { Scope } from '../../../platform/db/scope.ts';
import { newId, type OrganizationId } from '../../../platform/ids.ts';
import type { ArchiveStore } from './archive-store.ts';
import { type ArchivedEvent, type EventsSum, sumEvents } from './archived-event.ts';
import { type ParquetArchive, readParquet, writeParquet } from './parquet-file.ts';

/** A file of the archive: some events of an organization that came in one month. */
export interface Archive {
  id: string;
  /** First day. */
  month: Temporal.PlainDate;
  /** In the store; its manifest has the same name with `.json`. */
  path: string;
  events_count: number;
  bytes: number;
  /** Of the file, as hex. */
  sha256: string;
  /** As `EventsSum.text`. */
  events_sum: string;
}

/** Gives work a folder of its own, which is removed behind it. */
export async function inScratch<T>(work: (folder: string) => Promise<T>): Promise<T> {
  const folder = await mkdtemp(join(tmpdir(), 'meterstone-events-'));
  try {
    return await work(folder);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

interface OpenFile {
  file: string;
  month: Temporal.PlainDate;
  parquet: ParquetArchive;
  events: EventsSum;
  first: string;
  last: string;
}

/**
 * Writes events into one file a month, puts each into the store with its manifest, reads it back from there and
 * compares every event. Nothing is removed before all of this was done.
 */
export async function archiveEvents(
  store: ArchiveStore,
  organizationId: OrganizationId,
  pages: AsyncIterable<ArchivedEvent[]>,
): Promise<Archive[]> {
  return inScratch(async (folder) => {
    const files = new Map<string, OpenFile>();
    for await (const page of pages)
      for (const [month, events] of byMonth(page)) {
        const open = files.get(month) ?? openFile(folder, organizationId, month);
        files.set(month, open);
        await append(open, events);
      }
    const archives: Archive[] = [];
    for (const open of files.values()) archives.push(await putFile(store, organizationId, folder, open));
    return archives;
  });
}

function openFile(folder: string, organizationId: OrganizationId, month: string): OpenFile {
  const file = join(folder, `${month}.parquet`);
  const about = { schema: 'events', version: '1', organization: organizationId, month };
  const parquet = writeParquet(file, about);
  return { file, month: Temporal.PlainDate.from(`${month}-01`), parquet, events: sumEvents(), first: '', last: '' };
}

async function append(open: OpenFile, events: readonly ArchivedEvent[]): Promise<void> {
  await open.parquet.write(events);
  for (const event of events) {
    open.events.add(event);
    if (open.first === '' || BigInt(event.timestamp) < BigInt(open.first)) open.first = event.timestamp;
    if (open.last === '' || BigInt(event.timestamp) > BigInt(open.last)) open.last = event.timestamp;
  }
}

async function putFile(
  store: ArchiveStore,
  organizationId: OrganizationId,
  folder: string,
  open: OpenFile,
): Promise<Archive> {
  await open.parquet.finish();
  const id = newId();
  const month = open.month.toString().slice(0, '2026-01'.length);
  const archive: Archive = {
    id,
    month: open.month,
    path: `${organizationId}/${month}/${id}.parquet`,
    events_count: open.events.count,
    bytes: (await stat(open.file)).size,
    sha256: await sha256Of(open.file),
    events_sum: open.events.text(),
  };
  await store.put(open.file, archive.path);
  await prove(store, archive);
  const manifest = join(folder, `${id}.json`);
  const { path, events_count, bytes, sha256, events_sum } = archive;
  const about = { version: 1, organization: organizationId };
  const bounds = { from_timestamp: instantText(open.first), to_timestamp: instantText(open.last) };
  await writeFile(
    manifest,
    `${JSON.stringify({ ...about, month, path, events_count, bytes, sha256, events_sum, ...bounds })}\n`,
  );
  await store.put(manifest, manifestOf(path));
  return archive;
}

const instantText = (micros: string): string =>
  Temporal.Instant.fromEpochNanoseconds(BigInt(micros) * 1000n).toString();

const manifestOf = (path: string): string => path.replace(/\.parquet$/, '.json');

/** @throws Error, naming the file, if it is not what was written */
export async function prove(store: ArchiveStore, archive: Archive): Promise<void> {
  for await (const _events of eventsOf(store, archive));
}

/**
 * The events of a file in the store, group by group. The file is compared before the first one, the events behind the
 * last one.
 *
 * @throws Error, naming the file, if it is not what was written
 */
export async function* eventsOf(store: ArchiveStore, archive: Archive): AsyncGenerator<ArchivedEvent[]> {
  const folder = await mkdtemp(join(tmpdir(), 'meterstone-events-'));
  try {
    const file = join(folder, 'archive.parquet');
    await store.fetch(archive.path, file);
    if ((await sha256Of(file)) !== archive.sha256) throw new Error(`${archive.path}: another file than was archived`);
    const sum = sumEvents();
    for await (const events of readParquet(file)) {
      for (const event of events) sum.add(event);
      yield events;
    }
    if (sum.count !== archive.events_count || sum.text() !== archive.events_sum)
      throw new Error(`${archive.path}: other events than were archived`);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

async function sha256Of(file: string): Promise<string> {
  const hash = createHash('sha256');
  for await (const bytes of createReadStream(file)) hash.update(bytes as Buffer);
  return hash.digest('hex');
}

/** Events by the month of their id, which is that of the real clock when they came. */
function byMonth(events: readonly ArchivedEvent[]): Map<string, ArchivedEvent[]> {
  const months = new Map<string, ArchivedEvent[]>();
  for (const event of events) {
    const epochMilliseconds = Number.parseInt(event.id.slice(0, 13).replace('-', ''), 16);
    const month = Temporal.Instant.fromEpochMilliseconds(epochMilliseconds).toString().slice(0, '2026-01'.length);
    const own = months.get(month) ?? [];
    own.push(event);
    months.set(month, own);
  }
  return months;
}

export const insertArchive = ({ db, organizationId }: Scope, archive: Archive, now: Temporal.Instant) => db`
  insert into event_archives (id, organization_id, month, path, events_count, bytes, sha256, events_sum, created_at)
  values (${archive.id}, ${organizationId}, ${archive.month}, ${archive.path}, ${archive.events_count},
    ${archive.bytes}, ${archive.sha256}, ${archive.events_sum}, ${now})`;

export const setArchiveRemoved = ({ db, organizationId }: Scope, id: string, now: Temporal.Instant) => db`
  update event_archives set removed_at = ${now} where organization_id = ${organizationId} and id = ${id}`;

/** Archives of an organization; of a month (its first day), or those whose removal was interrupted. */
export const listArchives = (
  { db, organizationId }: Scope,
  which: { month: Temporal.PlainDate } | 'unfinished' | 'all',
): PromiseLike<Archive[]> => db`
  select id, month, path, events_count, bytes, sha256, events_sum from event_archives
  where organization_id = ${organizationId}
    ${which === 'unfinished' ? db`and removed_at is null` : db``}
    ${typeof which === 'object' ? db`and month = ${which.month}` : db``}
  order by id`;
