import type { Temporal } from 'temporal-polyfill';
import { assert } from '../../../engine/assert.ts';
import type { Db, Fragment } from '../../../platform/db/connect.ts';
import { isoText } from '../../../platform/db/iso-text.ts';
import type { Scope } from '../../../platform/db/scope.ts';
import type { CorrectionId, EventId, ExternalSubscriptionId } from '../../../platform/ids.ts';
import { refuse } from '../../../platform/refusal.ts';
import type { UnpricedCall } from '../event-rating/rate-properties.ts';
import { idOfEvent } from '../events/event-key.ts';
import { isLive } from '../events/live-events.ts';

// Namespace of the advisory locks of corrections; the others are in usage-shapes/shape-locks.ts.
const CORRECTIONS_SEED = 5304;

/** A live event before its correction. Times are ISO texts, properties JSON text. */
export interface EventToCorrect {
  id: EventId;
  code: string;
  timestamp: string;
  properties: string;
  precise_total_amount_cents: string | null;
}

/** The new payload of an amended event. */
export type EventPayload = Pick<EventToCorrect, 'timestamp' | 'properties' | 'precise_total_amount_cents'>;
/** An event with what it becomes. */
export type EventAmendment = Pick<EventToCorrect, 'id'> & EventPayload & { unpriced?: UnpricedCall | null };

/**
 * Locks out other corrections of the events of subscriptions until the transaction ends, in one order.
 * Rule: event-corrections.md#order-of-work.
 */
export const lockCorrections = (
  { db, organizationId }: Scope,
  externalSubscriptionIds: readonly ExternalSubscriptionId[],
) => db`
  select pg_advisory_xact_lock(hashtextextended(key, ${CORRECTIONS_SEED}))
  from (
    select key from unnest(${externalSubscriptionIds.map((id) => `${organizationId} ${id}`)}::text[]) key
    order by key collate "C"
    offset 0
  ) sorted`;

/**
 * The live event of a transaction id, locked.
 *
 * @throws Refusal 404 event, also when it is retracted
 */
export async function lockEvent(
  scope: Scope,
  externalSubscriptionId: ExternalSubscriptionId,
  transactionId: string,
): Promise<EventToCorrect> {
  const { db, organizationId } = scope;
  const [event] = await db<EventToCorrect[]>`
    select id, code, ${isoText(db, db`timestamp`)} as timestamp, properties::text as properties,
      trim_scale(precise_total_amount_cents)::text as precise_total_amount_cents
    from events e
    where id = ${idOfEvent(scope, transactionId, externalSubscriptionId)}
      and organization_id = ${organizationId} and transaction_id = ${transactionId}
      and external_subscription_id = ${externalSubscriptionId} and ${isLive(db, db`e`)}
    for update`;
  if (!event) throw refuse.notFound('event');
  return event;
}

/** Live events of a range; `to` is exclusive. */
export interface EventRange {
  external_subscription_id: ExternalSubscriptionId;
  code: string | null;
  from: string;
  to: string;
  /** JSON text of an object whose keys must all match. Null matches any event. */
  properties: string | null;
}

/** SQL after `from`: the live events `e` of a range. */
export const eventsOfRange = ({ db, organizationId }: Scope, range: EventRange): Fragment => db`
  events e
  where e.organization_id = ${organizationId} and e.external_subscription_id = ${range.external_subscription_id}
    ${range.code === null ? db`` : db`and e.code = ${range.code}`}
    and e.timestamp >= ${range.from} and e.timestamp < ${range.to} and e.deleted_at is null
    ${
      range.properties === null
        ? db``
        : db`and not exists (
            select from jsonb_each_text(${range.properties}::text::jsonb) given
            where e.properties ->> given.key is distinct from given.value)`
    }`;

/** The live events `e` of a list of ids. */
export const eventsOfIds = ({ db, organizationId }: Scope, ids: readonly EventId[]): Fragment => db`
  events e
  where e.id = any (${ids}::uuid[]) and e.organization_id = ${organizationId} and ${isLive(db, db`e`)}`;

