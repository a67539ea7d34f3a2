import { Temporal } from 'temporal-polyfill';
import type { Context } from '../../../platform/context.ts';
import { pageMeta } from '../../../platform/lists/pagination.ts';
import { type FieldErrors, refuse } from '../../../platform/refusal.ts';
import { parseBound } from '../../../platform/schema/instant-field.ts';
import { secondsOrNull } from '../../../platform/schema/view.ts';
import { refuseOutsideSandbox } from './outside-sandbox.ts';
import { findNextBilling, getTestClock } from './queries.ts';
import type { TimelineQuery } from './schema.ts';
import { findFirstLine, listTimeline } from './timeline-queries.ts';
import { testClockView, timelineEntry } from './view.ts';

/**
 * The clock, and when the next subscription is due: not before the clock's time, since one that is looked at early may
 * wait.
 *
 * @throws Refusal 403 feature_unavailable; 404 test_clock
 */
export async function showTestClock(ctx: Context): Promise<object> {
  refuseOutsideSandbox(ctx);
  const [clock, next] = await Promise.all([getTestClock(ctx), findNextBilling(ctx)]);
  const at = next && Temporal.Instant.compare(next, clock.frozen_time) < 0 ? clock.frozen_time : next;
  return { test_clock: { ...testClockView(clock), next_billing_at: secondsOrNull(at) } };
}

/**
 * What happened under the present clock, or under the newest one after it was deleted, in order
 * (test-clocks.md#timeline).
 *
 * @throws Refusal 403 feature_unavailable; 404 test_clock; 422 from, to invalid_date
 */
export async function showTimeline(ctx: Context, { query }: { query: TimelineQuery }): Promise<object> {
  refuseOutsideSandbox(ctx);
  const range = readRange(query);
  const first = await findFirstLine(ctx);
  if (first === undefined) throw refuse.notFound('test_clock');
  const { rows, totalCount } = await listTimeline(ctx, first, { filters: { ...query, ...range }, page: query });
  return { timeline: rows.map(timelineEntry), meta: pageMeta(query, totalCount) };
}

function readRange(query: TimelineQuery): { from: Temporal.Instant | undefined; to: Temporal.Instant | undefined } {
  const errors: FieldErrors = {};
  const read = (name: 'from' | 'to') => {
    const given = query[name];
    const instant = given === undefined ? undefined : parseBound(given);
    if (given !== undefined && !instant) errors[name] = ['invalid_date'];
    return instant;
  };
  const range = { from: read('from'), to: read('to') };
  if (Object.keys(errors).length > 0) throw refuse.invalid(errors);
  return range;
}
