import { bucketOf } from '../../../engine/explain/filter-of-usage.ts';
import { instantOf } from '../../../engine/explain/read-stored-inputs.ts';
import type { StoredFeeInputs } from '../../../engine/explain/stored-inputs.ts';
import type { GroupedBy } from '../../../engine/metrics/group-values.ts';
import type { Db, Fragment } from '../../../platform/db/connect.ts';
import { isoText } from '../../../platform/db/iso-text.ts';
import type { Scope } from '../../../platform/db/scope.ts';
import type { ExternalSubscriptionId } from '../../../platform/ids.ts';
import { countMatching, type Total } from '../../../platform/lists/count.ts';
import { meteredNumber } from '../../catalog/usage-shapes/numeric-properties.ts';
import { listRemovedWindows } from '../../usage/event-retention/closed-time.ts';
import { isLive } from '../../usage/events/live-events.ts';
import type { ShownEvent } from '../../usage/events/view.ts';
import { isOfFilter } from '../../usage/usage-counts/events-of-filter.ts';
import type { FeeInputsRow } from './queries.ts';

/** A usage fee whose events are asked for. */
export interface CountedFee extends Pick<FeeInputsRow, 'fee_id' | 'inputs' | 'events_watermark'> {
  external_subscription_id: ExternalSubscriptionId | null;
  /** Events of its window were removed, and brought back from the archive: they are read there too. */
  isRestored?: boolean;
}

/** Where the events of a fee are read, as a table without a name. */
export const eventsFor = (db: Db, { isRestored }: CountedFee): Fragment =>
  isRestored ? db`(select * from events union all select * from restored_events)` : db`events`;

const NO_ID = '00000000-0000-0000-0000-000000000000';

/**
 * A part of a window, by the timestamps that its events have today: those of `[from, to)` as ISO texts, or the events
 * that a correction has moved out of the window since. All parts together hold each event of the window once.
 */
export type WindowPart = { from: string; to: string } | 'strays';

/**
 * The events behind a usage fee as `event`, each as it was when the fee was made: those of its charge's window up to
 * the watermark, or of a part of it, in spite of later corrections; for a fee of one event that event.
 *
 * Rules: fee-explanations.md, invoice-verification.md#route "versions valid then".
 */
export const eventsOfWindow = ({ db, organizationId }: Scope, fee: CountedFee, part?: WindowPart): Fragment => db`
  (
    select e.id, e.transaction_id, e.external_subscription_id, e.created_at,
      coalesce(former.timestamp, e.timestamp) as timestamp, coalesce(former.code, e.code) as code,
      case when former.event_id is null then e.properties else former.properties end as properties,
      case when former.event_id is null then e.precise_total_amount_cents else former.precise_total_amount_cents end
        as precise_total_amount_cents
    from ${foundEvents({ db, organizationId }, fee, part)} e
    left join lateral (
      select version.event_id, version.code, version.timestamp, version.properties, version.precise_total_amount_cents
      from event_versions version
      where version.organization_id = e.organization_id and version.event_id = e.id
        and version.correction_id > ${fee.fee_id}
      order by version.version
      limit 1
    ) former on true
    where (e.deleted_at is null or former.event_id is not null) and ${wasInReach(db, fee)}
  ) event`;

/** Of those, only the events of the fee's filter and group that its aggregation counts. */
export const eventsOfFee = (scope: Scope, fee: CountedFee, part?: WindowPart): Fragment => scope.db`
  ${eventsOfWindow(scope, fee, part)}
  where ${isOfFee(scope.db, fee)}`;

/** An event behind a fee; of a call of a language model with the settings of its book. */
export interface RatedEvent extends ShownEvent {
  ai_settings: Record<string, unknown> | null;
}

/**
 * A page of the events behind a fee, oldest first. Events that no later correction touched come in the order of their
 * index and end with the page; the few that one has touched are sorted.
 */
export function listEventsOfFee(scope: Scope, fee: CountedFee, { limit, offset }: Rows) {
  const { db } = scope;
  const first = db`order by event.timestamp, event.created_at, event.id limit ${offset + limit}`;
  return db<RatedEvent[]>`
    select id, transaction_id, external_subscription_id, code, ${isoText(db, db`timestamp`)} as timestamp,
      properties::text as properties, trim_scale(precise_total_amount_cents)::text as precise_total_amount_cents,
      ${isoText(db, db`created_at`)} as created_at, case when properties ? 'ai_book' then (
        select o.ai_settings from organizations o where o.id = ${scope.organizationId}) end as ai_settings
    from (
      (select event.* from ${uncorrectedEvents(scope, fee)} ${first})
      union all
      (select event.* from ${correctedEvents(scope, fee)} ${first})
    ) event
    order by event.timestamp, event.created_at, event.id
    limit ${limit} offset ${offset}`;
}

