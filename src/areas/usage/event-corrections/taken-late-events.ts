import type { Temporal } from 'temporal-polyfill';
import type { Scope } from '../../../platform/db/scope.ts';
import type { CorrectionId, EventId } from '../../../platform/ids.ts';
import { isLive } from '../events/live-events.ts';

/**
 * Marks late events as taken in, so that later corrections count them.
 *
 * @returns those that none had taken in before
 */
export async function takeLateEvents(
  { db, organizationId }: Scope,
  eventIds: readonly EventId[],
  now: Temporal.Instant,
): Promise<EventId[]> {
  const rows = await db<{ event_id: EventId }[]>`
    insert into taken_late_events (organization_id, event_id, taken_at)
    select ${organizationId}::uuid, id, ${now} from unnest(${eventIds}::uuid[]) id
    on conflict do nothing
    returning event_id`;
  return rows.map(({ event_id }) => event_id);
}

/** Names the correction that settles taken late events; what another one settles stays with that. */
export const settleTakenEvents = (
  { db, organizationId }: Scope,
  eventIds: readonly EventId[],
  correctionId: CorrectionId,
) => db`
  update taken_late_events set correction_id = ${correctionId}
  where organization_id = ${organizationId} and event_id = any (${eventIds}::uuid[]) and correction_id is null`;

/** Those of some taken live events that no correction settles and none has amended. */
export async function listTakenUnsettled(
  { db, organizationId }: Scope,
  eventIds: readonly EventId[],
): Promise<EventId[]> {
  const rows = await db<{ event_id: EventId }[]>`
    select taken.event_id
    from taken_late_events taken
    join events e on e.organization_id = taken.organization_id and e.id = taken.event_id
    where taken.organization_id = ${organizationId} and taken.event_id = any (${eventIds}::uuid[])
      and taken.correction_id is null and e.version = 1 and ${isLive(db, db`e`)}`;
  return rows.map(({ event_id }) => event_id);
}
