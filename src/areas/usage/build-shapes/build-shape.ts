import type { Temporal } from 'temporal-polyfill';
import { realNow } from '../../../platform/clock/real-clock.ts';
import type { Context } from '../../../platform/context.ts';
import type { Db, Sql, Tx } from '../../../platform/db/connect.ts';
import type { Scope } from '../../../platform/db/scope.ts';
import type { ExternalSubscriptionId, UsageShapeId } from '../../../platform/ids.ts';
import type { Producer } from '../../../platform/queue/producer.ts';
import { raiseShapesVersion } from '../../catalog/usage-shapes/commands.ts';
import { lockOrganizationEvents } from '../../catalog/usage-shapes/shape-locks.ts';
import { MOST_GROUPS_BY_HOURS, sumsUpToDays } from '../../catalog/usage-shapes/usage-shape.ts';
import {
  type BuildingShape,
  countEventsUpTo,
  holdBuildingShape,
  keepDays,
  listBuildingShapes,
  listManyGroups,
  listSubscriptionsWithEvents,
  markRaw,
  putLive,
  refillHours,
  refillSubscriptions,
  setBuiltThrough,
  takeDirtyHours,
} from './rollup-rows.ts';

/** How many subscriptions one transaction recomputes. */
const SUBSCRIPTIONS_A_PAGE = 20;
/** How many dirty hours one transaction drains; at most one page is left for the switch, which keeps writers out. */
const HOURS_A_PAGE = 500;
/** How many rounds of draining there are while writers continue; a busier shape is switched with the rest left. */
const MOST_ROUNDS = 50;
/** With more groups of one subscription and month than this, buckets cost more than they save (rollups.md#tables). */
export const MOST_GROUPS = 10_000;
/** Page size, because one subscription may hold many millions of events. */
const STATEMENT_TIMEOUT = '15min';

/**
 * With at most so many events of an organization a new shape is built at once, in the step of the command that needs
 * it.
 */
const BUILT_AT_ONCE = 20_000;

/**
 * Builds a shape: recomputes every subscription's buckets from raw events, then the hours that writers touched
 * meanwhile, then replaces the live shape under the organization's exclusive lock. Every page is its own transaction,
 * so that another worker can continue a lost build. Safe to run twice; a shape that is no longer in building is left
 * alone. Rule: rollups.md#exactness.
 */
export async function buildShape({ db: sql, organizationId }: Scope<Sql>, shapeId: UsageShapeId): Promise<void> {
  const inPage = (work: (tx: Tx, shape: BuildingShape) => Promise<boolean>): Promise<boolean> =>
    sql.begin(async (tx) => {
      await tx.unsafe(`set local statement_timeout = '${STATEMENT_TIMEOUT}'`);
      const shape = await holdBuildingShape({ db: tx, organizationId }, shapeId);
      return shape !== undefined && (await work(tx, shape));
    });

  await everyPage(() => inPage(refillPage));
  await everyPage(() => inPage(drainPage), MOST_ROUNDS);
  await inPage(switchOver);
}

/**
 * Step `build-shape`: builds a small shape at once; a large one is built by the job that `sweepBuildingShapes`
 * enqueues.
 */
export async function buildShapeStep(ctx: Context, { shape_id }: { shape_id: UsageShapeId }): Promise<void> {
  if ((await countEventsUpTo(ctx, BUILT_AT_ONCE + 1)) > BUILT_AT_ONCE) return;
  const shape = await holdBuildingShape(ctx, shape_id);
  if (!shape) return;
  await everyPage(() => refillPage(ctx.db, shape));
  await switchOver(ctx.db, shape);
}

/**
 * Enqueues the build of every shape in building, once an hour: a job that failed for good still holds its id.
 *
 * now  real time
 */
export async function sweepBuildingShapes(
  deps: { sql: Sql; producer: Pick<Producer, 'addMany'> },
  now: Temporal.Instant,
): Promise<number> {
  const hour = Math.floor(now.epochMilliseconds / 3_600_000);
  const shapes = await listBuildingShapes(deps.sql);
  await deps.producer.addMany(
    'rollup.build-shape',
    shapes.map(({ organization_id, id }) => ({
      payload: { organization_id, shape_id: id },
      options: { id: `build-${id}-${hour}` },
    })),
  );
  return shapes.length;
}

async function everyPage(work: () => Promise<boolean>, mostPages = Number.POSITIVE_INFINITY): Promise<void> {
  for (let page = 0; page < mostPages && (await work()); page += 1);
}

/** Drains the rest while writers are kept out, and makes the shape live. */
async function switchOver(tx: Db, shape: BuildingShape): Promise<boolean> {
  await lockOrganizationEvents({ db: tx, organizationId: shape.organization_id });
  await everyPage(() => drainPage(tx, shape));
  if (await putLive(tx, shape)) await raiseShapesVersion({ db: tx, organizationId: shape.organization_id });
  return false;
}

/** Recomputes the next subscriptions; false when there are none left. */
async function refillPage(tx: Db, shape: BuildingShape): Promise<boolean> {
  const rows = await listSubscriptionsWithEvents(
    { db: tx, organizationId: shape.organization_id },
    shape.built_through,
    SUBSCRIPTIONS_A_PAGE,
  );
  const ids = idsOf(rows);
  if (ids.length === 0) return false;
  await refillSubscriptions(tx, shape, ids);
  const wide = await listManyGroups(tx, shape, { subscriptionIds: ids, most: MOST_GROUPS_BY_HOURS });
  if (wide.length > 0) await treatWide(tx, shape, idsOf(wide));
  shape.built_through = ids.at(-1)!;
  await setBuiltThrough(tx, shape);
  return true;
}

/** Subscriptions with many groups also keep full days; those with too many are marked for scans. */
async function treatWide(
  tx: Db,
  shape: BuildingShape,
  subscriptionIds: readonly ExternalSubscriptionId[],
): Promise<void> {
  if (!shape.keeps_days && sumsUpToDays(shape.aggregation_type)) await keepDays(tx, shape);
  const crowded = await listManyGroups(tx, shape, { subscriptionIds, most: MOST_GROUPS });
  if (crowded.length > 0) await markRaw(tx, shape, { subscriptionIds: idsOf(crowded), now: realNow() });
}

const idsOf = (rows: readonly { id: string }[]): string[] => rows.map(({ id }) => id);

/** Recomputes hours touched by writers; true if there may be more. */
async function drainPage(tx: Db, shape: BuildingShape): Promise<boolean> {
  const keys = await takeDirtyHours(tx, shape, HOURS_A_PAGE);
  if (keys.length > 0) await refillHours(tx, shape, keys);
  return keys.length === HOURS_A_PAGE;
}
