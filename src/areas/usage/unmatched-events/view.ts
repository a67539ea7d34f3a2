import { seconds, secondsOrNull } from '../../../platform/schema/view.ts';
import { eventText } from '../events/view.ts';
import type { RunRow, UnmatchedRow } from './queries.ts';

/** JSON text of an unmatched event; text, because numbers in properties keep digits that a double cannot hold. */
export function unmatchedText(row: UnmatchedRow): string {
  const { reason, status } = row;
  const first_seen_at = seconds(row.first_seen_at);
  const told = JSON.stringify({ reason, status, first_seen_at, healed_at: secondsOrNull(row.healed_at) });
  return `{"event":${eventText(row)},${told.slice(1)}`;
}

/** A run as the API shows it. Rule: other-routes.md#common-ground "Runs". */
export const runView = (run: RunRow) => ({
  svc_id: run.id,
  status: run.status,
  progress: { done: run.done, total: run.total, percent: run.total ? Math.floor((100 * run.done) / run.total) : 0 },
  result: run.result,
  error: run.error,
  created_at: seconds(run.created_at),
  started_at: secondsOrNull(run.started_at),
  finished_at: secondsOrNull(run.finished_at),
});
