import type { Temporal } from 'temporal-polyfill';
import type { Period } from '../../../../engine/calendar/period.ts';
import type { Decimal } from '../../../../engine/money/decimal.ts';
import type { Db } from '../../../../platform/db/connect.ts';
import type { Scope } from '../../../../platform/db/scope.ts';
import { json } from '../../../../platform/db/values.ts';
import type {
  ChargeId,
  CorrectionId,
  CustomerId,
  EventId,
  ExternalSubscriptionId,
  SubscriptionId,
} from '../../../../platform/ids.ts';
import { isLive } from '../../../usage/events/live-events.ts';
import type { RecordKey } from '../../../usage/in-advance-records/in-advance-records.ts';

/** Running records of one charge, filter, group and period that a correction is to walk again. */
export interface Chain extends RecordKey {
  subscription_id: SubscriptionId;
  window: Period;
  since_record_id: string;
}

/** A running record with its event as it is now. */
export interface LinkRow extends RecordKey {
  record_id: string;
  current: Decimal;
  max: Decimal;
  max_prorated: Decimal;
  event_id: EventId;
  /** The time of the event when it was billed, or moved here. */
  event_timestamp: Temporal.Instant;
  is_live: boolean;
  transaction_id: string;
  code: string;
  timestamp: Temporal.Instant;
  precise_total_amount_cents: Decimal | null;
  texts: Record<string, string | null>;
}

const linkColumns = (db: Db) => db`
  record.id as record_id, record.charge_id, record.charge_filter_id, record.grouped_by, record.current, record.max,
  record.max_prorated, record.event_id, record.event_timestamp, event.deleted_at is null as is_live,
  event.transaction_id, event.code, event.timestamp, event.precise_total_amount_cents,
  (select coalesce(jsonb_object_agg(property.key, property.value), '{}')
    from jsonb_each_text(event.properties) property)
    as texts`;

/** What some events were billed as. */
export const listLinksOfEvents = ({ db, organizationId }: Scope, eventIds: readonly EventId[]) => db<LinkRow[]>`
  select ${linkColumns(db)}
  from in_advance_records record
  join events event on event.organization_id = record.organization_id and event.id = record.event_id
  where record.organization_id = ${organizationId} and record.event_id = any (${eventIds}::uuid[])
  order by record.id`;

/** A chain in the order in which it was billed. */
export const listLinks = (
  { db, organizationId }: Scope,
  externalSubscriptionId: ExternalSubscriptionId,
  chain: Chain,
) => db<LinkRow[]>`
  select ${linkColumns(db)}
  from in_advance_records record
  join events event on event.organization_id = record.organization_id and event.id = record.event_id
  where record.organization_id = ${organizationId} and record.external_subscription_id = ${externalSubscriptionId}
    and record.charge_id = ${chain.charge_id} and record.charge_filter_id is not distinct from ${chain.charge_filter_id}
    and record.grouped_by = ${json(chain.grouped_by)}::jsonb
    and record.event_timestamp >= date_trunc('milliseconds', ${chain.window.from}::timestamptz)
    and record.event_timestamp < ${chain.window.to}
  order by record.id`;

/** Events of earlier periods whose units a recurring metric carries over: at most `limit`. */
export const listCarried = (
  { db, organizationId }: Scope,
  externalSubscriptionId: ExternalSubscriptionId,
  { code, before, limit }: { code: string; before: Temporal.Instant; limit: number },
) => db<Pick<LinkRow, 'event_id' | 'timestamp' | 'texts'>[]>`
  select event.id as event_id, event.timestamp,
    (select coalesce(jsonb_object_agg(property.key, property.value), '{}')
      from jsonb_each_text(event.properties) property)
      as texts
  from events event
  where event.organization_id = ${organizationId} and event.external_subscription_id = ${externalSubscriptionId}
    and event.code = ${code} and event.timestamp < date_trunc('milliseconds', ${before}::timestamptz)
    and event.deleted_at is null
  order by event.timestamp, event.id
  limit ${limit}`;

/** The first moment of corrected events, before or after, by code: rows (external_subscription_id, code, at). */
export const firstMoments = ({ db, organizationId }: Scope, eventIds: readonly EventId[]) => db`
  select e.external_subscription_id, e.code, min(least(e.timestamp, former.at)) as at
  from events e
  left join lateral (
    select min(version.timestamp) as at
    from (select * from event_versions where event_id = e.id offset 0) version -- else all of an organization were read
    where version.organization_id = e.organization_id) former on true
  where e.organization_id = ${organizationId} and e.id = any (${eventIds}::uuid[])
  group by e.external_subscription_id, e.code`;

/** Running records of recurring metrics from the first moment of corrected events on. */
export const listLaterRecords = (scope: Scope, eventIds: readonly EventId[]) => scope.db<
  (RecordKey & { record_id: string; event_timestamp: Temporal.Instant })[]
>`
  with moment as (${firstMoments(scope, eventIds)})
  select record.id as record_id, record.charge_id, record.charge_filter_id, record.grouped_by, record.event_timestamp
  from moment
  join billable_metrics m on m.organization_id = ${scope.organizationId} and m.code = moment.code and m.recurring
  join charges c on c.organization_id = ${scope.organizationId} and c.billable_metric_id = m.id and c.pay_in_advance
  join in_advance_records record on record.organization_id = ${scope.organizationId}
    and record.external_subscription_id = moment.external_subscription_id and record.charge_id = c.id
    and record.event_timestamp >= moment.at
  order by record.event_timestamp, record.id`;

