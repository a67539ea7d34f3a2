import { realNow } from '../../../platform/clock/real-clock.ts';
import type { Sql, Tx } from '../../../platform/db/connect.ts';
import type { Scope } from '../../../platform/db/scope.ts';
import type { ExternalSubscriptionId, OrganizationId, UsageShapeId } from '../../../platform/ids.ts';
import type { Log } from '../../../platform/log/log.ts';
import type { Hold, SweepDeps, SweepJob } from '../../../platform/periodic-job.ts';
import { raiseShapesVersion, rebuildShape } from '../../catalog/usage-shapes/commands.ts';
import { lockOrganizationEvents } from '../../catalog/usage-shapes/shape-locks.ts';
import { MOST_GROUPS_BY_HOURS, type Shape, sumsUpToDays } from '../../catalog/usage-shapes/usage-shape.ts';
import { MOST_GROUPS } from './build-shape.ts';
import {
  deleteRetired,
  findLiveShape,
  type HourKey,
  listDifferingHours,
  listHours,
  listManyGroups,
  markRaw,
  refillHours,
  takeDirtyHours,
} from './rollup-rows.ts';

/** How many hours one run examines. */
const MOST_HOURS = 50_000;
/** How many hours one statement compares or repairs; writers wait for the duration of a repair. */
const HOURS_A_PAGE = 200;
const BUCKETS_A_PAGE = 10_000;

/**
 * Recomputes hours of a live shape from raw events, with writers kept out until the transaction ends. For corrections
 * of events, and for what an audit found. Rule: rollups.md#exactness.
 */
export async function repairHours(tx: Tx, shape: Shape, keys: readonly HourKey[]): Promise<void> {
  await lockOrganizationEvents({ db: tx, organizationId: shape.organization_id });
  await refillHours(tx, shape, keys);
}

/**
 * Job `rollup-audit`: compares about 1 % of the hours of live shapes with the raw events, and all that wait for repair;
 * repairs what differs and reports it. Drops what retired shapes left. Rules: rollups.md#exactness, periodic-jobs.md.
 */
export const rollupAudit: SweepJob = {
  name: 'rollup-audit',
  async sweep({ sql, log }: SweepDeps, _at, hold) {
    const audited = await auditHours(sql, log, 'sample', hold);
    log.info(audited, 'rollups audited');
    do await hold?.();
    while (!(await sql.begin((tx) => deleteRetired(tx, BUCKETS_A_PAGE))));
  },
};

/** Audits a sample of hours, or all of them, and repairs them. */
export async function auditHours(
  sql: Sql,
  log: Log,
  which: 'sample' | 'all',
  hold?: Hold,
): Promise<{ examined: number; repaired: number }> {
  const sample = await listHours(sql, which, MOST_HOURS);
  let repaired = 0;
  for (const keys of pagesByShape(sample)) {
    await hold?.();
    const { organization_id: organizationId, shape_id: shapeId } = keys[0]!;
    const shape = await findLiveShape({ db: sql, organizationId }, shapeId);
    if (!shape) continue;
    const differing = await listDifferingHours(sql, shape, keys);
    await sql.begin(async (tx) => {
      if (differing.length > 0) await repairHours(tx, shape, differing);
      await repairPending(tx, shape);
    });
    repaired += differing.length;
    if (differing.length > 0)
      log.error(
        { organization_id: organizationId, shapeId, hours: differing.length },
        'rollups differed from their events',
      );
  }
  return { examined: sample.length, repaired };
}

/** Hours of a live shape that wait for repair. */
async function repairPending(tx: Tx, shape: Shape): Promise<void> {
  const keys = await takeDirtyHours(tx, shape, HOURS_A_PAGE);
  if (keys.length > 0) await repairHours(tx, shape, keys);
}

/**
 * Job `rollup.guard`: checks whether a subscription has too many groups of a shape in a month, and if so marks it for
 * scans; else checks whether the shape has grown enough groups to keep daily sums.
 *
 * Rules: rollups.md#tables, rollups.md#figures.
 */
export async function guardGroups(
  { db: sql, organizationId }: Scope<Sql>,
  shapeId: UsageShapeId,
  externalSubscriptionId: ExternalSubscriptionId,
): Promise<void> {
  await sql.begin(async (tx) => {
    const shape = await findLiveShape({ db: tx, organizationId }, shapeId);
    if (!shape) return;
    const crowded = await listManyGroups(tx, shape, { subscriptionIds: [externalSubscriptionId], most: MOST_GROUPS });
    if (crowded.length === 0) {
      if (shape.keeps_days || !sumsUpToDays(shape.aggregation_type)) return;
      const wide = await listManyGroups(tx, shape, {
        subscriptionIds: [externalSubscriptionId],
        most: MOST_GROUPS_BY_HOURS,
      });
      if (wide.length > 0) await rebuildShape(tx, shape, realNow());
      return;
    }
    await lockOrganizationEvents({ db: tx, organizationId });
    await markRaw(tx, shape, { subscriptionIds: [externalSubscriptionId], now: realNow() });
    await raiseShapesVersion({ db: tx, organizationId });
  });
}

function pagesByShape<Key extends { organization_id: OrganizationId; shape_id: UsageShapeId }>(
  sorted: readonly Key[],
): Key[][] {
  const pages: Key[][] = [];
  for (const key of sorted) {
    const page = pages.at(-1);
    if (page && page.length < HOURS_A_PAGE && page[0]!.shape_id === key.shape_id) page.push(key);
    else pages.push([key]);
  }
  return pages;
}
