import { seconds, secondsOrNull } from '../../../platform/schema/view.ts';
import type { AuditRow, FindingRow } from './queries.ts';

/** A run of the auditor. Rule: other-routes.md#common-ground "runs". */
export function auditView(row: AuditRow) {
  const isDone = row.finished_at !== null;
  const total = row.checks.length;
  return {
    svc_id: row.id,
    mode: row.mode,
    status: row.status,
    progress: { done: total, total, percent: isDone ? 100 : 0 },
    findings_count: row.findings_count,
    new_findings_count: row.new_findings_count,
    checks: row.checks,
    created_at: seconds(row.created_at),
    started_at: seconds(row.started_at),
    finished_at: secondsOrNull(row.finished_at),
    error: row.error ?? null,
  };
}

export const findingView = ({ id, resource_id, first_seen_at, last_seen_at, ...row }: FindingRow) => ({
  svc_id: id,
  ...row,
  svc_resource_id: resource_id,
  first_seen_at: seconds(first_seen_at),
  last_seen_at: seconds(last_seen_at),
});
