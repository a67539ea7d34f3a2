import type { Temporal } from 'temporal-polyfill';
import type { Scope } from '../../../platform/db/scope.ts';
import type { CustomerId, WalletId } from '../../../platform/ids.ts';
import type { Period as LimitPeriod } from '../../catalog/features/schema.ts';
import type { MetricToCount } from '../usage-counts/request.ts';
import { heldCentsAt } from './held-sum.ts';

/** A limit of a feature's usage with the metric that it counts. */
export interface LimitRow {
  feature_code: string;
  privilege_code: string;
  period: LimitPeriod;
  metric: MetricToCount & { recurring: boolean };
}

/** Usage limits of a feature, or of all, in their order. Rule: entitlements.md#usage-limits. */
export const listUsageLimits = ({ db, organizationId }: Scope, featureCode: string | null) => db<LimitRow[]>`
  select feature.code as feature_code, privilege.code as privilege_code, usage_limit.period,
    jsonb_build_object('id', metric.id, 'code', metric.code, 'aggregation_type', metric.aggregation_type,
      'field_name', metric.field_name, 'recurring', metric.recurring, 'filters', '[]'::jsonb) as metric
  from features feature
  join feature_usage_limits usage_limit
    on usage_limit.organization_id = feature.organization_id and usage_limit.feature_id = feature.id
  join privileges privilege
    on privilege.organization_id = usage_limit.organization_id and privilege.id = usage_limit.privilege_id
  join billable_metrics metric on metric.organization_id = usage_limit.organization_id
    and metric.id = usage_limit.billable_metric_id and metric.deleted_at is null
  where feature.organization_id = ${organizationId} ${featureCode === null ? db`` : db`and feature.code = ${featureCode}`}
    and feature.deleted_at is null
  order by usage_limit.feature_id, usage_limit.place`;

/** An active wallet. */
export interface WalletStanding {
  id: WalletId;
  code: string;
  currency: string;
  balance_cents: number;
  ongoing_balance_cents: number;
  /** Open holds, and settled ones that the ongoing balance does not contain yet. */
  held_cents: number;
}

export interface Standing {
  /** The highest priority first. */
  wallets: WalletStanding[];
  /** When the first of the open holds expires. */
  hold_ends_at: Temporal.Instant | null;
  /** Whether an invoice is overdue and the organization denies access to such customers. */
  is_overdue: boolean;
  snapshot: string;
}

/**
 * Credits and overdue invoices of a customer, and the snapshot that the transaction reads. Rules: access-check.md,
 * wallet-holds.md.
 */
export async function readStanding(
  { db, organizationId }: Scope,
  customerId: CustomerId,
  now: Temporal.Instant,
): Promise<Standing> {
  const [row] = await db<[Standing]>`
    with wallet as materialized (
      select wallet.id, wallet.priority, wallet.created_at, wallet.code, wallet.currency, wallet.balance_cents,
        wallet.ongoing_balance_cents,
        ${heldCentsAt(db, now)} as held_cents,
        (select min(hold.expires_at) from wallet_holds hold
          where hold.organization_id = wallet.organization_id and hold.wallet_id = wallet.id and hold.status = 'open'
            and hold.expires_at > ${now}) as ends_at
      from wallets wallet
      join wallet_held held on held.organization_id = wallet.organization_id and held.wallet_id = wallet.id
      where wallet.organization_id = ${organizationId} and wallet.customer_id = ${customerId} and wallet.status = 'active'
    )
    select pg_current_snapshot()::text as snapshot,
      (select min(ends_at) from wallet) as hold_ends_at,
      coalesce((select jsonb_agg(
        to_jsonb(wallet) - array['priority', 'created_at', 'ends_at'] order by priority, created_at, id)
          from wallet), '[]') as wallets,
      exists (select from organizations where id = ${organizationId} and deny_when_overdue)
        and exists (select from invoices
          where organization_id = ${organizationId} and customer_id = ${customerId} and payment_overdue) as is_overdue`;
  return row;
}
