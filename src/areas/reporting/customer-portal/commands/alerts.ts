import type { Context } from '../../../../platform/context.ts';
import { findRow } from '../../../../platform/db/rows.ts';
import { type AlertId, type CustomerId, newId, type SubscriptionId } from '../../../../platform/ids.ts';
import { refuse } from '../../../../platform/refusal.ts';
import { billableMetrics } from '../../../catalog/billable-metrics/queries.ts';
import { createAlerts, deleteAlert } from '../../../credits/alerts/commands.ts';
import { OF_CUSTOMER } from '../../../credits/evaluate-alerts/mailed-alerts.ts';
import { listAlertKeys } from '../../../credits/evaluate-alerts/queries.ts';
import { limitBounds } from '../alerts/page.ts';
import { listOwnAlerts, listPlanMetrics } from '../alerts/queries.ts';
import { getOwnSubscription } from '../usage/reads.ts';
import { readAmount } from '../wallet/top-up.ts';
import { lockAllowed } from './allowed.ts';
import { done, type PortalOutcome, refused } from './outcome.ts';

/** Alerts of one subscription that its customer may have made. */
const MOST_ALERTS = 5;

interface AlertWanted {
  customer_id: CustomerId;
  subscription_id: SubscriptionId;
  /** Code of a metric of the plan; empty: usage as a whole. */
  metric: string;
  amount: string;
}

/**
 * Makes an alert of a customer's own subscription, which is mailed to it once the amount is reached.
 *
 * @throws Refusal 404 subscription, billable_metric, of others
 * Rule: portal.md#alerts.
 */
export async function addOwnAlert(ctx: Context, wanted: AlertWanted): Promise<PortalOutcome> {
  const { customer } = await lockAllowed(ctx, wanted.customer_id, 'alerts');
  const subscription = await getOwnSubscription(ctx, customer.id, wanted.subscription_id);
  if (subscription.status !== 'active') return refused({ form: 'notNow' });
  const currency = subscription.plan_amount_currency as never;
  const read = readAmount(wanted.amount, { currency }, limitBounds(currency));
  if ('fault' in read) return refused({ amount: read.fault });
  const metricId = await metricOf(ctx, subscription.id, wanted.metric);
  const alertType = metricId === null ? 'current_usage_amount' : 'billable_metric_current_usage_amount';
  const keys = await listAlertKeys(ctx, { external_subscription_id: subscription.external_id });
  if (keys.filter(({ code }) => code.startsWith(OF_CUSTOMER)).length >= MOST_ALERTS)
    return refused({ amount: 'mostAlerts' });
  if (keys.some((key) => key.alert_type === alertType && key.billable_metric_id === metricId))
    return refused({ amount: 'alertExists' });
  await createAlerts(ctx, {
    external_id: subscription.external_id,
    body: {
      alert: {
        alert_type: alertType,
        code: `${OF_CUSTOMER}${newId()}`,
        thresholds: [{ code: null, value: String(read.amountCents) }],
        ...(metricId === null ? {} : { billable_metric_code: wanted.metric }),
      },
    },
  });
  return done();
}

/** Removes an alert that the customer has made itself. @throws Refusal 404 alert, of others or of the seller */
export async function removeOwnAlert(
  ctx: Context,
  input: { customer_id: CustomerId; alert_id: AlertId },
): Promise<PortalOutcome> {
  const { customer } = await lockAllowed(ctx, input.customer_id, 'alerts');
  const own = (await listOwnAlerts(ctx, customer.id)).find(({ id }) => id === input.alert_id);
  if (!own) throw refuse.notFound('alert');
  await deleteAlert(ctx, { external_id: own.external_subscription_id, code: own.code });
  return done();
}

/** @throws Refusal 404 billable_metric, of one that the plan does not price */
async function metricOf(ctx: Context, subscriptionId: SubscriptionId, code: string) {
  if (code === '') return null;
  const ofPlan = await listPlanMetrics(ctx, [subscriptionId]);
  const metric = ofPlan.some((each) => each.code === code) ? await findRow(ctx, billableMetrics, code) : undefined;
  if (!metric) throw refuse.notFound('billable_metric');
  return metric.id;
}
