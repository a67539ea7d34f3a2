import type { Context } from '../../../platform/context.ts';
import { findRow } from '../../../platform/db/rows.ts';
import type { StepPayload } from '../../../steps.ts';
import { refreshShapes, retireShapes } from '../usage-shapes/commands.ts';
import { listShapes } from '../usage-shapes/queries.ts';
import { billableMetrics } from './queries.ts';
import { markEventsOfMetricDeleted } from './writes.ts';

/** Events of a page, and so of a transaction: half a second. */
const PAGE = 5_000;

/**
 * Step `delete-metric-events`: marks a page of the events of a deleted metric deleted, on the subscriptions of the
 * plans that lost a charge with it, and owes the next one. Safe to run twice. Rule:
 * billable-metrics.md#update-and-delete.
 */
export async function deleteMetricEvents(ctx: Context, payload: StepPayload<'delete-metric-events'>): Promise<void> {
  const { billable_metric_id: id, code, before_event_id: beforeId, after } = payload;
  const { marked, next } = await markEventsOfMetricDeleted(
    ctx,
    { id, code },
    { beforeId, after, now: ctx.now(), limit: PAGE },
  );
  const isMarked = marked > 0 || payload.is_marked === true;
  if (next) ctx.after({ step: 'delete-metric-events', payload: { ...payload, after: next, is_marked: isMarked } });
  else if (isMarked) await rebuildRollups(ctx, code);
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