/** Events with their other payloads, as rows `e`. */
export const amendedEvents = ({ db, organizationId }: Scope, amendments: readonly EventAmendment[]): Fragment => db`
  (
    select old.id, old.organization_id, old.external_subscription_id, old.transaction_id, old.code, old.created_at,
      amended.timestamp, amended.properties, amended.precise_total_amount_cents
    from (${payloadsOf(db, amendments)}) amended
    join events old on old.id = amended.id and old.organization_id = ${organizationId} and ${isLive(db, db`old`)}
  ) e`;

/** Payloads as rows; as texts, which keep all digits. */
const payloadsOf = (db: Db, amendments: readonly EventAmendment[]): Fragment => db`
  select id, timestamp, properties::jsonb as properties,
    precise_total_amount_cents::numeric(40, 15) as precise_total_amount_cents
  from unnest(${amendments.map(({ id }) => id)}::uuid[],
    ${amendments.map(({ timestamp }) => timestamp)}::text[]::timestamptz[],
    ${amendments.map(({ properties }) => properties)}::text[],
    ${amendments.map(({ precise_total_amount_cents: amount }) => amount)}::text[])
    as payload (id, timestamp, properties, precise_total_amount_cents)`;

/** Number of events, counted up to `most`. */
export async function countUpTo(db: Db, source: Fragment, most: number): Promise<number> {
  const [row] = await db<
    { count: number }[]
  >`select count(*) as count from (select from ${source} limit ${most}) as found`;
  return row!.count;
}

/** Whether a payload differs from the stored one; JSON numbers are compared by value. */
export async function isOtherPayload(db: Db, eventId: EventId, payload: EventPayload): Promise<boolean> {
  const [row] = await db<{ is_other: boolean }[]>`
    select timestamp <> ${payload.timestamp}::text::timestamptz or properties <> ${payload.properties}::text::jsonb
      or precise_total_amount_cents is distinct from ${payload.precise_total_amount_cents}::text::numeric as is_other
    from events where id = ${eventId}`;
  assert(row, 'a locked event is there');
  return row.is_other;
}

interface Change {
  correctionId: CorrectionId;
  now: Temporal.Instant;
}

/** Moves the payloads of events into their versions and stores other ones. */
export const amendEvents = (scope: Scope, amendments: readonly EventAmendment[], change: Change) => scope.db`
  with former as (${keepVersions(
    scope,
    amendments.map(({ id }) => id),
    change,
  )})
  update events
  set version = version + 1, timestamp = amended.timestamp, properties = amended.properties,
    precise_total_amount_cents = amended.precise_total_amount_cents
  from (${payloadsOf(scope.db, amendments)}) amended
  where events.id = amended.id and organization_id = ${scope.organizationId}
    and ${isLive(scope.db, scope.db`events`)}`;

/** Retracts events; their transaction ids stay taken. */
export const retractEvents = (scope: Scope, eventIds: readonly EventId[], change: Change) => scope.db`
  with former as (${keepVersions(scope, eventIds, change)})
  update events set version = version + 1, deleted_at = ${change.now}
  where organization_id = ${scope.organizationId} and id = any (${eventIds}::uuid[])
    and ${isLive(scope.db, scope.db`events`)}`;

const keepVersions = ({ db, organizationId }: Scope, eventIds: readonly EventId[], { correctionId, now }: Change) => db`
  insert into event_versions (organization_id, event_id, version, code, timestamp, properties,
    precise_total_amount_cents,
    correction_id, recorded_at)
  select organization_id, id, version, code, timestamp, properties, precise_total_amount_cents, ${correctionId}::uuid,
    ${now}
  from events e
  where organization_id = ${organizationId} and id = any (${eventIds}::uuid[]) and ${isLive(db, db`e`)}`;
