import { Temporal } from 'temporal-polyfill';
import { seconds, secondsOrNull } from '../../../platform/schema/view.ts';
import type { StoredClockError, TestClockRow } from './queries.ts';
import type { TestClockView, TimelineEntry } from './schema.ts';
import type { TimelineRow } from './timeline-queries.ts';

const DAY_MS = 86_400_000;

export const testClockView = (clock: TestClockRow): TestClockView => ({
  status: clock.status,
  frozen_time: seconds(clock.frozen_time),
  target_time: secondsOrNull(clock.target_time),
  error: clock.error && errorView(clock.error),
  progress: progressOf(clock),
  steps_done: clock.steps_done,
  advances_count: clock.advances_count,
  created_at: seconds(clock.created_at),
});

/**
 * Simulated days of the current advance, or of the newest one, which is complete; the percentage counts parts of days
 * too, so that the advance of a single day moves on (test-clocks.md#sandboxes).
 */
export function progressOf(clock: Pick<TestClockRow, 'started_from' | 'frozen_time' | 'target_time'>) {
  if (!clock.started_from) return { done: 0, total: 0, percent: 0 };
  const from = clock.started_from.epochMilliseconds;
  const wholeMs = (clock.target_time ?? clock.frozen_time).epochMilliseconds - from;
  const doneMs = clock.target_time ? clock.frozen_time.epochMilliseconds - from : wholeMs;
  const total = Math.ceil(wholeMs / DAY_MS);
  const done = clock.target_time ? Math.floor(doneMs / DAY_MS) : total;
  return { done, total, percent: wholeMs === 0 ? 0 : Math.floor((100 * doneMs) / wholeMs) };
}

const errorView = (error: StoredClockError) => ({
  at: seconds(Temporal.Instant.from(error.at)),
  job: error.job,
  resource_type: error.resource_type,
  svc_resource_id: error.resource_id,
  code: error.code,
  message: error.message,
});

export const timelineEntry = (row: TimelineRow): TimelineEntry => ({
  sequence: row.sequence,
  at: seconds(row.at),
  kind: row.kind,
  name: row.name,
  resource_type: row.resource_type,
  svc_resource_id: row.resource_id,
  external_customer_id: row.external_customer_id,
  summary: row.summary,
});
