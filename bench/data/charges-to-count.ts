import type { ChargeToCount, MetricToCount, UsageWindow } from '../../src/areas/usage/usage-counts/request.ts';
import { realNow } from '../../src/platform/clock/real-clock.ts';
import type { Environment } from '../harness/environment.ts';

interface ChargeRow {
  id: string;
  group_keys: string[];
  metric: MetricToCount;
  filters: { id: string; values: Record<string, string[]> }[];
}

/** The charges of the organization's plan, in the form that counting reads. */
export async function chargesToCount(
  { sql }: Environment,
  organizationId: string,
  externalSubscriptionId: string,
  window: UsageWindow,
): Promise<ChargeToCount[]> {
  const rows = await sql<ChargeRow[]>`
    select c.id,
      array(select jsonb_array_elements_text(coalesce(c.properties -> 'pricing_group_keys', '[]'))) as group_keys,
      jsonb_build_object('id', m.id, 'code', m.code, 'aggregation_type', m.aggregation_type, 'field_name', m.field_name,
        'filters', coalesce((select jsonb_agg(jsonb_build_object('key', f.key, 'values', f."values"))
          from billable_metric_filters f where f.billable_metric_id = m.id), '[]')) as metric,
      coalesce((select jsonb_agg(jsonb_build_object('id', f.id, 'values', f."values") order by f.position)
        from charge_filters f where f.charge_id = c.id), '[]') as filters
    from charges c join billable_metrics m on m.id = c.billable_metric_id
    where c.organization_id = ${organizationId}
    order by c.code`;
  const created_at = realNow();
  return rows.map((row) => ({
    key: row.id,
    externalSubscriptionId,
    metric: row.metric,
    filters: row.filters.map((filter) => ({ ...filter, created_at, groupKeys: [] })),
    groupKeys: row.group_keys,
    window,
  }));
}