interface Rows {
  limit: number;
  offset: number;
}

export const countEventsOfFee = (scope: Scope, fee: CountedFee): Promise<Total> =>
  countMatching(
    scope.db,
    scope.db`(select event.id from ${uncorrectedEvents(scope, fee)}
      union all
      select event.id from ${correctedEvents(scope, fee)}) event`,
  );

/** The events of a fee that were not corrected since it was made. */
function uncorrectedEvents({ db, organizationId }: Scope, fee: CountedFee): Fragment {
  const { metric, usage } = fee.inputs;
  const { from, to } = boundsOf(fee.inputs);
  const inReach =
    usage?.event === undefined
      ? db`e.code = ${metric?.code ?? null} and e.timestamp >= ${from}::timestamptz and e.timestamp < ${to}
        ${wasInWindow(db, fee, db`e.timestamp`)}`
      : db`e.id = ${usage.event.id}`;
  // A subquery of one value, which leaves the order of the index as it is.
  return db`
    (
      select e.id, e.transaction_id, e.external_subscription_id, e.created_at, e.timestamp, e.code, e.properties,
        e.precise_total_amount_cents
      from ${eventsFor(db, fee)} e
      where e.organization_id = ${organizationId} and e.external_subscription_id = ${fee.external_subscription_id}
        and ${usage?.event === undefined ? db`e.deleted_at is null` : isLive(db, db`e`)} and ${inReach}
        and (select version.event_id from event_versions version
          where version.organization_id = e.organization_id and version.event_id = e.id
            and version.correction_id > ${fee.fee_id} limit 1) is null
    ) event
    where ${isOfFee(db, fee)}`;
}

/** The events that were corrected since, as they were when the fee was made. */
function correctedEvents({ db, organizationId }: Scope, fee: CountedFee): Fragment {
  const { metric, usage } = fee.inputs;
  const { from, to } = boundsOf(fee.inputs);
  const inReach =
    usage?.event === undefined
      ? db`former.code = ${metric?.code ?? null} and former.timestamp >= ${from}::timestamptz
        and former.timestamp < ${to} ${wasInWindow(db, fee, db`former.timestamp`)}`
      : db`e.id = ${usage.event.id}`;
  return db`
    (
      select e.id, e.transaction_id, e.external_subscription_id, e.created_at, former.timestamp, former.code,
        former.properties, former.precise_total_amount_cents
      from (
        select distinct on (version.event_id) version.event_id, version.code, version.timestamp, version.properties,
          version.precise_total_amount_cents
        from event_versions version
        where version.organization_id = ${organizationId} and version.correction_id > ${fee.fee_id}
        order by version.event_id, version.version
      ) former
      cross join lateral ${eventOf({ db, organizationId }, fee, db`former.event_id`)} e
      where e.external_subscription_id = ${fee.external_subscription_id} and ${inReach}
    ) event
    where ${isOfFee(db, fee)}`;
}

/** Which of some fees have lost events, and whether those were brought back. One statement. */
export const listRemovedOf = (scope: Scope, fees: readonly CountedFee[]) =>
  listRemovedWindows(
    scope,
    fees.map((fee) => ({
      key: fee.fee_id,
      subscription: fee.external_subscription_id,
      code: fee.inputs.metric?.code ?? null,
      ...boundsOf(fee.inputs),
    })),
  );

/** Bounds `[from, to)` of the window in which a fee's events were counted, as ISO texts. */
export function boundsOf({ metric, window }: StoredFeeInputs): { from: string; to: string } {
  // Counting cuts the start to the millisecond.
  const from = metric?.recurring
    ? '-infinity'
    : instantOf(window.fee.from).round({ smallestUnit: 'millisecond', roundingMode: 'trunc' }).toString();
  return { from, to: instantOf(window.renewed ? window.fee.from : window.fee.to).toString() };
}

/**
 * All events that may be behind a fee, by what they are today: those of its window, each kind by its own index, and
 * those that were corrected since and are outside of it now.
 */
