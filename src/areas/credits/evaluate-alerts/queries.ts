import type { Temporal } from 'temporal-polyfill';
import type { AlertType } from '../../../engine/alerts/alert-types.ts';
import type { Decimal } from '../../../engine/money/decimal.ts';
import type { Db } from '../../../platform/db/connect.ts';
import type { Scope } from '../../../platform/db/scope.ts';
import type { AlertId, ExternalSubscriptionId, MetricId, WalletId } from '../../../platform/ids.ts';
import { limitOf, type Page } from '../../../platform/lists/pagination.ts';
import { refuse } from '../../../platform/refusal.ts';

/** A threshold as it is stored, its value as plain text. */
export interface ThresholdJson {
  code: string | null;
  value: string;
  recurring: boolean;
}

export interface AlertRow {
  id: AlertId;
  external_subscription_id: ExternalSubscriptionId | null;
  wallet_id: WalletId | null;
  wallet_code: string | null;
  alert_type: AlertType;
  billable_metric_id: MetricId | null;
  code: string;
  name: string | null;
  thresholds: ThresholdJson[];
  previous_value: Decimal;
  evaluations: number;
  last_processed_at: Temporal.Instant | null;
  created_at: Temporal.Instant;
}

const columns = (db: Db) => db`
  alert.id, alert.external_subscription_id, alert.wallet_id,
  (select wallet.code from wallets wallet
    where wallet.organization_id = alert.organization_id and wallet.id = alert.wallet_id) as wallet_code,
      alert.alert_type, alert.billable_metric_id, alert.code,
  alert.name, alert.thresholds, alert.previous_value, alert.evaluations, alert.last_processed_at, alert.created_at`;

/** Whose alerts. */
export type AlertOwner = { external_subscription_id: ExternalSubscriptionId } | { wallet_id: WalletId };

const owned = ({ db, organizationId }: Scope, owner: AlertOwner) => db`
  alert.organization_id = ${organizationId} and alert.deleted_at is null and ${
    'wallet_id' in owner
      ? db`alert.wallet_id = ${owner.wallet_id}`
      : db`alert.external_subscription_id = ${owner.external_subscription_id}`
  }`;

/** A page of alerts, newest first. */
export const listAlerts = (scope: Scope, owner: AlertOwner, page: Page) => scope.db<AlertRow[]>`
  select ${columns(scope.db)} from alerts alert where ${owned(scope, owner)}
  order by alert.created_at desc, alert.id desc
  limit ${limitOf(page).limit} offset ${limitOf(page).offset}`;

export async function countAlerts(scope: Scope, owner: AlertOwner): Promise<number> {
  const [row] = await scope.db<{ count: number }[]>`
    select count(*) from alerts alert where ${owned(scope, owner)}`;
  return row!.count;
}

/** @throws Refusal 404 alert */
export async function getAlert(scope: Scope, owner: AlertOwner, code: string): Promise<AlertRow> {
  const [row] = await scope.db<AlertRow[]>`
    select ${columns(scope.db)} from alerts alert where ${owned(scope, owner)} and alert.code = ${code}`;
  if (!row) throw refuse.notFound('alert');
  return row;
}

/** As getAlert, and the alert is neither changed nor evaluated until the transaction ends. @throws Refusal 404 alert */
export async function lockAlert(scope: Scope, owner: AlertOwner, code: string): Promise<AlertRow> {
  const [row] = await scope.db<AlertRow[]>`
    select ${columns(scope.db)} from alerts alert where ${owned(scope, owner)} and alert.code = ${code}
    for update`;
  if (!row) throw refuse.notFound('alert');
  return row;
}

/** Every alert of an owner, locked: a value to compare is read after this. */
export const lockAlerts = (scope: Scope, owner: AlertOwner) => scope.db<AlertRow[]>`
  select ${columns(scope.db)} from alerts alert where ${owned(scope, owner)}
  order by alert.id
  for update`;

/** Code, type and metric of every alert of an owner: what a new one may not repeat. */
export const listAlertKeys = (scope: Scope, owner: AlertOwner) => scope.db<
  Pick<AlertRow, 'id' | 'code' | 'alert_type' | 'billable_metric_id'>[]
>`
  select alert.id, alert.code, alert.alert_type, alert.billable_metric_id from alerts alert
  where ${owned(scope, owner)}`;

/** @throws Refusal 404 subscription, of an external id that no record has */
export async function checkSubscription({ db, organizationId }: Scope, externalId: string): Promise<void> {
  const [row] = await db<{ found: boolean }[]>`
    select exists (
      select from subscriptions where organization_id = ${organizationId} and external_id = ${externalId}
    ) as found`;
  if (!row!.found) throw refuse.notFound('subscription');
}
