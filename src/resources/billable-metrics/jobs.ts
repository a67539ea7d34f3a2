import type { Context } from '../../platform/context.ts';
import { markEventsOfMetricDeleted } from './writes.ts';

/** Events per statement, so that none runs for long. */
const BATCH = 5_000;

/**
 * Step `delete-metric-events`: marks the events of a deleted metric deleted, on the subscriptions of the plans that lost
 * a charge with it. Nothing counts them any more: the metric's rollups were retired with it. Safe to run twice.
 * Rule: usage-and-charges B.4.
 */
export async function deleteMetricEvents(
  ctx: Context,
  payload: { billable_metric_id: string; before_event_id: string },
): Promise<void> {
  let marked: number;
  do {
    marked = await markEventsOfMetricDeleted(ctx.db, ctx.organizationId, payload.billable_metric_id, {
      beforeId: payload.before_event_id,
      now: ctx.now(),
      limit: BATCH,
    });
  } while (marked === BATCH);
}
