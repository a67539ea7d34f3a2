import { directionOf } from '../../../engine/alerts/alert-types.ts';
import { crossedThresholds } from '../../../engine/alerts/crossed-thresholds.ts';
import { type Decimal, decimal } from '../../../engine/money/decimal.ts';
import type { Context } from '../../../platform/context.ts';
import type { CustomerId, ExternalCustomerId, SubscriptionId } from '../../../platform/ids.ts';
import { newId } from '../../../platform/ids.ts';
import { seconds } from '../../../platform/schema/view.ts';
import { oweNotice } from '../../messaging/mails/owe-mail.ts';
import { OF_CUSTOMER, occasionOfAlert } from './mailed-alerts.ts';
import type { AlertRow } from './queries.ts';
import { thresholdView } from './view.ts';
import { insertTriggeredAlert, storeEvaluation } from './writes.ts';

/** For an alert of a wallet: the contract requires a subscription in each triggered alert and allows no null. */
const NO_SUBSCRIPTION = { id: '00000000-0000-0000-0000-000000000000', externalId: '' };

/** What an alert is about, for its notification. */
export interface AlertSubject {
  subscription_id: SubscriptionId | null;
  customer_id: CustomerId;
  external_customer_id: ExternalCustomerId;
  billable_metric_code: string | null;
}

/**
 * Compares an alert's figure with the last one and announces what it crossed. The caller has locked the alert before it
 * read the figure, so that a crossing counts once whatever happens at the same time.
 *
 * Rules: alerts.md#evaluation, alerts.md#usage-alerts.
 */
export async function evaluateAlert(
  ctx: Context,
  alert: AlertRow,
  current: Decimal,
  subject: AlertSubject,
): Promise<void> {
  const { organizationId } = ctx;
  const evaluation = alert.evaluations + 1;
  const previous = alert.previous_value;
  const thresholds = alert.thresholds.map((each) => ({ ...each, value: decimal(each.value) }));
  const crossed = crossedThresholds(directionOf(alert.alert_type), thresholds, { previous, current }).map((each) => ({
    ...each,
    value: each.value.toFixed(),
  }));
  await storeEvaluation(ctx, { id: alert.id, value: current, evaluation }, ctx.now());
  if (crossed.length === 0) return;

  const id = newId();
  await insertTriggeredAlert(
    ctx,
    {
      id,
      alert_id: alert.id,
      evaluation,
      subscription_id: subject.subscription_id,
      wallet_id: alert.wallet_id,
      current_value: current,
      previous_value: previous,
      crossed_thresholds: crossed,
    },
    ctx.now(),
  );
  ctx.record({
    webhook: {
      type: 'alert.triggered',
      objectType: 'triggered_alert',
      objectId: id,
      customerId: subject.customer_id,
      object: {
        svc_id: id,
        svc_organization_id: organizationId,
        svc_alert_id: alert.id,
        svc_subscription_id: subject.subscription_id ?? NO_SUBSCRIPTION.id,
        subscription_external_id: alert.external_subscription_id ?? NO_SUBSCRIPTION.externalId,
        external_subscription_id: alert.external_subscription_id ?? NO_SUBSCRIPTION.externalId,
        svc_wallet_id: alert.wallet_id,
        customer_external_id: subject.external_customer_id,
        external_customer_id: subject.external_customer_id,
        billable_metric_code: subject.billable_metric_code,
        alert_name: alert.name,
        alert_code: alert.code,
        alert_type: alert.alert_type,
        current_value: current.toNumber(),
        previous_value: previous.toNumber(),
        crossed_thresholds: crossed.map(thresholdView),
        triggered_at: seconds(ctx.now()),
      },
    },
  });
  oweMailOf(ctx, { alert, subject, triggeredId: id });
}

/** A wallet that is low is mailed to its customer, and usage where the customer itself had asked for it. */
function oweMailOf(
  ctx: Context,
  { alert, subject, triggeredId }: { alert: AlertRow; subject: AlertSubject; triggeredId: string },
): void {
  const cause = { occasion: occasionOfAlert(triggeredId), at: ctx.now().toString() };
  if (alert.wallet_id !== null) oweNotice(ctx, { template: 'wallet_low', resource_id: alert.wallet_id, ...cause });
  else if (subject.subscription_id !== null && alert.code.startsWith(OF_CUSTOMER))
    oweNotice(ctx, { template: 'usage_alert', resource_id: subject.subscription_id, ...cause });
}
