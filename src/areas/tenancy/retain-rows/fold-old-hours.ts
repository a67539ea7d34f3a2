import type { Sql } from '../../../platform/db/connect.ts';
import { keeps, type Selection } from './delete-old-rows.ts';

/**
 * Old hours of calls of language models become one row a day and group, that of its first hour: a correction of a call
 * of that day still finds its sum, and the day is summed as before. Rule: margins.md#sums.
 */
export const foldUsageHours = (sql: Sql, selection: Selection, limit: number) => sql`
  with old as materialized (
    select hours.organization_id, hours.external_subscription_id, hours.hour, hours.group_hash
    from ai_usage_hours hours
    where hours.hour < date_trunc('day', ${selection.before}::timestamptz, 'UTC')
      and (hours.hour at time zone 'UTC')::time <> '00:00' and ${keeps(sql, sql`hours.organization_id`, selection)}
    order by hours.hour
    limit ${limit}
  ), gone as (
    delete from ai_usage_hours hours using old
    where hours.organization_id = old.organization_id and hours.hour = old.hour
      and hours.external_subscription_id = old.external_subscription_id and hours.group_hash = old.group_hash
    returning hours.*
  ), folded as (
    insert into ai_usage_hours as known (organization_id, external_subscription_id, hour, group_hash, events, unpriced,
      input_tokens, output_tokens, cache_read_tokens, cost, amount)
    select organization_id, external_subscription_id, date_trunc('day', hour, 'UTC'), group_hash, sum(events),
      sum(unpriced), sum(input_tokens), sum(output_tokens), sum(cache_read_tokens), sum(cost), sum(amount)
    from gone
    group by organization_id, external_subscription_id, date_trunc('day', hour, 'UTC'), group_hash
    order by organization_id, external_subscription_id collate "C", date_trunc('day', hour, 'UTC'), group_hash
    on conflict (organization_id, external_subscription_id, hour, group_hash) do update set
      events = known.events + excluded.events, unpriced = known.unpriced + excluded.unpriced,
      input_tokens = known.input_tokens + excluded.input_tokens,
      output_tokens = known.output_tokens + excluded.output_tokens,
      cache_read_tokens = known.cache_read_tokens + excluded.cache_read_tokens,
      cost = known.cost + excluded.cost, amount = known.amount + excluded.amount
  )
  select from old`;
