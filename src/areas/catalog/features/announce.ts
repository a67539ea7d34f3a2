import type { Context } from '../../../platform/context.ts';
import type { PlanId } from '../../../platform/ids.ts';
import { changedKeys } from '../../../platform/records/changes.ts';
import { viewOf } from '../../../platform/schema/columns.ts';
import { announcePlan } from '../plans/announce.ts';
import { listPlansById } from '../plans/queries.ts';
import { type PlanShown, showPlans } from '../plans/show-plans.ts';
import { type FeatureRow, features } from './queries.ts';

/**
 * Records what happened to a feature: a line of the audit trail and an outgoing event.
 *
 * @param before of an update
 * Rules: webhooks.md#event-types, logs.md#activity-logs.
 */
export function announceFeature(
  ctx: Context,
  action: 'created' | 'updated' | 'deleted',
  feature: FeatureRow,
  before?: FeatureRow,
): void {
  const type = `feature.${action}`;
  const { usage_limits: _limits, ...payload } = viewOf(features, feature);
  const object = viewOf(features, feature);
  ctx.record({
    activity: {
      type,
      resourceType: 'Entitlement::Feature',
      resourceId: feature.id,
      object,
      ...(before ? { changes: changedKeys(viewOf(features, before), object) } : {}),
    },
    webhook: { type, objectType: 'feature', objectId: feature.id, object: payload },
  });
}

/** Plans, in the order of their ids given, as they are shown now. */
export async function plansShown(ctx: Context, ids: readonly PlanId[]): Promise<PlanShown[]> {
  if (ids.length === 0) return [];
  const plans = await listPlansById(ctx, ids);
  const ordered = ids.flatMap((id) => plans.find((plan) => plan.id === id) ?? []);
  return showPlans(ctx, ordered);
}

/** Announces that plans changed because a feature of theirs did. Rule: webhooks.md#event-types `plan.updated`. */
export async function announcePlansOf(ctx: Context, before: readonly PlanShown[]): Promise<void> {
  const after = await plansShown(
    ctx,
    before.map(({ plan }) => plan.id),
  );
  for (const [place, shown] of after.entries()) announcePlan(ctx, 'updated', shown, before[place]);
}
