import type { Db, Fragment } from '../../../platform/db/connect.ts';
import type { EventBatchId, EventId, MetricId, OrganizationId } from '../../../platform/ids.ts';
import { plainArray, textArray } from '../events/storage/array-literal.ts';
import { isoOfMs } from '../events/timestamps.ts';

/** Processes that end batches at the same time mostly use different rows. */
const LANES = 8;
/** Counts what is not stored, and events without a live metric: any text could come. */
export const NO_CODE = '';

export interface Volume {
  organization_id: OrganizationId;
  /** ISO text of the minute of reception in real time. */
  minute: string;
  code: string;
  stored: number;
  unmatched: number;
}

/** An event as its batch has it. */
interface Counted {
  event: { id: EventId; organization_id: OrganizationId; code: string; metric_id: MetricId | null };
  /** Why nothing bills it; undefined if something does. */
  reason?: string | undefined;
}

/** Milliseconds in an id: the real time at which it was made, also under a test clock. */
const msOf = (id: string): number => Number.parseInt(id.slice(0, 8) + id.slice(9, 13), 16);

const MINUTE_MS = 60_000;

/** Events by organization, minute and code, in this order. Rule: event-volume.md. */
export function volumesOf(events: readonly Counted[]): Volume[] {
  const volumes = new Map<string, Volume>();
  for (const { event, reason } of events) {
    const minute = isoOfMs(Math.floor(msOf(event.id) / MINUTE_MS) * MINUTE_MS);
    const code = event.metric_id === null ? NO_CODE : event.code;
    const key = `${event.organization_id} ${minute} ${code}`;
    const known = volumes.get(key) ?? { organization_id: event.organization_id, minute, code, stored: 0, unmatched: 0 };
    known.stored += 1;
    if (reason !== undefined) known.unmatched += 1;
    volumes.set(key, known);
  }
  return [...volumes.entries()].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, volume]) => volume);
}

/** The lane of a batch: its last digit, which is random. */
const laneOf = (ids: readonly EventBatchId[]): number => Number.parseInt(ids[0]?.slice(-1) ?? '0', 16) % LANES;

/** Part of the statement that ends batches: adds their events. */
export const addedVolumes = (db: Db, volumes: readonly Volume[], batchIds: readonly EventBatchId[]): Fragment => db`
  volume as (
    insert into event_volumes as known (organization_id, minute, code, lane, stored, unmatched, replayed, rejected)
    select organization_id, minute, code, ${laneOf(batchIds)}::smallint, stored, unmatched, 0, 0
    from unnest(${plainArray(volumes.map((each) => each.organization_id))}::uuid[],
      ${plainArray(volumes.map((each) => each.minute))}::timestamptz[],
      ${textArray(volumes.map((each) => each.code))}::text[],
      ${plainArray(volumes.map((each) => each.stored))}::bigint[],
      ${plainArray(volumes.map((each) => each.unmatched))}::bigint[])
      as added (organization_id, minute, code, stored, unmatched)
    order by organization_id, minute, code collate "C"
    on conflict (organization_id, minute, code, lane) do update set
      stored = known.stored + excluded.stored, unmatched = known.unmatched + excluded.unmatched
  )`;
