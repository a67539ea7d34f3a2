import type { Temporal } from 'temporal-polyfill';
import type { Scope } from '../../../../platform/db/scope.ts';
import type { AlertId, CustomerId, ExternalSubscriptionId, SubscriptionId } from '../../../../platform/ids.ts';
import { OF_CUSTOMER } from '../../../credits/evaluate-alerts/mailed-alerts.ts';

/** How many alerts of a customer are shown: five each of a hundred subscriptions. */
const MOST = 500;

/** An alert that a customer made for itself. */
export interface OwnAlert {
  id: AlertId;
  code: string;
  external_subscription_id: ExternalSubscriptionId;
  /** Null: usage as a whole. */
  metric_name: string | null;
  /** The limit in cents, as text. */
  limit: string;
  created_at: Temporal.Instant;
}

/** The alerts that a customer has made of its subscriptions, the oldest first. */
export const listOwnAlerts = ({ db, organizationId }: Scope, customerId: CustomerId) => db<OwnAlert[]>`
  select alert.id, alert.code, alert.external_subscription_id, metric.name as metric_name,
    alert.thresholds -> 0 ->> 'value' as limit, alert.created_at
  from alerts alert
  left join billable_metrics metric on metric.organization_id = alert.organization_id
    and metric.id = alert.billable_metric_id
  where alert.organization_id = ${organizationId} and alert.deleted_at is null
    and starts_with(alert.code, ${OF_CUSTOMER}) and alert.external_subscription_id in (
      select s.external_id from subscriptions s
      where s.organization_id = ${organizationId} and s.customer_id = ${customerId})
  order by alert.created_at, alert.id
  limit ${MOST}`;

/** A metric that a subscription's plan prices. */
export interface PlanMetric {
  subscription_id: SubscriptionId;
  code: string;
  name: string;
}

/** The metrics of the plans of subscriptions, by name. */
export const listPlanMetrics = ({ db, organizationId }: Scope, ids: readonly SubscriptionId[]) => db<PlanMetric[]>`
  select distinct s.id as subscription_id, metric.code, metric.name
  from subscriptions s
  join charges charge on charge.organization_id = s.organization_id and charge.plan_id = s.plan_id
    and charge.deleted_at is null
  join billable_metrics metric on metric.organization_id = charge.organization_id
    and metric.id = charge.billable_metric_id
  where s.organization_id = ${organizationId} and s.id = any (${ids}::uuid[])
  order by metric.name, metric.code`;
