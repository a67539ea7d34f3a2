import type { Db } from '../../../platform/db/connect.ts';
import type { ObjectLedger, ObjectName, ObjectState } from '../../../platform/streams/source.ts';
import { textArray } from '../events/storage/array-literal.ts';
import { folded } from './checkpoints.ts';
import type { Connector } from './dead-letters.ts';

/** Under this key the counts of files that were ended are summed, so that a connector has few checkpoints. */
const ENDED_OBJECTS = 'objects';

/** When it is first asked whether a file that has ended is still there, and how often after that. */
const FIRST_LOOK_HOURS = 24;
const LOOK_EVERY_DAYS = 30;

/**
 * The files of a connector in `ingest_objects`. While one is read, its place and counts are a checkpoint, which is
 * stored with the events.
 *
 * Rule: streams.md#files.
 */
export function objectLedger(db: Db, connector: Connector): ObjectLedger {
  const { organizationId, code } = connector;
  const state = db`bucket, key, etag, status, attempts,
    next_attempt_at is not null and next_attempt_at > clock_timestamp() as is_waiting`;
  const ofObject = ({ bucket, key, etag }: ObjectName) => db`
    organization_id = ${organizationId} and connector = ${code} and bucket = ${bucket} and key = ${key}
      and etag = ${etag}`;
  return {
    states: (bucket, keys) => db<ObjectState[]>`
      select ${state} from ingest_objects
      where organization_id = ${organizationId} and connector = ${code} and bucket = ${bucket}
        and key = any(${textArray(keys)}::text[])`,
    left: (bucket, most) => db<ObjectName[]>`
      select bucket, key, etag from ingest_objects object
      where organization_id = ${organizationId} and connector = ${code} and bucket = ${bucket} and status = 'reading'
        and not exists (
          select from ingest_leases held
          where held.organization_id = ${organizationId} and held.connector = ${code}
            and held.key = object.bucket || '/' || object.key || '#' || object.etag
            and held.expires_at >= clock_timestamp())
      order by started_at limit ${most}`,
    ended: (bucket, most) => db<ObjectName[]>`
      update ingest_objects object set look_at = clock_timestamp() + ${LOOK_EVERY_DAYS} * interval '1 day'
      from (
        select key, etag from ingest_objects
        where organization_id = ${organizationId} and connector = ${code} and bucket = ${bucket}
          and status <> 'reading' and look_at <= clock_timestamp()
        order by look_at limit ${most} for update skip locked
      ) due
      where object.organization_id = ${organizationId} and object.connector = ${code} and object.bucket = ${bucket}
        and object.key = due.key and object.etag = due.etag
      returning object.bucket, object.key, object.etag`,
    async forget(object) {
      await db`delete from ingest_objects where ${ofObject(object)} and status <> 'reading'`;
    },
    async begin(object) {
      const { bucket, key, etag, size } = object;
      const [row] = await db<ObjectState[]>`
        insert into ingest_objects (organization_id, connector, bucket, key, etag, size, status, byte_offset, line,
          stored, replayed, dead, attempts, started_at)
        values (${organizationId}, ${code}, ${bucket}, ${key}, ${etag}, ${size}, 'reading', 0, 0, 0, 0, 0, 0,
          clock_timestamp())
        on conflict (organization_id, connector, bucket, key, etag) do update set size = excluded.size
        returning ${state}`;
      return row!;
    },
    async failAttempt(object) {
      await db`
        update ingest_objects set attempts = attempts + 1,
          next_attempt_at = clock_timestamp() + power(2, attempts) * interval '1 minute'
        where ${ofObject(object)} and status = 'reading'`;
    },
    async end(object, checkpoint, isFailed) {
      const [row] = await db<Pick<ObjectState, 'status'>[]>`
        with ${folded(db, connector, checkpoint, ENDED_OBJECTS)}
        update ingest_objects object set finished_at = clock_timestamp(), next_attempt_at = null,
          look_at = clock_timestamp() + ${FIRST_LOOK_HOURS} * interval '1 hour',
          status = case when ${isFailed} then 'failed' when coalesce(last.dead, 0) > 0 then 'done_with_errors'
            else 'done' end,
          byte_offset = coalesce((last.value ->> 'offset')::bigint, 0), line = coalesce((last.value ->> 'line')::bigint, 0),
          stored = coalesce(last.stored, 0), replayed = coalesce(last.replayed, 0), dead = coalesce(last.dead, 0)
        from (select) one left join ended last on true
        where ${ofObject(object)} and object.status = 'reading'
        returning object.status`;
      return row?.status ?? (isFailed ? 'failed' : 'done');
    },
    async drop(object, checkpoint) {
      await db`
        with ${folded(db, connector, checkpoint, ENDED_OBJECTS)}
        delete from ingest_objects where ${ofObject(object)} and status = 'reading'`;
    },
  };
}
