import type { Temporal } from 'temporal-polyfill';
import type { Db } from '../../../platform/db/connect.ts';
import type { Scope } from '../../../platform/db/scope.ts';
import { json } from '../../../platform/db/values.ts';
import type { AuditId, OrganizationId } from '../../../platform/ids.ts';
import { newId } from '../../../platform/ids.ts';
import type { AuditMode } from '../audits/schema.ts';
import type { Finding } from './check-of-an-invariant.ts';

/** The findings of one check in a run. */
export interface CheckResult {
  code: string;
  count: number;
  new_count: number;
  ms: number;
}

export const startRun = (
  { db, organizationId }: Scope,
  run: { id: string; mode: AuditMode },
  now: Temporal.Instant,
) => db`
  insert into audit_runs (id, organization_id, mode, status, created_at, started_at)
  values (${run.id}, ${organizationId}, ${run.mode}, 'running', ${now}, ${now})
  on conflict (id) do nothing`;

export const finishRun = (
  { db, organizationId }: Scope,
  id: AuditId,
  { checks, now }: { checks: readonly CheckResult[]; now: Temporal.Instant },
) => db`
  update audit_runs set status = 'succeeded', checks = ${json(checks)}, finished_at = ${now},
    findings_count = ${checks.reduce((total, { count }) => total + count, 0)},
    new_findings_count = ${checks.reduce((total, { new_count }) => total + new_count, 0)}
  where organization_id = ${organizationId} and id = ${id}`;

/** Stores the findings of a check: known ones are updated, others are new. @returns how many are new */
export async function keepFindings(
  { db, organizationId }: Scope,
  check: { code: string; resourceType: string },
  { findings, now }: { findings: readonly Finding[]; now: Temporal.Instant },
): Promise<number> {
  if (findings.length === 0) return 0;
  const rows = findings.map((finding) => ({ id: newId(), ...finding, details: finding.details ?? {} }));
  const kept = await db<{ is_new: boolean }[]>`
    insert into audit_findings (id, organization_id, "check", status, resource_type, resource_id, expected, actual,
      details,
      first_seen_at, last_seen_at)
    select id, ${organizationId}::uuid, ${check.code}, 'open', ${check.resourceType}, resource_id, expected, actual,
      details,
      ${now}, ${now}
    from jsonb_to_recordset(${json(rows)}::jsonb) as finding (id uuid, resource_id text, expected text, actual text,
      details jsonb)
    on conflict (organization_id, "check", resource_type, resource_id) where status <> 'resolved'
    do update set expected = excluded.expected, actual = excluded.actual, details = excluded.details,
      last_seen_at = excluded.last_seen_at
    returning xmax = 0 as is_new`;
  return kept.filter(({ is_new }) => is_new).length;
}

/** Resolves findings that a check no longer reports. */
export const resolveFindings = (
  { db, organizationId }: Scope,
  code: string,
  { seen, now }: { seen: readonly string[]; now: Temporal.Instant },
) => db`
  update audit_findings set status = 'resolved', resolved_at = ${now}
  where organization_id = ${organizationId} and "check" = ${code} and status <> 'resolved'
    and resource_id <> all (${seen}::text[])`;

export const listOrganizations = (db: Db) => db<{ id: OrganizationId; sandbox: boolean }[]>`
  select id, sandbox from organizations order by id`;
