import type { Temporal } from 'temporal-polyfill';
import type { Db, Fragment } from '../../../platform/db/connect.ts';
import { isoText } from '../../../platform/db/iso-text.ts';
import type { Scope } from '../../../platform/db/scope.ts';
import { isUuid } from '../../../platform/ids.ts';
import { boundedPage } from '../../../platform/lists/bounded-page.ts';
import { countMatching, MOST_LOOKED_AT, type Total } from '../../../platform/lists/count.ts';
import { limitOf, type Uncounted } from '../../../platform/lists/pagination.ts';
import { refuse } from '../../../platform/refusal.ts';
import type { DeadCode } from '../connectors/dead-message.ts';
import { READER_GONE_AFTER_SECONDS } from '../connectors/readers.ts';
import type { CONNECTOR_STATUSES, ConnectorsQuery, DEAD_LETTER_STATUSES, DeadLettersQuery } from './schema.ts';

export interface ConnectorRow {
  code: string;
  kind: string;
  status: (typeof CONNECTOR_STATUSES)[number];
  error: string | null;
  processes: number;
  received: number;
  stored: number;
  replayed: number;
  dead: number;
  lag_messages: number | null;
  lag_seconds: number | null;
  last_stored_at: Temporal.Instant | null;
  paused_at: Temporal.Instant | null;
  created_at: Temporal.Instant;
}

const connectorRows = (db: Db, passing: Fragment): Fragment => db`
  select connector.code, connector.kind, connector.paused_at, connector.created_at,
    case when connector.paused_at is not null then 'paused' when reader.processes = 0 then 'stopped'
      when reader.retries then 'retrying' when reader.runs then 'running' else 'starting' end as status,
    case when connector.paused_at is null then reader.error end as error, reader.processes::int as processes,
    reader.lag_messages, reader.lag_seconds, kept.received, kept.stored, kept.replayed, kept.dead, kept.last_stored_at
  from ingest_connectors connector
  cross join lateral (
    select count(*) as processes, bool_or(status = 'retrying') as retries, bool_or(status = 'running') as runs,
      min(error) as error, sum(lag_messages)::bigint as lag_messages, max(lag_seconds)::float8 as lag_seconds
    from ingest_readers
    where organization_id = connector.organization_id and connector = connector.code
      and said_at > clock_timestamp() - ${READER_GONE_AFTER_SECONDS} * interval '1 second'
  ) reader
  cross join lateral (
    select coalesce(sum(received), 0)::bigint as received, coalesce(sum(stored), 0)::bigint as stored,
      coalesce(sum(replayed), 0)::bigint as replayed, coalesce(sum(dead), 0)::bigint as dead,
      max(updated_at) as last_stored_at
    from ingest_checkpoints
    where organization_id = connector.organization_id and connector = connector.code
  ) kept
  where ${passing}`;

/** A page of the connectors by their code, and how many there are. */
export async function listConnectors(
  { db, organizationId }: Scope,
  query: ConnectorsQuery,
): Promise<{ rows: ConnectorRow[]; totalCount: number }> {
  const { limit, offset } = limitOf(query);
  const [rows, [count]] = await Promise.all([
    db<ConnectorRow[]>`
      ${connectorRows(db, db`connector.organization_id = ${organizationId}`)}
      order by connector.code limit ${limit} offset ${offset}`,
    db<{ total: number }[]>`
      select count(*) as total from ingest_connectors where organization_id = ${organizationId}`,
  ]);
  return { rows, totalCount: count!.total };
}

/** @throws Refusal 404 connector */
export async function getConnector({ db, organizationId }: Scope, code: string): Promise<ConnectorRow> {
  const [row] = await db<ConnectorRow[]>`
    ${connectorRows(db, db`connector.organization_id = ${organizationId} and connector.code = ${code}`)}`;
  if (!row) throw refuse.notFound('connector');
  return row;
}

/** Pauses a connector, or lets it go on; it stays as it is if it is so already. By real time, as its processes work. */
export const setPaused = ({ db, organizationId }: Scope, code: string, isPaused: boolean) => db`
  update ingest_connectors
  set paused_at = ${isPaused ? db`clock_timestamp()` : null}
  where organization_id = ${organizationId} and code = ${code} and (paused_at is null) = ${isPaused}::boolean`;

export interface DeadLetterRow {
  id: string;
  connector: string;
  position: string;
  part: number;
  is_cut: boolean;
  error_code: DeadCode;
  error_message: string;
  attempts: number;
  status: (typeof DEAD_LETTER_STATUSES)[number];
  source_time: Temporal.Instant;
  failed_at: Temporal.Instant;
  resolved_at: Temporal.Instant | null;
}

/** A dead letter with what came. */
export interface WholeDeadLetter extends DeadLetterRow {
  payload: Uint8Array;
  headers: Record<string, string>;
  /** ISO text with microseconds. */
  source_time_text: string;
}

const columns = (db: Db): Fragment => db`
  letter.id, connector, position, part, is_cut, error_code, error_message, attempts, status, source_time, failed_at,
  resolved_at`;

/**
 * A page of dead letters, newest first, and how many there are. Which of them pass is found in the index alone.
 *
 * @throws Refusal 422 page: value_is_out_of_range
 * Rule: lists.md#pages.
 */
