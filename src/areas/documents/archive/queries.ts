import type { Temporal } from 'temporal-polyfill';
import type { Db, Fragment } from '../../../platform/db/connect.ts';
import type { Scope } from '../../../platform/db/scope.ts';
import type { BillingEntityId, DocumentId, OrganizationId } from '../../../platform/ids.ts';
import { limitOf } from '../../../platform/lists/pagination.ts';
import type { ArchiveRootsQuery } from './schema.ts';

/** A day of a billing entity in the chain. */
export interface ArchiveRoot {
  billing_entity_code: string;
  day: Temporal.PlainDate;
  count: number;
  /** SHA-256 in hexadecimal. */
  root: string;
}

/** The day of an instant column, in UTC. */
const dayOf = (db: Db, column: string): Fragment => db`(${db(column)} at time zone 'UTC')::date`;
/** The first instant of a day column. */
const startOf = (db: Db, column: string): Fragment => db`(${db(column)}::timestamp at time zone 'UTC')`;

/**
 * The root of a day: SHA-256 of the root before it and of id and SHA-256 of every document, in the order of their ids.
 *
 * Rule: e-documents.md#archive.
 */
const rootOf = (db: Db, before: Fragment, documents: Fragment): Fragment => db`
  encode(sha256(convert_to(coalesce(${before}, '') || coalesce(${documents}, ''), 'UTF8')), 'hex')`;

const listed = (db: Db): Fragment => db`string_agg(document.id::text || document.sha256, '' order by document.id)`;

/**
 * Adds the earliest day that has ended and is not in the chain, for billing entities that have one.
 *
 * @returns how many days were added: none once the chain is complete
 */
export async function addOpenDays(db: Db, today: Temporal.PlainDate, limit: number): Promise<number> {
  const rows = await db`
    insert into archive_chain (organization_id, billing_entity_id, day, count, root, created_at)
    select open.organization_id, open.billing_entity_id, open.day, day.count, ${rootOf(db, db`open.root`, db`day.list`)},
      clock_timestamp()
    from (
      select entity.organization_id, entity.id as billing_entity_id, first.day, last.root
      from billing_entities entity
      left join lateral (
        select day, root from archive_chain link
        where link.organization_id = entity.organization_id and link.billing_entity_id = entity.id
        order by day desc limit 1) last on true
      join lateral (
        select ${dayOf(db, 'document.ready_at')} as day from e_documents document
        where document.organization_id = entity.organization_id and document.billing_entity_id = entity.id
          and document.status = 'ready' and document.ready_at < (${today}::date::timestamp at time zone 'UTC')
          and document.ready_at >= coalesce((last.day + 1)::timestamp at time zone 'UTC', '-infinity')
        order by document.ready_at limit 1) first on true
      order by first.day, entity.id limit ${limit}
    ) open
    cross join lateral (
      select count(*) as count, ${listed(db)} as list from e_documents document
      where document.organization_id = open.organization_id and document.billing_entity_id = open.billing_entity_id
        and document.status = 'ready' and document.ready_at >= ${startOf(db, 'open.day')}
        and document.ready_at < ${startOf(db, 'open.day')} + interval '1 day'
    ) day
    on conflict do nothing
    returning day`;
  return rows.length;
}

/** What is wrong in an archive. */
export type ArchiveFault =
  | { kind: 'content'; document_id: DocumentId; number: string; expected: string; actual: string }
  | { kind: 'day'; billing_entity_code: string; day: Temporal.PlainDate; expected: string; actual: string };

/** A document of which the content was hashed again; `actual` is null where it is what was handed out. */
interface Hashed {
  id: DocumentId;
  number: string;
  expected: string;
  actual: string | null;
}

/**
 * Hashes the contents of documents of days from one on, in the order of their ids behind one: so many at once that the
 * statement stays short.
 */
export const hashContents = (
  { db, organizationId }: Scope,
  from: Temporal.PlainDate,
  { after, limit }: { after: DocumentId | null; limit: number },
) => db<Hashed[]>`
  select page.id, page.number, page.sha256 as expected,
    case when page.hash <> page.sha256 or page.length <> page.size then page.hash end as actual
  from (
    select id, number, sha256, size, octet_length(content) as length, encode(sha256(content), 'hex') as hash
    from e_documents
    where organization_id = ${organizationId} and status = 'ready'
      and ready_at >= (${from}::date::timestamp at time zone 'UTC')
      ${after === null ? db`` : db`and id > ${after}`}
    order by id limit ${limit}
  ) page
  order by page.id`;

/**
 * Days of the chain that do not follow from the root before them and their documents, from a day on, at most `limit`:
 * also where a document was added, removed or moved to another day. A day before the last of its billing entity that
 * has documents and no line is one of them: the chain only goes forward, so they were put there afterwards.
 */
export const listBrokenDays = ({ db, organizationId }: Scope, from: Temporal.PlainDate, limit: number) => db<
  Extract<ArchiveFault, { kind: 'day' }>[]
