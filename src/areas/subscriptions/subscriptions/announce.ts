import type { Context } from '../../../platform/context.ts';
import type { SubscriptionId } from '../../../platform/ids.ts';
import { changedKeys } from '../../../platform/records/changes.ts';
import { requestHeal } from '../../catalog/usage-shapes/request-heal.ts';
import { markWatched } from '../../catalog/usage-thresholds/usage-marks.ts';
import { readCustomer } from '../../customers/customers/queries.ts';
import { customerWebhookView } from '../../customers/customers/view.ts';
import { entitlementsOf } from '../entitlements/reads.ts';
import { getShown, type SubscriptionShown } from './queries.ts';
import { planOf } from './show-subscription.ts';
import { subscriptionView } from './view.ts';

export type SubscriptionEvent =
  | 'subscription.started'
  | 'subscription.incomplete'
  | 'subscription.canceled'
  | 'subscription.terminated'
  | 'subscription.updated'
  | 'subscription.trial_ended'
  | 'subscription.termination_alert';

/** Types that the audit trail has. Rule: logs.md#activity-logs. */
const LOGGED: ReadonlySet<SubscriptionEvent> = new Set([
  'subscription.incomplete',
  'subscription.canceled',
  'subscription.started',
  'subscription.terminated',
  'subscription.updated',
]);

/**
 * Writes a subscription's state into the audit trail and sends its webhook.
 *
 * @param before of an edit: what the audit trail compares with
 * Rules: webhooks.md#event-types, logs.md#activity-logs.
 */
export async function recordSubscription(
  ctx: Context,
  type: SubscriptionEvent,
  id: SubscriptionId,
  before?: SubscriptionShown,
): Promise<void> {
  const row = await getShown(ctx, id);
  const [plan, customer] = await Promise.all([planOf(ctx, row.plan_id), readCustomer(ctx, row.customer_id)]);
  const view = subscriptionView(row, ctx.now());
  if (type === 'subscription.started') {
    requestHeal(ctx, { external_subscription_id: row.external_id });
    // A first period may begin with units carried over, flat amounts or future events, so thresholds are compared.
    const mark = { organization_id: ctx.organizationId, subscription_id: id, at: ctx.now().toString() };
    await markWatched(ctx.db, [mark]);
  }
  const object = { ...view, plan, customer: customerWebhookView(customer) };
  ctx.record({
    ...(LOGGED.has(type)
      ? {
          activity: {
            type,
            resourceType: 'Subscription',
            resourceId: id,
            object: { ...view, plan },
            ...(before === undefined ? {} : { changes: changedKeys(subscriptionView(before, ctx.now()), view) }),
            externalCustomerId: row.external_customer_id,
            externalSubscriptionId: row.external_id,
          },
        }
      : {}),
    webhook: {
      type,
      objectType: 'subscription',
      objectId: id,
      customerId: row.customer_id,
      object:
        type === 'subscription.started' || type === 'subscription.updated'
          ? { ...object, entitlements: await entitlementsOf(ctx, row) }
          : object,
    },
  });
}