export function listDeadLetters(
  { db, organizationId }: Scope,
  query: DeadLettersQuery,
): Promise<{ rows: readonly DeadLetterRow[]; total: Total | Uncounted }> {
  const { limit, offset } = limitOf(query);
  const passing = db`organization_id = ${organizationId}
    ${query.connector === undefined ? db`` : db`and connector = ${query.connector}`}
    ${query.statuses === undefined ? db`` : db`and status = any (${query.statuses})`}
    ${query.error_codes === undefined ? db`` : db`and error_code = any (${query.error_codes})`}
    ${query.from === undefined ? db`` : db`and failed_at >= ${query.from}`}
    ${query.to === undefined ? db`` : db`and failed_at < ${query.to}`}`;
  const newest = db`order by failed_at desc, id desc`;
  const first = db`(
    select from ingest_dead_letters where ${passing} ${newest} limit ${MOST_LOOKED_AT}) letter`;
  return boundedPage(query, {
    rows: () => db<DeadLetterRow[]>`
      with page as materialized (
        select id from ingest_dead_letters where ${passing} ${newest} limit ${limit} offset ${offset}
      )
      select ${columns(db)} from page
      cross join lateral (
        select * from ingest_dead_letters letter
        where letter.organization_id = ${organizationId} and letter.id = page.id limit 1) letter
      ${newest}`,
    count: () => countMatching(db, db`ingest_dead_letters where ${passing}`, first),
  });
}

/** @throws Refusal 404 dead_letter */
export async function getDeadLetter(
  { db, organizationId }: Scope,
  id: string,
  { isLocked = false }: { isLocked?: boolean } = {},
): Promise<WholeDeadLetter> {
  const [row] = isUuid(id)
    ? await db<WholeDeadLetter[]>`
      select ${columns(db)}, payload, headers, ${isoText(db, db`source_time`)} as source_time_text
      from ingest_dead_letters letter where organization_id = ${organizationId} and id = ${id}
      ${isLocked ? db`for update` : db``}`
    : [];
  if (!row) throw refuse.notFound('dead_letter');
  return row;
}

/** Open dead letters of a connector in the order in which they came, behind one; `codes` null: of every code. */
export interface OpenLetters {
  connector: string;
  codes: readonly string[] | null;
  /** Null at the start. */
  after: string | null;
}

const isAsked = (db: Db, { connector, codes, after }: OpenLetters): Fragment => db`
  connector = ${connector} and status = 'open'
  ${after === null ? db`` : db`and id > ${after}`}
  ${codes === null ? db`` : db`and error_code = any (${codes})`}`;

/** The next ones, locked; those that somebody tries just now are left out. */
export const lockOpenDeadLetters = ({ db, organizationId }: Scope, asked: OpenLetters, most: number) => db<
  WholeDeadLetter[]
>`
  select ${columns(db)}, payload, headers, ${isoText(db, db`source_time`)} as source_time_text
  from ingest_dead_letters letter where organization_id = ${organizationId} and ${isAsked(db, asked)}
  order by letter.id limit ${most} for update skip locked`;

/** Discards the next ones, by real time. */
export const discardOpenDeadLetters = ({ db, organizationId }: Scope, asked: OpenLetters, most: number) => db<
  { id: string }[]
>`
  update ingest_dead_letters letter set status = 'discarded', resolved_at = clock_timestamp()
  from (
    select id from ingest_dead_letters where organization_id = ${organizationId} and ${isAsked(db, asked)}
    order by id limit ${most} for update skip locked
  ) next
  where letter.organization_id = ${organizationId} and letter.id = next.id and letter.status = 'open'
  returning letter.id`;

/** How many dead letters of each connector and code are open. */
export const countOpenDeadLetters = ({ db, organizationId }: Scope) => db<
  { connector: string; error_code: DeadCode; letters: number; bytes: number; is_cut: number }[]
>`
  select connector, error_code, count(*)::int as letters, sum(payload_bytes)::bigint as bytes,
    count(*) filter (where is_cut)::int as is_cut
  from ingest_dead_letters where organization_id = ${organizationId} and status = 'open'
  group by connector, error_code order by connector, error_code`;

export const listConnectorCodes = ({ db, organizationId }: Scope) => db<{ code: string }[]>`
  select code from ingest_connectors where organization_id = ${organizationId} order by code`;

/** Ends dead letters that were stored, by real time. */
export const resolveDeadLetters = ({ db, organizationId }: Scope, ids: readonly string[]) => db`
  update ingest_dead_letters set status = 'retried', attempts = attempts + 1, resolved_at = clock_timestamp()
  where organization_id = ${organizationId} and id = any (${ids}::uuid[]) and status = 'open'`;

/** Keeps why dead letters failed again. */
export const failDeadLetters = (
  { db, organizationId }: Scope,
  failed: readonly Pick<DeadLetterRow, 'id' | 'error_code' | 'error_message'>[],
) => db`
  update ingest_dead_letters letter
  set error_code = again.error_code, error_message = again.error_message, attempts = attempts + 1
  from unnest(${failed.map(({ id }) => id)}::uuid[], ${failed.map((each) => each.error_code)}::text[],
    ${failed.map((each) => each.error_message)}::text[]) as again (id, error_code, error_message)
  where letter.organization_id = ${organizationId} and letter.id = again.id and letter.status = 'open'`;

/** Ends a dead letter, by real time. */
export const resolveDeadLetter = (
  { db, organizationId }: Scope,
  id: string,
  { status, attempts }: Pick<DeadLetterRow, 'status' | 'attempts'>,
) => db`
  update ingest_dead_letters set status = ${status}, attempts = ${attempts}, resolved_at = clock_timestamp()
  where organization_id = ${organizationId} and id = ${id} and status = 'open'`;

/** Keeps why a dead letter failed again; it keeps what came. */
export const failDeadLetter = (
  { db, organizationId }: Scope,
  id: string,
  { error_code, error_message, attempts }: Pick<DeadLetterRow, 'error_code' | 'error_message' | 'attempts'>,
) => db`
  update ingest_dead_letters
  set error_code = ${error_code}, error_message = ${error_message}, attempts = ${attempts}
  where organization_id = ${organizationId} and id = ${id} and status = 'open'`;
