import type { Temporal } from 'temporal-polyfill';
import type { Db, Fragment } from '../../../platform/db/connect.ts';
import type { Scope } from '../../../platform/db/scope.ts';
import type { AuditId } from '../../../platform/ids.ts';
import { isUuid } from '../../../platform/ids.ts';
import { limitOf } from '../../../platform/lists/pagination.ts';
import { refuse } from '../../../platform/refusal.ts';
import type { AuditMode, AuditsQuery, FindingsQuery, FindingUpdate } from './schema.ts';

export interface AuditRow {
  id: AuditId;
  mode: AuditMode;
  status: 'running' | 'succeeded' | 'failed';
  checks: { code: string; count: number; new_count: number; ms: number }[];
  findings_count: number;
  new_findings_count: number;
  error: unknown;
  created_at: Temporal.Instant;
  started_at: Temporal.Instant;
  finished_at: Temporal.Instant | null;
}

const columns = (db: Db): Fragment => db`
  id, mode, status, checks, findings_count, new_findings_count, error, created_at, started_at, finished_at`;

/** @throws Refusal 404 audit */
export async function getAudit({ db, organizationId }: Scope, id: AuditId): Promise<AuditRow> {
  const [row] = isUuid(id)
    ? await db<AuditRow[]>`
        select ${columns(db)} from audit_runs where organization_id = ${organizationId} and id = ${id}`
    : [];
  if (row === undefined) throw refuse.notFound('audit');
  return row;
}

const runsOf = ({ db, organizationId }: Scope, { mode, has_findings: has }: AuditsQuery): Fragment => db`
  organization_id = ${organizationId}
  ${mode === undefined ? db`` : db`and mode = ${mode}`}
  ${has === undefined ? db`` : has ? db`and findings_count > 0` : db`and findings_count = 0`}`;

export const listAudits = (scope: Scope, query: AuditsQuery) => scope.db<AuditRow[]>`
  select ${columns(scope.db)} from audit_runs where ${runsOf(scope, query)}
  order by created_at desc, id desc
  limit ${limitOf(query).limit} offset ${limitOf(query).offset}`;

export async function countAudits(scope: Scope, query: AuditsQuery): Promise<number> {
  const [row] = await scope.db<{ count: number }[]>`
    select count(*) from audit_runs where ${runsOf(scope, query)}`;
  return row!.count;
}

/** Whether a run was requested after `since`. */
export async function wasAskedSince({ db, organizationId }: Scope, since: Temporal.Instant): Promise<boolean> {
  const [row] = await db<{ found: boolean }[]>`
    select exists (select from audit_runs
      where organization_id = ${organizationId} and mode = 'manual' and created_at > ${since}) as found`;
  return row!.found;
}

export const insertAudit = ({ db, organizationId }: Scope, id: AuditId, now: Temporal.Instant) => db`
  insert into audit_runs (id, organization_id, mode, status, created_at, started_at)
  values (${id}, ${organizationId}, 'manual', 'running', ${now}, ${now})`;

export interface FindingRow {
  id: string;
  check: string;
  status: 'open' | 'acknowledged' | 'resolved';
  resource_type: string;
  resource_id: string;
  expected: string | null;
  actual: string | null;
  details: Record<string, unknown>;
  note: string | null;
  first_seen_at: Temporal.Instant;
  last_seen_at: Temporal.Instant;
}

const findingColumns = (db: Db): Fragment => db`
  id, "check", status, resource_type, resource_id, expected, actual, details, note, first_seen_at, last_seen_at`;

/** Findings that are not resolved, unless other statuses are requested. */
const findingsOf = ({ db, organizationId }: Scope, { checks, statuses }: FindingsQuery): Fragment => db`
  organization_id = ${organizationId} and status = any (${statuses ?? ['open', 'acknowledged']})
  ${checks === undefined ? db`` : db`and "check" = any (${checks})`}`;

export const listFindings = (scope: Scope, query: FindingsQuery) => scope.db<FindingRow[]>`
  select ${findingColumns(scope.db)} from audit_findings where ${findingsOf(scope, query)}
  order by last_seen_at desc, id desc
  limit ${limitOf(query).limit} offset ${limitOf(query).offset}`;

export async function countFindings(scope: Scope, query: FindingsQuery): Promise<number> {
  const [row] = await scope.db<{ count: number }[]>`
    select count(*) from audit_findings where ${findingsOf(scope, query)}`;
  return row!.count;
}

/** Marks a finding as known; a resolved one stays as it is and counts as missing. @throws Refusal 404 audit_finding */
export async function acknowledge(
  { db, organizationId }: Scope,
  id: string,
  { note }: FindingUpdate,
): Promise<FindingRow> {
  const [row] = isUuid(id)
    ? await db<FindingRow[]>`
        update audit_findings set status = 'acknowledged', note = coalesce(${note ?? null}, note)
        where organization_id = ${organizationId} and id = ${id} and status <> 'resolved'
        returning ${findingColumns(db)}`
    : [];
  if (row === undefined) throw refuse.notFound('audit_finding');
  return row;
}

/** Open findings of all organizations by check. */
export const countOpenByCheck = (db: Db) => db<{ check: string; count: number }[]>`
  select "check", count(*) from audit_findings where status <> 'resolved' group by 1`;

/** When each mode last succeeded, in seconds since 1970, without sandboxes, whose times differ. */
export const lastSuccesses = (db: Db) => db<{ mode: AuditMode; at: number }[]>`
  select run.mode, max(extract(epoch from run.finished_at))::float8 as at
  from audit_runs run
  join organizations organization on organization.id = run.organization_id and not organization.sandbox
  where run.status = 'succeeded'
  group by 1`;
