import type { Db } from '../../../platform/db/connect.ts';
import type { OrganizationId } from '../../../platform/ids.ts';
import type { Lag } from '../../../platform/streams/source.ts';
import type { Connector } from './dead-letters.ts';

/** What a process does for a connector. */
export type ReaderStatus = 'starting' | 'running' | 'paused' | 'retrying';

export interface ReaderState {
  status: ReaderStatus;
  /** What is wrong, in words; null while it reads. */
  error: string | null;
  lag: Lag;
}

/** How long a process counts as one that reads after it last said so. */
export const READER_GONE_AFTER_SECONDS = 30;

/** The organization of a connector, if it exists. */
export const findOrganization = (db: Db, id: OrganizationId) => db<{ sandbox: boolean }[]>`
  select sandbox from organizations where id = ${id}`;

/** Makes a connector known; it stays paused if it was. */
export const enterConnector = (db: Db, { organizationId, code }: Connector, kind: string) => db`
  insert into ingest_connectors (organization_id, code, kind, created_at)
  values (${organizationId}, ${code}, ${kind}, clock_timestamp())
  on conflict (organization_id, code) do update set kind = excluded.kind`;

/**
 * Says what a process does for a connector, and returns whether somebody paused it. What processes that are gone for an
 * hour have left is removed.
 */
export const sayReading = (
  db: Db,
  { organizationId, code }: Connector,
  id: string,
  { status, error, lag }: ReaderState,
) =>
  db<{ is_paused: boolean }[]>`
  with said as (
    insert into ingest_readers (organization_id, connector, id, status, error, lag_seconds, lag_messages, said_at)
    values (${organizationId}, ${code}, ${id}, ${status}, ${error}, ${lag.seconds}, ${lag.messages}, clock_timestamp())
    on conflict (organization_id, connector, id) do update set
      status = excluded.status, error = excluded.error, lag_seconds = excluded.lag_seconds,
      lag_messages = excluded.lag_messages, said_at = excluded.said_at
  ), gone as (
    delete from ingest_readers
    where organization_id = ${organizationId} and connector = ${code} and id <> ${id}
      and said_at < clock_timestamp() - interval '1 hour'
  ), left_behind as (
    delete from ingest_leases
    where organization_id = ${organizationId} and connector = ${code}
      and expires_at < clock_timestamp() - interval '1 hour'
  )
  select paused_at is not null as is_paused from ingest_connectors
  where organization_id = ${organizationId} and code = ${code}`;

export const leaveReading = (db: Db, { organizationId, code }: Connector, id: string) => db`
  delete from ingest_readers where organization_id = ${organizationId} and connector = ${code} and id = ${id}`;

/** How many processes read a connector, or are about to. */
export const countReaders = (db: Db, { organizationId, code }: Connector) => db<{ readers: number }[]>`
  select count(*)::int as readers from ingest_readers
  where organization_id = ${organizationId} and connector = ${code} and status in ('starting', 'running')
    and said_at > clock_timestamp() - ${READER_GONE_AFTER_SECONDS} * interval '1 second'`;

/** Streams of every organization that a process tries to read and cannot, each once; not those that are paused. */
export const listTroubledReaders = (db: Db, most: number) => db<
  { organization_id: OrganizationId; connector: string; error: string }[]
>`
  select distinct on (reader.organization_id, reader.connector) reader.organization_id, reader.connector,
    coalesce(reader.error, '') as error
  from ingest_readers reader
  join ingest_connectors connector on connector.organization_id = reader.organization_id
    and connector.code = reader.connector and connector.paused_at is null
  where reader.status = 'retrying'
    and reader.said_at > clock_timestamp() - ${READER_GONE_AFTER_SECONDS} * interval '1 second'
  order by reader.organization_id, reader.connector, reader.said_at desc limit ${most}`;
