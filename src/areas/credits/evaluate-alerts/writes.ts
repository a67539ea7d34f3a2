import type { Temporal } from 'temporal-polyfill';
import type { Decimal } from '../../../engine/money/decimal.ts';
import type { Scope } from '../../../platform/db/scope.ts';
import { json } from '../../../platform/db/values.ts';
import type { AlertId, SubscriptionId, WalletId } from '../../../platform/ids.ts';
import type { AlertOwner, AlertRow, ThresholdJson } from './queries.ts';

/** What differs between the alerts of one call of `insertAlerts`, which adds the owner and the times. */
export type NewAlert = Pick<
  AlertRow,
  'id' | 'alert_type' | 'billable_metric_id' | 'code' | 'name' | 'thresholds' | 'previous_value'
>;

/**
 * Stores alerts of one owner.
 *
 * @returns how many; fewer when another request has taken a code or a type meanwhile
 */
export async function insertAlerts(
  { db, organizationId }: Scope,
  owner: AlertOwner,
  { alerts, now }: { alerts: readonly NewAlert[]; now: Temporal.Instant },
): Promise<number> {
  const [externalId, walletId] =
    'wallet_id' in owner ? [null, owner.wallet_id] : [owner.external_subscription_id, null];
  const { count } = await db`
    insert into alerts (id, organization_id, external_subscription_id, wallet_id, alert_type, billable_metric_id, code,
      name, thresholds, previous_value, created_at, updated_at)
    select id, ${organizationId}::uuid, ${externalId}::text, ${walletId}::uuid, alert_type, billable_metric_id, code,
      name, thresholds, previous_value, ${now}, ${now}
    from jsonb_to_recordset(${json(alerts)}::jsonb) as alert (id uuid, alert_type text, billable_metric_id uuid,
      code text, name text, thresholds jsonb, previous_value numeric)
    on conflict do nothing`;
  return count;
}

export const updateAlertRow = (
  { db, organizationId }: Scope,
  alert: Pick<AlertRow, 'id' | 'billable_metric_id' | 'code' | 'name' | 'thresholds' | 'previous_value'>,
  now: Temporal.Instant,
) => db`
  update alerts set billable_metric_id = ${alert.billable_metric_id}, code = ${alert.code}, name = ${alert.name},
    thresholds = ${json(alert.thresholds)}, previous_value = ${alert.previous_value}, updated_at = ${now}
  where organization_id = ${organizationId} and id = ${alert.id}`;

/** Ends alerts; what they triggered stays. */
export const markAlertsDeleted = ({ db, organizationId }: Scope, ids: readonly AlertId[], now: Temporal.Instant) => db`
  update alerts set deleted_at = ${now}, updated_at = ${now}
  where organization_id = ${organizationId} and id = any (${ids}::uuid[]) and deleted_at is null`;

/** The value that an evaluation found. */
export const storeEvaluation = (
  { db, organizationId }: Scope,
  alert: { id: AlertId; value: Decimal; evaluation: number },
  now: Temporal.Instant,
) => db`
  update alerts set previous_value = ${alert.value}, evaluations = ${alert.evaluation}, last_processed_at = ${now}
  where organization_id = ${organizationId} and id = ${alert.id}`;

export interface NewTriggeredAlert {
  id: string;
  alert_id: AlertId;
  evaluation: number;
  subscription_id: SubscriptionId | null;
  wallet_id: WalletId | null;
  current_value: Decimal;
  previous_value: Decimal;
  crossed_thresholds: ThresholdJson[];
}

/** Stores a crossing; an evaluation has one. */
export const insertTriggeredAlert = (
  { db, organizationId }: Scope,
  triggered: NewTriggeredAlert,
  now: Temporal.Instant,
) => db`
  insert into triggered_alerts (id, organization_id, alert_id, evaluation, subscription_id, wallet_id, current_value,
    previous_value, crossed_thresholds, triggered_at)
  values (${triggered.id}, ${organizationId}, ${triggered.alert_id}, ${triggered.evaluation},
    ${triggered.subscription_id}, ${triggered.wallet_id}, ${triggered.current_value}, ${triggered.previous_value},
    ${json(triggered.crossed_thresholds)}, ${now})`;
