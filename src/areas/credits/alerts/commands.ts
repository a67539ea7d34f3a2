import { type AlertType, isOfMetric } from '../../../engine/alerts/alert-types.ts';
import { ZERO } from '../../../engine/money/decimal.ts';
import type { Context } from '../../../platform/context.ts';
import { findRow } from '../../../platform/db/rows.ts';
import type { MetricId } from '../../../platform/ids.ts';
import { newId } from '../../../platform/ids.ts';
import { refuse } from '../../../platform/refusal.ts';
import { refuseFaults } from '../../../platform/schema/faults.ts';
import { billableMetrics } from '../../catalog/billable-metrics/queries.ts';
import { type AlertRow, getAlert, listAlertKeys, lockAlert, lockAlerts } from '../evaluate-alerts/queries.ts';
import { insertAlerts, markAlertsDeleted, type NewAlert, updateAlertRow } from '../evaluate-alerts/writes.ts';
import { type AlertPlace, type AlertTarget, findTarget, lockTarget } from './alerted-subscription-or-wallet.ts';
import {
  type AlertFaults,
  codeFaults,
  metricFaults,
  nameFaults,
  readThresholds,
  textOrNull,
  typeFaults,
} from './definition.ts';
import { showAlert, showAlerts } from './reads.ts';
import type { AlertCreateBody, GivenAlert } from './schema.ts';

type AlertKey = Pick<AlertRow, 'id' | 'code' | 'alert_type' | 'billable_metric_id'>;

/**
 * Makes one alert of a subscription or a wallet, or several, all or nothing, and evaluates them.
 *
 * @throws Refusal 404 subscription, customer, wallet, billable_metric
 * @throws Refusal 422 by field; of several alerts by index, each with what was sent: `{"0": {params, errors}}`
 * Rule: alerts.md#endpoints-and-fields.
 */
export async function createAlerts(ctx: Context, { body, ...place }: AlertPlace & { body: AlertCreateBody }) {
  const target = await lockTarget(ctx, place);
  const { owner } = target;
  const given = 'alert' in body ? [body.alert] : body.alerts;
  if (given.length === 0) throw refuse.invalid({ alerts: ['no_alerts'] });
  const refuseFaults = (faults: ReadonlyMap<number, AlertFaults>) => {
    if (faults.size === 0) return;
    if ('alert' in body) throw refuse.invalid(faults.get(0)!);
    throw refuse.invalid(
      Object.fromEntries([...faults].map(([index, errors]) => [index, { params: given[index], errors }])),
    );
  };
  const alerts = await readNewAlerts(ctx, target, given, refuseFaults);
  refuseFaults(takenFaults(alerts, await listAlertKeys(ctx, owner)));
  const stored = await insertAlerts(ctx, owner, { alerts, now: ctx.now() });
  // Another transaction was faster; its alerts are visible now.
  if (stored < alerts.length) refuseFaults(takenFaults(alerts, await listAlertKeys(ctx, owner)));
  await target.look();

  const byId = new Map((await lockAlerts(ctx, owner)).map((alert) => [alert.id, alert]));
  const rows = alerts.map(({ id }) => byId.get(id)!);
  return 'alert' in body ? showAlert(ctx, rows[0]!) : showAlerts(ctx, rows, { page: 1, per_page: rows.length });
}

/**
 * Changes an alert; what is absent stays, its type always does. Thresholds that are given replace all. With
 * another metric the comparison starts again.
 *
 * @throws Refusal 404 alert, billable_metric; 422 by field
 */
export async function updateAlert(
  ctx: Context,
  { code, body, ...place }: AlertPlace & { code: string; body: GivenAlert },
) {
  const target = await lockTarget(ctx, place);
  const { owner } = target;
  // All of them, in the order in which evaluations lock them.
  const alerts = await lockAlerts(ctx, owner);
  const stored = alerts.find((alert) => alert.code === code);
  if (!stored) throw refuse.notFound('alert');
  const keepsThresholds = !Array.isArray(body.thresholds) || body.thresholds.length === 0;
  const read = keepsThresholds ? { thresholds: stored.thresholds, faults: {} } : readThresholds(body.thresholds);
  const namesMetric = body.billable_metric_code !== undefined;
  const faults: AlertFaults = {
    ...(body.alert_type === undefined || body.alert_type === stored.alert_type
      ? {}
      : { alert_type: ['value_is_frozen'] }),
    ...read.faults,
    ...(namesMetric ? metricFaults(stored.alert_type, body.billable_metric_code) : {}),
    ...(body.code === undefined ? {} : codeFaults(body.code)),
    ...nameFaults(body.name),
  };
  refuseFaults(faults);
  const metricId =
    namesMetric && isOfMetric(stored.alert_type)
      ? await metricIdOf(ctx, body.billable_metric_code)
      : stored.billable_metric_id;

  const changed = {
    id: stored.id,
    alert_type: stored.alert_type,
    billable_metric_id: metricId,
    code: body.code === undefined ? stored.code : String(body.code).trim(),
    name: body.name === undefined ? stored.name : textOrNull(body.name),
    thresholds: read.thresholds,
    previous_value: metricId === stored.billable_metric_id ? stored.previous_value : ZERO,
  };
  const taken = takenFaults([changed], alerts).get(0);
  if (taken) throw refuse.invalid(taken);
  await updateAlertRow(ctx, changed, ctx.now());
  await target.look();
  return showAlert(ctx, await getAlert(ctx, owner, changed.code));
}

