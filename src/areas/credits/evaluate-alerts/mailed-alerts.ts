import type { AlertType } from '../../../engine/alerts/alert-types.ts';
import type { Decimal } from '../../../engine/money/decimal.ts';
import type { Scope } from '../../../platform/db/scope.ts';
import { isUuid, type SubscriptionId } from '../../../platform/ids.ts';

/** The start of the codes of alerts that customers have made for themselves. Rule: mails.md#templates. */
export const OF_CUSTOMER = 'portal-';

/** An evaluation in which a figure crossed thresholds, with its alert. */
export interface Triggered {
  alert_type: AlertType;
  name: string | null;
  metric_name: string | null;
  current_value: Decimal;
  crossed_thresholds: { value: string }[];
}

/** The occasion of a mail about an evaluation. */
export const occasionOfAlert = (triggeredId: string): string => `alert ${triggeredId}`;

/** What triggered a mail, or an alert of a subscription's customer last. A deleted alert is none. */
export async function findTriggered(
  { db, organizationId }: Scope,
  wanted: { occasion: string } | { subscriptionId: SubscriptionId },
): Promise<Triggered | undefined> {
  const id = 'occasion' in wanted ? wanted.occasion.slice(occasionOfAlert('').length) : '';
  if ('occasion' in wanted && !isUuid(id)) return undefined;
  const [row] = await db<Triggered[]>`
    select alert.alert_type, alert.name, metric.name as metric_name, triggered.current_value,
      triggered.crossed_thresholds
    from triggered_alerts triggered
    join alerts alert on alert.organization_id = triggered.organization_id and alert.id = triggered.alert_id
      and alert.deleted_at is null
    left join billable_metrics metric
      on metric.organization_id = alert.organization_id and metric.id = alert.billable_metric_id
    where triggered.organization_id = ${organizationId} and ${
      'occasion' in wanted
        ? db`triggered.id = ${id}`
        : db`triggered.subscription_id = ${wanted.subscriptionId} and starts_with(alert.code, ${OF_CUSTOMER})`
    }
    order by triggered.id desc limit 1`;
  return row;
}
