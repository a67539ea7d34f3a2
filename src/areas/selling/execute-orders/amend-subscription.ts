import { assert } from '../../../engine/assert.ts';
import type { Context } from '../../../platform/context.ts';
import { refuse } from '../../../platform/refusal.ts';
import { changePlan } from '../../subscriptions/subscriptions/commands/change-plan.ts';
import { overriddenPlan } from '../../subscriptions/subscriptions/overrides/override-plan.ts';
import { getShown } from '../../subscriptions/subscriptions/queries.ts';
import { getPlanFacts, lockLineage } from '../../subscriptions/subscriptions/writes.ts';
import type { ExecutionRecord } from '../orders/schema.ts';
import type { PlanItem } from '../quotes/billing-items/item-types.ts';
import { changeLineage, soldPlan, subscriptionInput } from './create-subscriptions.ts';
import type { Execution } from './make-records.ts';

/**
 * Moves a subscription to the plan of the deal, or to a copy with the changes of the deal: at once if the amount rises,
 * at the end of the period if it falls.
 *
 * @throws Refusal 404 plan; 422 subscription subscription_not_active, and as changePlan
 * Rule: quotes.md#execution.
 */
export async function amendSubscription(
  ctx: Context,
  execution: Execution,
  items: readonly PlanItem[],
): Promise<Pick<ExecutionRecord, 'subscription_ids' | 'terminated_subscription_ids'>> {
  const [item] = items;
  const { subscription_id: targetId } = execution.order;
  assert(item && targetId, 'an amendment has a plan and a subscription');
  const { external_id: externalId } = await getShown(ctx, targetId);
  const lineage = await lockLineage(ctx, externalId);
  const current = lineage.find(({ id, status }) => id === targetId && status === 'active');
  if (!current) throw refuse.invalid({ subscription: ['subscription_not_active'] });
  const { plan: sold, overrides } = await soldPlan(ctx, item, 0);
  const planId = overrides ? await overriddenPlan(ctx, sold.plan.id, overrides) : sold.plan.id;
  const plan = await getPlanFacts(ctx, planId);
  const body = subscriptionInput(item, { ...execution, externalId, planCode: sold.plan.code });
  const done = { subscription_ids: [], terminated_subscription_ids: [] };
  await changeLineage(
    ctx,
    { externalId, item, execution },
    () => changePlan(ctx, { current, lineage, plan, customer: execution.customer, body, billingEntityId: undefined }),
    done,
  );
  return done;
}
