import { Temporal } from 'temporal-polyfill';
import type { Budget } from '../../../engine/budgets/budget.ts';
import { decimal } from '../../../engine/money/decimal.ts';
import type { Db, Fragment } from '../../../platform/db/connect.ts';

/** A budget in JSON, whose decimals and instants are texts. */
export type BudgetJson = Omit<Budget, 'limit' | 'overrides' | 'offline_allowance' | 'created_at'> & {
  limit: string;
  overrides: { values: (string | null)[]; limit: string }[];
  offline_allowance: string;
  created_at: string;
};

/**
 * The live budgets of organization `o`, oldest first: the codes of a feature are those of the metrics that it limits at
 * this moment. Rule: budgets.md#definition.
 */
export const budgetsOf = (db: Db): Fragment => db`
  coalesce((
    select jsonb_agg(jsonb_build_object('id', b.id, 'code', b.code, 'customer_id', b.customer_id,
      'external_subscription_id', b.external_subscription_id,
      'codes', case when b.feature_code is null then to_jsonb(b.codes) else coalesce((
        select jsonb_agg(distinct m.code) from features f
        join feature_usage_limits l on l.organization_id = f.organization_id and l.feature_id = f.id
        join billable_metrics m on m.organization_id = l.organization_id and m.id = l.billable_metric_id
        where f.organization_id = o.id and f.code = b.feature_code and f.deleted_at is null and m.deleted_at is null
      ), '[]') end,
      'match', b.match, 'group_by', b.group_by, 'measure', b.measure,
      'metric', (
        select jsonb_build_object('code', m.code,
          'field_name', case when m.aggregation_type = 'sum_agg' then m.field_name end)
        from billable_metrics m
        where m.organization_id = o.id and m.code = b.billable_metric_code and m.deleted_at is null
      ),
      'currency', b.currency, 'limit', b.most::text, 'overrides', b.overrides, 'period', b.period,
      'timezone', b.timezone, 'mode', b.mode, 'alert_percents', b.alert_percents, 'on_outage', b.on_outage,
      'offline_allowance', b.offline_allowance::text, 'unknown_price', b.unknown_price, 'is_full', b.is_full,
      'created_at', to_json(b.created_at at time zone 'UTC') #>> '{}') order by b.created_at, b.id)
    from budgets b where b.organization_id = o.id and b.deleted_at is null
  ), '[]')`;

export const budgetOfJson = (json: BudgetJson): Budget => ({
  ...json,
  limit: decimal(json.limit),
  overrides: json.overrides.map(({ values, limit }) => ({ values, limit: decimal(limit) })),
  offline_allowance: decimal(json.offline_allowance),
  created_at: Temporal.Instant.from(`${json.created_at}Z`),
});
