import { milliseconds, millisecondsOrNull } from '../../platform/schema/view.ts';
import type { StepRow } from './queries.ts';

/**
 * An owed after-step as the operator sees it; its payload, which holds ids only, is not shown.
 * Rule: other-routes.md#records.
 */
export const stepView = (row: StepRow) => ({
  id: row.id,
  organization_id: row.organization_id,
  job: row.job,
  state: row.state,
  attempts: row.attempts,
  error: row.error,
  due_at: millisecondsOrNull(row.due_at),
  created_at: milliseconds(row.created_at),
  unknown_since: millisecondsOrNull(row.unknown_since),
  failed_at: millisecondsOrNull(row.failed_at),
});
