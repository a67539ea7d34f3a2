import type { Scope } from '../../../platform/db/scope.ts';
import type { PlanId } from '../../../platform/ids.ts';

/**
 * Locks the customers with a subscription that runs or waits on the plans. They are locked before the plans, as whoever
 * changes a plan for a subscription does: a new amount may end or start subscriptions.
 */
export const lockCustomersOnPlans = ({ db, organizationId }: Scope, planIds: readonly PlanId[]) => db`
  select customer.id from customers customer
  where customer.organization_id = ${organizationId} and customer.id in (
    select customer_id from subscriptions
    where organization_id = ${organizationId} and plan_id = any (${planIds}::uuid[])
      and status in ('active', 'pending'))
  order by customer.id
  for no key update`;

/**
 * Holds the overrides of a plan, their customers first, until the transaction ends: so that they take over one change
 * after the other, and each change reads the result of the one before.
 */
export async function lockOverrides(scope: Scope, planId: PlanId): Promise<void> {
  const { db, organizationId } = scope;
  const overrides = await db<{ id: PlanId }[]>`
    select id from plans
    where organization_id = ${organizationId} and parent_id = ${planId} and deleted_at is null
    order by id`;
  const ids = overrides.map(({ id }) => id);
  if (ids.length === 0) return;
  await lockCustomersOnPlans(scope, ids);
  await db`
    select id from plans where organization_id = ${organizationId} and id = any (${ids}::uuid[]) order by id
      for update`;
}