function foundEvents({ db, organizationId }: Scope, fee: CountedFee, part?: WindowPart): Fragment {
  const { usage, metric } = fee.inputs;
  const bounds = boundsOf(fee.inputs);
  const ofSubscription = db`
    select * from ${eventsFor(db, fee)} e
    where e.organization_id = ${organizationId} and e.external_subscription_id = ${fee.external_subscription_id}`;
  if (usage?.event !== undefined) return db`(${ofSubscription} and e.id = ${usage.event.id})`;
  const isBetween = ({ from, to }: { from: string; to: string }) => db`
    e.code = ${metric?.code ?? null} and e.timestamp >= ${from}::timestamptz and e.timestamp < ${to}`;
  const strays = db`
    select e.* from (
      select distinct version.event_id from event_versions version
      where version.organization_id = ${organizationId} and version.correction_id > ${fee.fee_id}
    ) corrected
    cross join lateral ${eventOf({ db, organizationId }, fee, db`corrected.event_id`)} e
    where e.external_subscription_id = ${fee.external_subscription_id} and not (${isBetween(bounds)})`;
  if (part === 'strays') return db`(${strays})`;
  const between = isBetween(part ?? bounds);
  return db`
    (${ofSubscription} and e.deleted_at is null and ${between}
    union all ${ofSubscription} and e.deleted_at is not null and ${between}
    ${part === undefined ? db`union all ${strays}` : db``})`;
}

/**
 * The event of an id, looked up by itself. In a join, a guess at how many events were corrected would decide between
 * looking them up and reading all events, and without statistics it is a guess in the dark.
 */
const eventOf = ({ db, organizationId }: Scope, fee: CountedFee, id: Fragment): Fragment => db`
  (select * from ${eventsFor(db, fee)} e where e.organization_id = ${organizationId} and e.id = ${id} offset 0)`;

/** Whether an event `e` with its state then, `former`, was in the fee's window. */
function wasInReach(db: Db, fee: CountedFee): Fragment {
  const { usage, metric } = fee.inputs;
  if (usage?.event !== undefined) return db`true`;
  const { from, to } = boundsOf(fee.inputs);
  return db`coalesce(former.code, e.code) = ${metric?.code ?? null}
    and coalesce(former.timestamp, e.timestamp) >= ${from}::timestamptz
    and coalesce(former.timestamp, e.timestamp) < ${to}
    ${wasInWindow(db, fee, db`coalesce(former.timestamp, e.timestamp)`)}`;
}

/** Whether an event `e`, with its timestamp at that time `at`, was counted in the window between the bounds. */
function wasInWindow(db: Db, { inputs, events_watermark: mark }: CountedFee, at: Fragment): Fragment {
  const { window } = inputs;
  const { from, to } = boundsOf(inputs);
  const lastMillisecond = instantOf(to)
    .subtract({ microseconds: 1 })
    .round({ smallestUnit: 'millisecond', roundingMode: 'floor' });
  return db`
    and e.id <= ${mark?.max_id ?? NO_ID}
    ${window.startedAs === undefined ? db`` : db`and (${at} > ${from}::timestamptz or e.id > ${window.startedAs})`}
    ${window.replacedBy === undefined ? db`` : db`and (${at} < ${lastMillisecond} or e.id < ${window.replacedBy})`}`;
}

/** Whether an `event` of the window belongs to the fee's filter and group and is counted by its aggregation. */
const isOfFee = (db: Db, { inputs }: CountedFee): Fragment =>
  db`${isTaken(db, inputs)} and ${isOfBucket(db, inputs)} and ${isOfGroup(db, inputs.usage?.grouped_by ?? {})}`;

/** Events without a value that the metric adds up are not behind the fee. Rule: aggregation.md#selecting-events. */
function isTaken(db: Db, { metric, usage }: StoredFeeInputs): Fragment {
  if (metric === null || usage?.event !== undefined || metric.aggregation_type === 'count_agg') return db`true`;
  const text = db`(event.properties ->> ${metric.field_name})`;
  return metric.aggregation_type === 'unique_count_agg'
    ? db`${text} is not null`
    : db`${meteredNumber(db, text)} is not null`;
}

/** Rule: groups-and-filters.md#matching-filters. */
function isOfBucket(db: Db, inputs: StoredFeeInputs): Fragment {
  if (inputs.usage?.event !== undefined) return db`true`;
  const { own, ranked } = bucketOf(inputs);
  return isOfFilter(db, db`event.properties`, ranked, own);
}

/** Rule: groups-and-filters.md#groups. */
const isOfGroup = (db: Db, groupedBy: GroupedBy): Fragment =>
  Object.entries(groupedBy).reduce<Fragment>(
    (all, [key, value]) => db`${all} and nullif(event.properties ->> ${key}, '') is not distinct from ${value}`,
    db`true`,
  );
