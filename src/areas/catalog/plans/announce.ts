import type { Context } from '../../../platform/context.ts';
import { changedKeys } from '../../../platform/records/changes.ts';
import type { PlanView } from './schema.ts';
import type { PlanShown } from './show-plans.ts';
import { planView } from './view.ts';

/** With more charges than this the audit trail stores a plan without them. Rule: logs.md#activity-logs. */
const MAX_LOGGED_CHARGES = 50;
const MAX_LOGGED_FILTERS = 100;

/**
 * Records what happened to a plan: a line of the audit trail and an outgoing event.
 *
 * @param before of an update
 */
export function announcePlan(
  ctx: Context,
  action: 'created' | 'updated' | 'deleted',
  shown: PlanShown,
  before?: PlanShown,
): void {
  const type = `plan.${action}`;
  const { entitlements, ...rest } = planView(shown);
  const payload = action === 'deleted' ? rest : { ...rest, entitlements };
  const changes = before ? { changes: changedKeys(logged(planView(before)), logged(planView(shown))) } : {};
  ctx.record({
    activity: { type, resourceType: 'Plan', resourceId: shown.plan.id, object: logged(planView(shown)), ...changes },
    webhook: { type, objectType: 'plan', objectId: shown.plan.id, object: payload },
  });
}

function logged(plan: PlanView): object {
  const filtersCount = plan.charges.reduce((count, { filters }) => count + filters.length, 0);
  if (plan.charges.length <= MAX_LOGGED_CHARGES && filtersCount <= MAX_LOGGED_FILTERS) return plan;
  const { charges: _charges, ...rest } = plan;
  return rest;
}
