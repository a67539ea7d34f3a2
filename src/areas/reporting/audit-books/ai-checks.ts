import { realNow } from '../../../platform/clock/real-clock.ts';
import type { Context } from '../../../platform/context.ts';
import { isoText } from '../../../platform/db/iso-text.ts';
import { bookSettings } from '../../catalog/model-books/book-settings.ts';
import { RETENTION_CLASSES } from '../../tenancy/retention/retention-classes.ts';
import { doorSettings } from '../../usage/ai-doors/door-settings.ts';
import { callColumns, figuresOf } from '../../usage/ai-usage-sums/change-hours.ts';
import { explainRatings } from '../../usage/event-rating/explain-rating.ts';
import { isClosed } from '../../usage/event-retention/closed-time.ts';
import { isLiveOfCode } from '../../usage/events/live-events.ts';
import { parseProperties } from '../../usage/events/property-json.ts';
import { type Check, type Finding, MOST_FINDINGS } from './check-of-an-invariant.ts';

/** How many calls are rated again: the newest ones. */
const CALLS = 1000;
/** How many hours of subscriptions are summed again: the newest ones. */
const HOURS = 200;

/** Invariants of calls of language models. Rule: auditor.md. */
export const AI_CHECKS: readonly Check[] = [
  {
    code: 'A32',
    mustHold: 'the amount of a call is what the prices of its book make of it',
    resourceType: 'Event',
    find: findMisrated,
  },
  {
    code: 'A33',
    mustHold: 'sums of calls are what their events amount to',
    resourceType: 'AiUsageHour',
    isSlow: true,
    find: findDifferingSums,
  },
];

interface RatedEvent {
  id: string;
  timestamp: string;
  properties: string;
  amount: string | null;
}

/** Calls whose amount nobody wrote by hand. */
async function findMisrated({ db, organizationId }: Context): Promise<Finding[]> {
  const [row] = await db<{ ai_settings: Record<string, unknown> }[]>`
    select ai_settings from organizations where id = ${organizationId}`;
  const stored = row!.ai_settings;
  const settings = bookSettings(stored);
  const events = await db<RatedEvent[]>`
    select e.id, ${isoText(db, db`e.timestamp`)} as timestamp, e.properties::text as properties,
      trim_scale(e.precise_total_amount_cents)::text as amount
    from events e
    where e.organization_id = ${organizationId} and e.code = ${doorSettings(stored).eventCode}
      and ${isLiveOfCode(db)} and e.properties ? 'ai_book' and not exists (
        select from event_versions former
        join event_corrections correction on correction.organization_id = former.organization_id
          and correction.id = former.correction_id and correction.kind = 'amend'
        where former.organization_id = e.organization_id and former.event_id = e.id)
    order by e.timestamp desc, e.transaction_id
    limit ${CALLS}`;
  const explained = await explainRatings(
    db,
    events.map(({ properties, amount, timestamp }) => ({
      organizationId,
      settings,
      properties: parseProperties(properties),
      amountCents: amount,
      at: timestamp,
    })),
  );
  return events
    .filter((_, index) => explained[index]?.matches === false)
    .slice(0, MOST_FINDINGS)
    .map(({ id, amount }) => ({ resource_id: id, expected: 'what its parts cost by its book', actual: amount }));
}

/** Hours of open time whose events are all counted and named, and which are not folded into days yet. */
function findDifferingSums({ db, organizationId }: Context) {
  const kept = RETENTION_CLASSES.ai_usage_hours.default;
  return db<Finding[]>`
  with waiting as materialized (
    select distinct e.external_subscription_id, date_trunc('hour', e.timestamp, 'UTC') as hour
    from event_batches batch
    cross join unnest(batch.event_ids) as member (id)
    join events e on e.id = member.id and e.organization_id = ${organizationId}
    where batch.organization_ids @> array[${organizationId}::uuid]
  ), sampled as materialized (
    select hours.external_subscription_id, hours.hour, array_agg(distinct g.code) as codes,
      jsonb_build_array(sum(events), sum(unpriced), sum(input_tokens), sum(output_tokens), sum(cache_read_tokens),
        trim_scale(sum(cost)), trim_scale(sum(amount))) as figures
    from ai_usage_hours hours
    join ai_groups g on g.organization_id = hours.organization_id and g.group_hash = hours.group_hash
    where hours.organization_id = ${organizationId}
      and hours.hour >= ${realNow()}::timestamptz - interval '1 day' * coalesce((
        select rule.days from retention_rules rule
        where rule.organization_id = ${organizationId} and rule.class = 'ai_usage_hours'), ${kept}::integer)
      and not exists (
        select from waiting
        where waiting.external_subscription_id = hours.external_subscription_id and waiting.hour = hours.hour)
      and not ${isClosed(db, {
        organizationId: db`hours.organization_id`,
        subscription: db`hours.external_subscription_id`,
        code: db`g.code`,
        at: db`hours.hour`,
      })}
    group by hours.external_subscription_id, hours.hour
    having bool_and(g.code <> '')
    order by hours.hour desc, hours.external_subscription_id
    limit ${HOURS}
  ), counted as (
    select sampled.*, (
        select jsonb_build_array(count(*), coalesce(sum(unpriced), 0), coalesce(sum(input_tokens), 0),
          coalesce(sum(output_tokens), 0), coalesce(sum(cache_read_tokens), 0), trim_scale(coalesce(sum(cost), 0)),
          trim_scale(coalesce(sum(amount), 0)))
        from (
          select ${callColumns(db)}
          from events e cross join lateral ${figuresOf(db)} figure
          where e.organization_id = ${organizationId} and e.deleted_at is null and e.code = any (sampled.codes)
            and e.external_subscription_id = sampled.external_subscription_id and e.timestamp >= sampled.hour
            and e.timestamp < sampled.hour + interval '1 hour' and e.properties ? 'ai_status'
        ) call
      ) as expected
    from sampled
  )
  select external_subscription_id || ':' || hour::text as resource_id, expected::text as expected,
    figures::text as actual, jsonb_build_object('hour', hour) as details
  from counted where expected <> figures
  limit ${MOST_FINDINGS}`;
}
