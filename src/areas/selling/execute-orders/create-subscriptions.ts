import { dealInstant } from '../../../engine/quotes/deal-dates.ts';
import type { Context } from '../../../platform/context.ts';
import { newId } from '../../../platform/ids.ts';
import { refuse } from '../../../platform/refusal.ts';
import { refuseFaults } from '../../../platform/schema/faults.ts';
import type { PlanOverrides } from '../../catalog/plans/override-schema.ts';
import { listPlansById } from '../../catalog/plans/queries.ts';
import { type PlanShown, showPlan } from '../../catalog/plans/show-plans.ts';
import { getMethod } from '../../customers/payment-methods/queries.ts';
import { createSubscription } from '../../subscriptions/subscriptions/commands/create.ts';
import type { SubscriptionCreate } from '../../subscriptions/subscriptions/schema.ts';
import { changeSubscription } from '../../subscriptions/subscriptions/writes.ts';
import type { ExecutionRecord } from '../orders/schema.ts';
import type { PlanItem } from '../quotes/billing-items/item-types.ts';
import { planOverridesOf } from '../quotes/billing-items/plan-overrides.ts';
import type { Faults } from '../quotes/billing-items/read-fields.ts';
import { externalIdOf } from '../quotes/billing-items/terms-of-items.ts';
import { listLineage } from './due-orders.ts';
import type { Execution } from './make-records.ts';

type Subscribed = Pick<ExecutionRecord, 'subscription_ids' | 'terminated_subscription_ids'>;

/**
 * Makes the subscriptions of a deal; one whose external id is live already gets the plan instead.
 *
 * @throws Refusal 404 plan, payment_method, and as createSubscription
 * Rule: quotes.md#execution.
 */
export async function createSubscriptions(
  ctx: Context,
  execution: Execution,
  items: readonly PlanItem[],
): Promise<Subscribed> {
  const done: Subscribed = { subscription_ids: [], terminated_subscription_ids: [] };
  for (const [index, item] of items.entries()) {
    const { plan, overrides } = await soldPlan(ctx, item, index);
    const externalId = externalIdOf(item, 'subscription_creation') ?? newId();
    const body = {
      ...subscriptionInput(item, { ...execution, externalId, planCode: plan.plan.code }),
      ...(overrides && { plan_overrides: overrides }),
    };
    await changeLineage(ctx, { externalId, item, execution }, () => createSubscription(ctx, body), done);
  }
  return done;
}

/**
 * A plan of a deal as it is sold now, with the changes of the deal. @throws Refusal 404 plan; 422
 * `billing_items.<path>`
 */
export async function soldPlan(
  ctx: Context,
  item: PlanItem,
  index: number,
): Promise<{ plan: PlanShown; overrides: PlanOverrides | undefined }> {
  const [row] = await listPlansById(ctx, [item.id]);
  if (!row || row.deleted_at || row.pending_deletion || row.parent_id !== null) throw refuse.notFound('plan');
  const plan = await showPlan(ctx, row);
  const faults: Faults = {};
  const overrides = planOverridesOf(item, plan, `billing_items.plans.${index}.overrides`, faults);
  refuseFaults(faults);
  return { plan, overrides };
}

/** Input of a subscription from a deal, without overrides. A bare date is that day in the customer's zone. */
export function subscriptionInput(
  { payload }: PlanItem,
  of: Execution & { externalId: string; planCode: string },
): SubscriptionCreate {
  const at = (text: string | undefined) =>
    text === undefined ? undefined : dealInstant(text, of.customer.zone).toString();
  return {
    external_customer_id: of.customer.external_id,
    external_id: of.externalId,
    plan_code: of.planCode,
    billing_time: payload.billingTime ?? 'calendar',
    name: payload.subscriptionName,
    payment_method: undefined,
    purchase_order_number: undefined,
    buyer_reference: undefined,
    subscription_at: at(payload.startDate),
    ...(payload.endDate !== undefined && { ending_at: at(payload.endDate) }),
    ...(of.billingEntityCode !== undefined && { billing_entity_code: of.billingEntityCode }),
  };
}

/**
 * Runs a command on the records of an external id and reports which it created and ended; the newest one gets the
 * payment method of the deal.
 */
export async function changeLineage(
  ctx: Context,
  { externalId, item, execution }: { externalId: string; item: PlanItem; execution: Execution },
  change: () => Promise<string>,
  done: Subscribed,
): Promise<void> {
  const before = new Map((await listLineage(ctx, externalId)).map(({ id, status }) => [id, status]));
  const answered = await change();
  const after = await listLineage(ctx, externalId);
  const made = after.filter(({ id }) => !before.has(id)).map(({ id }) => id);
  const ended = after.filter(({ id, status }) => status === 'terminated' && before.get(id) === 'active');
  done.subscription_ids.push(...(made.length > 0 ? made : [answered]));
  done.terminated_subscription_ids.push(...ended.map(({ id }) => id));
  const { paymentMethodId } = item.payload;
  if (paymentMethodId === undefined) return;
  const method = await getMethod(ctx, execution.customer.id, paymentMethodId);
  const payment = { payment_method_type: 'provider', payment_method_id: method.id } as const;
  await changeSubscription(ctx, made.at(-1) ?? answered, { change: payment, now: ctx.now() });
}
