import type { Temporal } from 'temporal-polyfill';
import type { Db, Fragment } from '../../../platform/db/connect.ts';
import type { Scope } from '../../../platform/db/scope.ts';
import type { InboundEventId } from '../../../platform/ids.ts';
import { isUuid } from '../../../platform/ids.ts';
import { limitOf } from '../../../platform/lists/pagination.ts';
import { refuse } from '../../../platform/refusal.ts';
import type { INBOUND_STATUSES, InboundEventsQuery } from './schema.ts';
import { HANDLE_STEP } from './store-inbound-event.ts';

export interface InboundEventRow {
  id: InboundEventId;
  provider_code: string;
  provider_type: string;
  provider_event_id: string;
  event_type: string;
  payload: Record<string, unknown>;
  status: (typeof INBOUND_STATUSES)[number];
  attempts: number;
  error: string | null;
  created_at: Temporal.Instant;
  updated_at: Temporal.Instant;
}

// The step that owes the handling stores the error, because a failed attempt changes nothing else.
const STATUS = (db: Db): Fragment =>
  db`case when event.status <> 'succeeded' and step.failed_at is not null then 'failed' else event.status end`;

const tables = (db: Db): Fragment => db`
  inbound_events event
  join payment_providers provider on provider.organization_id = event.organization_id
    and provider.id = event.connection_id
  left join after_steps step on step.organization_id = event.organization_id and step.job = ${HANDLE_STEP}
    and step.payload ->> 'inbound_event_id' = event.id::text`;

const columns = (db: Db): Fragment => db`
  event.id, provider.code as provider_code, provider.provider_type, event.provider_event_id, event.event_type,
  event.payload, ${STATUS(db)} as status, event.attempts + coalesce(step.attempts, 0) as attempts,
  coalesce(step.error, event.error) as error, event.created_at, event.updated_at`;

/** @throws Refusal 404 inbound_event */
export async function getInboundEvent({ db, organizationId }: Scope, id: InboundEventId): Promise<InboundEventRow> {
  const [row] = isUuid(id)
    ? await db<InboundEventRow[]>`
      select ${columns(db)} from ${tables(db)} where event.organization_id = ${organizationId} and event.id = ${id}`
    : [];
  if (!row) throw refuse.notFound('inbound_event');
  return row;
}

/** A page of the events of providers, newest first, and how many there are. */
export async function listInboundEvents(
  { db, organizationId }: Scope,
  query: InboundEventsQuery,
): Promise<{ rows: InboundEventRow[]; totalCount: number }> {
  const { limit, offset } = limitOf(query);
  const passing = db`event.organization_id = ${organizationId}
    ${query.payment_provider_code === undefined ? db`` : db`and provider.code = ${query.payment_provider_code}`}
    ${query.statuses === undefined ? db`` : db`and ${STATUS(db)} = any (${query.statuses})`}
    ${query.types === undefined ? db`` : db`and event.event_type = any (${query.types})`}`;
  const [rows, [count]] = await Promise.all([
    db<InboundEventRow[]>`
      select ${columns(db)} from ${tables(db)} where ${passing}
      order by event.created_at desc, event.id desc limit ${limit} offset ${offset}`,
    db<{ total: number }[]>`select count(*) as total from ${tables(db)} where ${passing}`,
  ]);
  return { rows, totalCount: count!.total };
}

/** How far back events that are not handled are looked through: a provider repeats its own for less than that. */
const OPEN_EVENT_HOURS = 7 * 24;
/** How many of them are looked at: a payment has a handful of events in its life. */
const OPEN_EVENTS = 100;

/** Recent events that are not handled yet and name something in their text: an id of ours or of the provider. */
export const listOpenEventsNaming = (
  { db, organizationId, now }: Scope & { now(): Temporal.Instant },
  name: string,
) => db<{ connection_id: string; payload: Record<string, unknown> }[]>`
  select connection_id, payload from inbound_events
  where organization_id = ${organizationId} and status <> 'succeeded'
    and created_at > ${now().subtract({ hours: OPEN_EVENT_HOURS })} and strpos(payload::text, ${name}) > 0
  order by created_at limit ${OPEN_EVENTS}`;

/** Whether a recent event that is not handled yet names one of several ids in its text. */
export async function isAnyNamedByOpenEvent(
  { db, organizationId, now }: Scope & { now(): Temporal.Instant },
  names: readonly string[],
): Promise<boolean> {
  const [found] = await db`
    select from inbound_events
    where organization_id = ${organizationId} and status <> 'succeeded'
      and created_at > ${now().subtract({ hours: OPEN_EVENT_HOURS })}
      and exists (select from unnest(${names}::text[]) as name where strpos(payload::text, name) > 0)
    limit 1`;
  return found !== undefined;
}