/** Moves the running record of an event to where the event is counted now. */
export const moveRecord = (
  { db, organizationId }: Scope,
  recordId: string,
  to: Omit<RecordKey, 'charge_id'> & { timestamp: Temporal.Instant },
) => db`
  update in_advance_records
  set charge_filter_id = ${to.charge_filter_id}, grouped_by = ${json(to.grouped_by)}, event_timestamp = ${to.timestamp}
  where organization_id = ${organizationId} and id = ${recordId}`;

/** Stores the running records of a chain after it was repriced. */
export async function updateRecords(
  { db, organizationId }: Scope,
  records: readonly { id: string; current: Decimal; max: Decimal; max_prorated: Decimal }[],
): Promise<void> {
  if (records.length === 0) return;
  await db`
    update in_advance_records record
    set current = walked.current, max = walked.max, max_prorated = walked.max_prorated
    from jsonb_to_recordset(${json(records)}::jsonb) as walked (id uuid, current numeric, max numeric,
      max_prorated numeric)
    where record.organization_id = ${organizationId} and record.id = walked.id`;
}

/** Stores chains that a correction has to reprice; one that is stored already keeps its earliest start. */
export async function insertChains(
  { db, organizationId }: Scope,
  correctionId: CorrectionId,
  chains: readonly Chain[],
): Promise<void> {
  if (chains.length === 0) return;
  const rows = chains.map(({ window: { from, to }, ...chain }) => ({ ...chain, from_datetime: from, to_datetime: to }));
  await db`
    insert into correction_chains as kept (organization_id, correction_id, subscription_id, charge_id, charge_filter_id,
      grouped_by, from_datetime, to_datetime, since_record_id)
    select ${organizationId}::uuid, ${correctionId}::uuid, subscription_id, charge_id, charge_filter_id, grouped_by,
      min(from_datetime), max(to_datetime), min(since_record_id::text)::uuid
    from jsonb_to_recordset(${json(rows)}::jsonb) as chain (subscription_id uuid, charge_id uuid,
      charge_filter_id uuid, grouped_by jsonb, from_datetime timestamptz, to_datetime timestamptz,
      since_record_id uuid)
    group by subscription_id, charge_id, charge_filter_id, grouped_by, from_datetime
    on conflict on constraint correction_chains_key do update set
      since_record_id = least(kept.since_record_id, excluded.since_record_id), settled_at = null`;
}

/** Chains that a correction has still to settle, earliest first. */
export async function listChains({ db, organizationId }: Scope, correctionId: CorrectionId): Promise<Chain[]> {
  const rows = await db<(Omit<Chain, 'window'> & { from_datetime: Temporal.Instant; to_datetime: Temporal.Instant })[]>`
    select subscription_id, charge_id, charge_filter_id, grouped_by, from_datetime, to_datetime, since_record_id
    from correction_chains
    where organization_id = ${organizationId} and correction_id = ${correctionId} and settled_at is null
    order by from_datetime, charge_id, since_record_id, charge_filter_id, grouped_by`;
  return rows.map(({ from_datetime: from, to_datetime: to, ...row }) => ({ ...row, window: { from, to } }));
}

export const markChainsSettled = (
  { db, organizationId }: Scope,
  correctionId: CorrectionId,
  now: Temporal.Instant,
) => db`
  update correction_chains set settled_at = ${now}
  where organization_id = ${organizationId} and correction_id = ${correctionId} and settled_at is null`;

/** Started records of an external id, with those that charges have billed events of. */
export const listStarted = (
  { db, organizationId }: Scope,
  externalSubscriptionId: ExternalSubscriptionId,
  chargeIds: readonly ChargeId[],
) => db<{ id: SubscriptionId; customer_id: CustomerId; charge_ids: ChargeId[] }[]>`
  select s.id, s.customer_id, array(
      select charge.id::text from unnest(${chargeIds}::uuid[]) as charge (id)
      where exists (select from fees fee
        where fee.organization_id = ${organizationId} and fee.subscription_id = s.id and fee.charge_id = charge.id
          and fee.event_transaction_id is not null)) as charge_ids
  from subscriptions s
  where s.organization_id = ${organizationId} and s.external_id = ${externalSubscriptionId} and s.started_at is not null
  order by s.started_at, s.id`;

/** Subscriptions in which a live event falls under a charge in advance that has not billed it yet. */
export const listUnbilled = ({ db, organizationId }: Scope, eventIds: readonly EventId[]) => db<
  { subscription_id: SubscriptionId; event_id: EventId }[]
>`
  select distinct s.id as subscription_id, e.id as event_id
  from (
    select * from events e
    where e.organization_id = ${organizationId} and e.id = any (${eventIds}::uuid[]) and ${isLive(db, db`e`)}
    offset 0
  ) e
  join billable_metrics m on m.organization_id = e.organization_id and m.code = e.code and m.deleted_at is null
  cross join lateral (
    select * from subscriptions s
    where s.organization_id = e.organization_id and s.external_id = e.external_subscription_id
    offset 0 -- each by its own id: else all of an organization beside all of the events were compared
  ) s
  join charges c on c.organization_id = e.organization_id and c.plan_id = s.plan_id and c.billable_metric_id = m.id
    and c.pay_in_advance and c.deleted_at is null
  where date_trunc('milliseconds', s.started_at) <= e.timestamp
    and (s.terminated_at is null or s.terminated_at >= date_trunc('milliseconds', e.timestamp))
    and not exists (
      select from in_advance_records record
      where record.organization_id = e.organization_id and record.event_id = e.id and record.charge_id = c.id)
  order by s.id, e.id`;