>`
  select 'day' as kind, entity.code as billing_entity_code, link.day, link.root as expected, computed.root as actual
  from (
    select *, lag(root) over (partition by billing_entity_id order by day) as before
    from archive_chain where organization_id = ${organizationId}
  ) link
  join billing_entities entity on entity.organization_id = link.organization_id and entity.id = link.billing_entity_id
  cross join lateral (
    select ${rootOf(db, db`link.before`, listed(db))} as root from e_documents document
    where document.organization_id = link.organization_id and document.billing_entity_id = link.billing_entity_id
      and document.status = 'ready' and document.ready_at >= ${startOf(db, 'link.day')}
      and document.ready_at < ${startOf(db, 'link.day')} + interval '1 day'
  ) computed
  where link.day >= ${from} and computed.root <> link.root
  union all
  select 'day' as kind, entity.code as billing_entity_code, ${dayOf(db, 'document.ready_at')} as day,
    'none' as expected, ${rootOf(db, db`null`, listed(db))} as actual
  from e_documents document
  join billing_entities entity
    on entity.organization_id = document.organization_id and entity.id = document.billing_entity_id
  where document.organization_id = ${organizationId} and document.status = 'ready'
    and document.ready_at >= (${from}::date::timestamp at time zone 'UTC')
    and ${dayOf(db, 'document.ready_at')} < (
      select max(day) from archive_chain link
      where link.organization_id = document.organization_id and link.billing_entity_id = document.billing_entity_id)
    and not exists (
      select from archive_chain link
      where link.organization_id = document.organization_id and link.billing_entity_id = document.billing_entity_id
        and link.day = ${dayOf(db, 'document.ready_at')})
  group by entity.code, ${dayOf(db, 'document.ready_at')}
  order by day, billing_entity_code limit ${limit}`;

/** A document as it was handed out. */
export interface HandedOut {
  id: DocumentId;
  issued_on: Temporal.PlainDate;
  number: string;
  profile: string;
  content_type: string;
  sha256: string;
  content: Uint8Array;
}

/** Days of issue, both included. */
export interface Period {
  from: Temporal.PlainDate;
  to: Temporal.PlainDate;
}

/** How far the reading of documents has come. */
export type Place = Pick<HandedOut, 'issued_on' | 'id'>;

/**
 * Documents that were issued in a period, in the order of issue, behind one: so many that their contents together have
 * less than `mostBytes`, but one at least, and `limit` at most.
 */
export const listHandedOut = (
  { db, organizationId }: Scope,
  { from, to }: Period,
  { after, limit, mostBytes }: { after: Place | null; limit: number; mostBytes: number },
) => db<HandedOut[]>`
  select document.id, document.issued_on, document.number, document.profile, document.content_type, document.sha256,
    document.content
  from (
    select id, sum(size) over (order by issued_on, id) - size as before
    from (
      select id, issued_on, size from e_documents
      where organization_id = ${organizationId} and status = 'ready' and issued_on between ${from} and ${to}
        ${after === null ? db`` : db`and (issued_on, id) > (${after.issued_on}::date, ${after.id}::uuid)`}
      order by issued_on, id limit ${limit}
    ) next
  ) page
  join e_documents document on document.organization_id = ${organizationId} and document.id = page.id
  where page.before < ${mostBytes}
  order by document.issued_on, document.id`;

/** How many documents were issued in a period; counted up to `most`. */
export async function countHandedOut({ db, organizationId }: Scope, { from, to }: Period, most: number) {
  const [row] = await db<{ count: number }[]>`
    select count(*)::int as count from (
      select from e_documents
      where organization_id = ${organizationId} and status = 'ready' and issued_on between ${from} and ${to}
      limit ${most}
    ) counted`;
  return row!.count;
}

/** How many documents and days the archive of an organization holds. */
export async function countArchive({ db, organizationId }: Scope): Promise<{ documents: number; days: number }> {
  const [row] = await db<{ documents: number; days: number }[]>`
    select (select count(*) from e_documents where organization_id = ${organizationId} and status = 'ready')::int
        as documents,
      (select count(*) from archive_chain where organization_id = ${organizationId})::int as days`;
  return row!;
}

/** Organizations with documents, oldest first. */
export const listArchives = (db: Db) => db<{ id: OrganizationId; name: string }[]>`
  select id, name from organizations
  where exists (select from e_documents document where document.organization_id = organizations.id)
  order by id`;

/** Days of the chain, newest first. */
export async function listArchiveRoots({ db, organizationId }: Scope, query: ArchiveRootsQuery) {
  const { limit, offset } = limitOf(query);
  const passing = db`link.organization_id = ${organizationId}
    ${query.from === undefined ? db`` : db`and link.day >= ${query.from}`}
    ${query.to === undefined ? db`` : db`and link.day <= ${query.to}`}`;
  const [rows, [count]] = await Promise.all([
    db<(ArchiveRoot & { billing_entity_id: BillingEntityId })[]>`
      select entity.code as billing_entity_code, link.day, link.count, link.root
      from archive_chain link
      join billing_entities entity
        on entity.organization_id = link.organization_id and entity.id = link.billing_entity_id
      where ${passing} order by link.day desc, entity.code limit ${limit} offset ${offset}`,
    db<{ total: number }[]>`select count(*) as total from archive_chain link where ${passing}`,
  ]);
  return { rows, totalCount: count!.total };
}
