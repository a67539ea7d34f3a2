import { directionOf } from '../../../engine/alerts/alert-types.ts';
import { decimal, decimalText } from '../../../engine/money/decimal.ts';
import type { OrganizationId } from '../../../platform/ids.ts';
import { seconds, secondsOrNull } from '../../../platform/schema/view.ts';
import type { BillableMetricRow } from '../../catalog/billable-metrics/queries.ts';
import { billableMetricView } from '../../catalog/billable-metrics/view.ts';
import type { AlertRow, ThresholdJson } from './queries.ts';

export const thresholdView = ({ code, value, recurring }: ThresholdJson) => ({
  code,
  value: decimalText(decimal(value)),
  recurring,
});

/** An alert as the API shows it. Rule: alerts.md#endpoints-and-fields. */
export const alertView = (alert: AlertRow, metric: BillableMetricRow | undefined, organizationId: OrganizationId) => ({
  svc_id: alert.id,
  svc_organization_id: organizationId,
  subscription_external_id: alert.external_subscription_id,
  external_subscription_id: alert.external_subscription_id,
  svc_wallet_id: alert.wallet_id,
  wallet_code: alert.wallet_code,
  alert_type: alert.alert_type,
  code: alert.code,
  name: alert.name,
  direction: directionOf(alert.alert_type),
  previous_value: alert.previous_value.toNumber(),
  last_processed_at: secondsOrNull(alert.last_processed_at),
  thresholds: alert.thresholds.map(thresholdView),
  created_at: seconds(alert.created_at),
  billable_metric: metric === undefined ? null : billableMetricView(metric),
});
