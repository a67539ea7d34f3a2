import { seconds, secondsOrNull } from '../../../platform/schema/view.ts';
import type { RunRow } from './queries.ts';
import type { RunView } from './schema.ts';

const COMPLETE = 100;

/** A run as the API shows it. Rule: other-routes.md#common-ground "runs". */
export const runView = (row: RunRow): RunView => ({
  svc_id: row.id,
  status: row.status,
  payment_provider_code: row.provider_code,
  from: seconds(row.from_at),
  to: secondsOrNull(row.to_at),
  progress: {
    done: row.counts.compared + row.counts.foreign + (row.counts.unreadable ?? 0),
    total: 0,
    percent: row.status === 'succeeded' ? COMPLETE : 0,
  },
  counts: { unreadable: 0, ...row.counts },
  watermark: row.status === 'succeeded' ? secondsOrNull(row.to_at ?? row.started_at) : null,
  created_at: seconds(row.created_at),
  started_at: secondsOrNull(row.started_at),
  finished_at: secondsOrNull(row.finished_at),
  error: row.error,
});
