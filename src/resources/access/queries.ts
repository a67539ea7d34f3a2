import type { Temporal } from 'temporal-polyfill';
import type { Db } from '../../platform/db/connect.ts';
import type { Period as LimitPeriod } from '../features/schema.ts';
import type { MetricToCount } from '../usage-counts/request.ts';

/** A limit of a feature's usage with the metric that it counts. */
export interface LimitRow {
  privilege_code: string;
  period: LimitPeriod;
  metric: MetricToCount & { recurring: boolean };
}

/** Usage limits of a feature in their order. Rule: beyond 11.1. */
export const listUsageLimits = (db: Db, organizationId: string, featureCode: string) => db<LimitRow[]>`
  select privilege.code as privilege_code, usage_limit.period,
    jsonb_build_object('id', metric.id, 'code', metric.code, 'aggregation_type', metric.aggregation_type,
      'field_name', metric.field_name, 'recurring', metric.recurring, 'filters', '[]'::jsonb) as metric
  from features feature
  join feature_usage_limits usage_limit
    on usage_limit.organization_id = feature.organization_id and usage_limit.feature_id = feature.id
  join privileges privilege
    on privilege.organization_id = usage_limit.organization_id and privilege.id = usage_limit.privilege_id
  join billable_metrics metric on metric.organization_id = usage_limit.organization_id
    and metric.id = usage_limit.billable_metric_id and metric.deleted_at is null
  where feature.organization_id = ${organizationId} and feature.code = ${featureCode} and feature.deleted_at is null
  order by usage_limit.place`;

export interface WalletFigures {
  wallets_count: number;
  balance_cents: number;
  ongoing_balance_cents: number;
  /** Open holds, and settled ones that the ongoing balance does not contain yet. */
  held_cents: number;
}

/** The active wallets of a customer together: the one of a code, or all of a currency. Rule: beyond 11.2, 11.3. */
export async function readWalletFigures(
  db: Db,
  organizationId: string,
  which: { customerId: string; code: string } | { customerId: string; currency: string },
  now: Temporal.Instant,
): Promise<WalletFigures & { currency: string | null }> {
  const [row] = await db<(WalletFigures & { currency: string | null })[]>`
    select count(*) as wallets_count, min(wallet.currency) as currency,
      coalesce(sum(wallet.balance_cents), 0)::bigint as balance_cents,
      coalesce(sum(wallet.ongoing_balance_cents), 0)::bigint as ongoing_balance_cents,
      coalesce(sum((
        select sum(hold.amount_cents) from wallet_holds hold
        where hold.wallet_id = wallet.id and hold.organization_id = wallet.organization_id
          and (hold.status = 'open' and hold.expires_at > ${now} or hold.awaits_refresh))), 0)::bigint as held_cents
    from wallets wallet
    where wallet.organization_id = ${organizationId} and wallet.customer_id = ${which.customerId}
      and wallet.status = 'active' and ${
        'code' in which ? db`wallet.code = ${which.code}` : db`wallet.currency = ${which.currency}`
      }`;
  return row!;
}