/**
 * Deletes an alert: its code and type are free again. Answers it as it was.
 *
 * @throws Refusal 404 subscription, customer, wallet, alert
 */
export async function deleteAlert(ctx: Context, { code, ...place }: AlertPlace & { code: string }) {
  const { owner } = await findTarget(ctx, place);
  const alert = await lockAlert(ctx, owner, code);
  await markAlertsDeleted(ctx, [alert.id], ctx.now());
  return showAlert(ctx, alert);
}

/** Deletes every alert of a subscription or a wallet. @throws Refusal 404 subscription, customer, wallet */
export async function deleteAlerts(ctx: Context, place: AlertPlace) {
  const { owner } = await findTarget(ctx, place);
  const alerts = await lockAlerts(ctx, owner);
  await markAlertsDeleted(
    ctx,
    alerts.map(({ id }) => id),
    ctx.now(),
  );
  return null;
}

/** Reads alerts in the order of the checks: first the input alone, then the metric, then whether it fits the type. */
async function readNewAlerts(
  ctx: Context,
  target: AlertTarget,
  given: readonly unknown[],
  refuseFaults: (faults: ReadonlyMap<number, AlertFaults>) => void,
): Promise<NewAlert[]> {
  const items = given.map((each) => (typeof each === 'object' && each !== null ? (each as GivenAlert) : {}));
  const read = items.map((item) => readThresholds(item.thresholds));
  refuseFaults(
    faulty(items, (item, index) => ({ ...typeFaults(item.alert_type, target.kind), ...read[index]!.faults })),
  );
  const metricIds = new Map<string, string>();
  for (const { billable_metric_code: given } of items) {
    const code = textOrNull(given);
    if (code !== null && !metricIds.has(code)) metricIds.set(code, await metricIdOf(ctx, code));
  }
  refuseFaults(
    faulty(items, (item) => ({
      ...metricFaults(item.alert_type as AlertType, item.billable_metric_code),
      ...codeFaults(item.code),
      ...nameFaults(item.name),
    })),
  );
  return items.map((item, index) => ({
    id: newId(),
    alert_type: item.alert_type as AlertType,
    billable_metric_id: metricIds.get(textOrNull(item.billable_metric_code) ?? '') ?? null,
    code: String(item.code).trim(),
    name: textOrNull(item.name),
    thresholds: read[index]!.thresholds,
    previous_value: target.presentOf(item.alert_type as AlertType),
  }));
}

const faulty = <Item>(items: readonly Item[], faultsOf: (item: Item, index: number) => AlertFaults) =>
  new Map(
    items
      .map((item, index) => [index, faultsOf(item, index)] as const)
      .filter(([, faults]) => Object.keys(faults).length > 0),
  );

/** Codes and types that others have, or that stand twice in one request. */
const takenFaults = (alerts: readonly AlertKey[], others: readonly AlertKey[]): ReadonlyMap<number, AlertFaults> =>
  faulty(alerts, (alert, index) => {
    const known = [...others, ...alerts.slice(0, index)].filter(({ id }) => id !== alert.id);
    const isSameKind = (other: AlertKey) =>
      other.alert_type === alert.alert_type && other.billable_metric_id === alert.billable_metric_id;
    return {
      ...(known.some(({ code }) => code === alert.code) ? { code: ['value_already_exist'] } : {}),
      ...(known.some(isSameKind) ? { base: ['alert_already_exists'] } : {}),
    };
  });

/** @throws Refusal 404 billable_metric */
async function metricIdOf(ctx: Context, code: unknown): Promise<MetricId> {
  const metric = await findRow(ctx, billableMetrics, String(code).trim());
  if (!metric) throw refuse.notFound('billable_metric');
  return metric.id;
}
