import type { Context } from '../../../platform/context.ts';
import { findRow } from '../../../platform/db/rows.ts';
import type { StepPayload } from '../../../steps.ts';
import { refreshShapes, retireShapes } from '../usage-shapes/commands.ts';
import { listShapes } from '../usage-shapes/queries.ts';
import { billableMetrics } from './queries.ts';
import { markEventsOfMetricDeleted } from './writes.ts';

/** Events per statement, so that none runs for long. */
const BATCH = 5_000;

/**
 * Step `delete-metric-events`: marks the events of a deleted metric deleted, on the subscriptions of the plans that
 * lost a charge with it. Safe to run twice. Rule: billable-metrics.md#update-and-delete.
 */
export async function deleteMetricEvents(ctx: Context, payload: StepPayload<'delete-metric-events'>): Promise<void> {
  let [total, marked] = [0, 0];
  do {
    marked = await markEventsOfMetricDeleted(ctx, payload.billable_metric_id, {
      beforeId: payload.before_event_id,
      now: ctx.now(),
      limit: BATCH,
    });
    total += marked;
  } while (marked === BATCH);
  if (total > 0) await rebuildRollups(ctx, payload.code);
}

/** The rollups were dropped with the metric, unless a new metric with the same code has already counted the events. */
async function rebuildRollups(ctx: Context, code: string): Promise<void> {
  const metric = await findRow(ctx, billableMetrics, code);
  if (!metric) return;
  const shapes = await listShapes(ctx, [metric.id]);
  await retireShapes(
    ctx,
    shapes.map(({ id }) => id),
  );
  await refreshShapes(ctx, [metric.id]);
}
