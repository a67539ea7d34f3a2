import type { Db, Sql } from '../../../platform/db/connect.ts';
import type { ExternalSubscriptionId, OrganizationId } from '../../../platform/ids.ts';
import type { SweepJob } from '../../../platform/periodic-job.ts';

/** How many days of subscriptions one transaction sums. */
const DAYS_AT_ONCE = 200;
/** How many groups of one subscription a day may have; further ones are left over (margins.md#sums). */
const MOST_GROUPS = 10_000;

interface ChangedDay {
  organization_id: OrganizationId;
  external_subscription_id: ExternalSubscriptionId;
  day: string;
}

/**
 * Every minute: days whose hours changed are summed again from these. Until then reads take their hours, so nothing
 * that is shown waits for it. Rules: periodic-jobs.md#ai-days, margins.md#sums.
 */
export const sumAiDays: SweepJob = {
  name: 'ai-days',
  async sweep({ sql }, _at, hold) {
    for (;;) {
      await hold?.();
      if ((await sumSome(sql)) < DAYS_AT_ONCE) return;
    }
  },
};

/** A change that comes while a day is summed waits for its mark, and marks the day again. */
const sumSome = (sql: Sql): Promise<number> =>
  sql.begin(async (tx) => {
    const days = await takeChanged(tx);
    if (days.length > 0) await sumDays(tx, days);
    return days.length;
  });

const takeChanged = (db: Db) => db<ChangedDay[]>`
  delete from ai_changed_days
  where (organization_id, external_subscription_id, day) in (
    select organization_id, external_subscription_id, day from ai_changed_days
    order by organization_id, external_subscription_id, day
    limit ${DAYS_AT_ONCE} for update skip locked)
  returning organization_id, external_subscription_id, day::text as day`;

const sumDays = (db: Db, days: readonly ChangedDay[]) => db`
  with changed as materialized (
    select * from unnest(${days.map(({ organization_id: id }) => id)}::uuid[],
      ${days.map(({ external_subscription_id: id }) => id)}::text[], ${days.map(({ day }) => day)}::date[])
      as changed (organization_id, external_subscription_id, day)
  ), summed as materialized (
    select changed.*, hours.group_hash, sum(events) as events, sum(unpriced) as unpriced,
      sum(input_tokens) as input_tokens, sum(output_tokens) as output_tokens,
      sum(cache_read_tokens) as cache_read_tokens, sum(cost) as cost, sum(amount) as amount
    from changed
    join ai_usage_hours hours on hours.organization_id = changed.organization_id
      and hours.external_subscription_id = changed.external_subscription_id
      and hours.hour >= changed.day::timestamp at time zone 'UTC'
      and hours.hour < (changed.day + 1)::timestamp at time zone 'UTC'
    group by changed.organization_id, changed.external_subscription_id, changed.day, hours.group_hash
  ), crowded as (
    insert into ai_crowded_days (organization_id, external_subscription_id, day)
    select organization_id, external_subscription_id, day from summed
    group by organization_id, external_subscription_id, day having count(*) >= ${MOST_GROUPS}
    on conflict do nothing
  ), stored as (
    insert into ai_usage_days (organization_id, day, external_subscription_id, group_hash, events, unpriced,
      input_tokens, output_tokens, cache_read_tokens, cost, amount)
    select organization_id, day, external_subscription_id, group_hash, events, unpriced, input_tokens, output_tokens,
      cache_read_tokens, cost, amount
    from summed
    on conflict (organization_id, day, external_subscription_id, group_hash) do update set
      events = excluded.events, unpriced = excluded.unpriced, input_tokens = excluded.input_tokens,
      output_tokens = excluded.output_tokens, cache_read_tokens = excluded.cache_read_tokens, cost = excluded.cost,
      amount = excluded.amount
    returning true
  )
  select count(*) from stored`;
