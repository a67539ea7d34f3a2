import type { Temporal } from 'temporal-polyfill';
import type { Context } from '../../../platform/context.ts';
import type { Db } from '../../../platform/db/connect.ts';
import type { Scope } from '../../../platform/db/scope.ts';
import type { MetricId, UsageShapeId } from '../../../platform/ids.ts';
import { newId } from '../../../platform/ids.ts';
import { listShapes, listWantedShapes, type WantedShape } from './queries.ts';
import { requestHeal } from './request-heal.ts';
import { lockOrganizationEvents, lockShapeDefinitions } from './shape-locks.ts';
import { isRolledUp, isSameDefinition, type Shape, type ShapeDefinition } from './usage-shape.ts';

/** What a command changed: a metric itself, or only charges, filters and group keys on it. */
export type ShapeChange = 'metric' | 'charges';

/**
 * Adapts the rollups of metrics to their charges. Call it at the end of every command that creates, changes or deletes
 * metrics, charges or charge filters, with the metrics concerned, inside the command's transaction.
 *
 * A metric that a live charge uses gets a shape: its field and the names of all properties in filters, pricing groups
 * and presentation groups. When these change, a shape is put in `building` and its build is owed as step `build-shape`;
 * until it is live, usage is scanned. Writers of events notice by `shapes_version`, which is raised under the
 * organization's exclusive lock. Rule: rollups.md#exactness.
 *
 * change  `charges` raises the version only when a shape changes
 */
export async function refreshShapes(
  ctx: Context,
  metricIds: readonly MetricId[],
  change: ShapeChange = 'metric',
): Promise<void> {
  if (metricIds.length === 0) return;
  requestHeal(ctx, { metric_ids: [...metricIds] });
  await lockShapeDefinitions(ctx.db, metricIds);
  const [wanted, present] = await Promise.all([listWantedShapes(ctx, metricIds), listShapes(ctx, metricIds)]);
  const plans = wanted.map((shape) => planOf(shape, present));
  const retired = plans.flatMap((plan) => plan.retire);
  const built = plans.flatMap((plan) => plan.build);
  if (change === 'charges' && retired.length === 0 && built.length === 0) return;

  await lockOrganizationEvents(ctx);
  await raiseShapesVersion(ctx);
  if (retired.length > 0) await retireShapes(ctx, retired);
  for (const definition of built) {
    const id = newId();
    await insertBuildingShape(ctx, id, definition, ctx.now());
    ctx.after({ step: 'build-shape', payload: { shape_id: id } });
  }
}

/** The shapes to retire and to build so that a metric has the wanted shape. */
function planOf(wanted: WantedShape, present: readonly Shape[]): { retire: string[]; build: WantedShape[] } {
  const own = present.filter((shape) => shape.billable_metric_id === wanted.billable_metric_id);
  const idsOf = (shapes: readonly Shape[]) => shapes.map((shape) => shape.id);
  if (!wanted.is_charged || !isRolledUp(wanted.aggregation_type)) return { retire: idsOf(own), build: [] };
  if (own.some((shape) => shape.state === 'live' && isSameDefinition(shape, wanted)))
    return {
      retire: idsOf(own.filter((shape) => shape.state === 'building' && !isSameDefinition(shape, wanted))),
      build: [],
    };
  const building = own.find((shape) => shape.state === 'building');
  if (building && isSameDefinition(building, wanted)) return { retire: [], build: [] };
  // The live shape stays: it still answers for charges whose properties it holds.
  return { retire: building ? [building.id] : [], build: [wanted] };
}

/**
 * Requests a new build of a live shape, whose size decides how it is stored; does nothing while a shape of its metric
 * is in building. The job that `sweepBuildingShapes` enqueues builds it.
 */
export async function rebuildShape(db: Db, shape: Shape, now: Temporal.Instant): Promise<void> {
  const { organization_id: organizationId, billable_metric_id: metricId } = shape;
  const scope = { db, organizationId };
  await lockShapeDefinitions(db, [metricId]);
  const present = await listShapes(scope, [metricId]);
  if (present.some(({ state }) => state === 'building') || !present.some(({ id }) => id === shape.id)) return;
  await lockOrganizationEvents(scope);
  await raiseShapesVersion(scope);
  await insertBuildingShape(scope, newId(), shape, now);
}

/** To be called under the organization's exclusive lock: writers then fetch the catalog again. */
export const raiseShapesVersion = ({ db, organizationId }: Scope) => db`
  update organizations set shapes_version = shapes_version + 1 where id = ${organizationId}`;

export const retireShapes = ({ db, organizationId }: Scope, ids: readonly UsageShapeId[]) => db`
  update usage_shapes set state = 'retired'
  where organization_id = ${organizationId} and id = any (${ids}::uuid[])`;

const insertBuildingShape = (
  { db, organizationId }: Scope,
  id: UsageShapeId,
  {
    billable_metric_id,
    code,
    aggregation_type,
    field_name,
    property_names,
  }: ShapeDefinition & Pick<Shape, 'billable_metric_id'>,
  now: Temporal.Instant,
) => db`
  insert into usage_shapes (id, organization_id, billable_metric_id, code, aggregation_type, field_name, property_names,
    state, created_at)
  values (${id}, ${organizationId}, ${billable_metric_id}, ${code}, ${aggregation_type}, ${field_name},
    ${property_names}, 'building', ${now})`;
