import type { Scope } from '../../../platform/db/scope.ts';
import type { CorrectionId, EventId } from '../../../platform/ids.ts';
import { isLive } from '../events/live-events.ts';
import { changeHours } from './change-hours.ts';

/**
 * Events that no finished batch has counted yet, of those that are corrected. Their batches are not finished before the
 * transaction ends, and then find what it wrote. To be called before the events are changed.
 */
export async function holdUncounted(
  { db, organizationId }: Scope,
  eventIds: readonly EventId[],
): Promise<ReadonlySet<EventId>> {
  const held = await db<{ event_ids: EventId[] }[]>`
    select event_ids from event_batches
    where organization_ids @> array[${organizationId}::uuid] and event_ids && ${eventIds}::uuid[]
    order by id
    for update`;
  return new Set(held.flatMap(({ event_ids: ids }) => ids));
}

/** Takes counted events from the sums of their hours as they were before a correction, and adds them as they are. */
export const correctHours = ({ db, organizationId }: Scope, correctionId: CorrectionId, counted: readonly EventId[]) =>
  changeHours(db, {
    added: db`events e
      where e.organization_id = ${organizationId} and e.id = any (${counted}::uuid[]) and ${isLive(db, db`e`)}`,
    taken: db`(
      select former.organization_id, e.external_subscription_id, former.code, former.timestamp, former.properties,
        former.precise_total_amount_cents
      from event_versions former
      join events e on e.id = former.event_id and e.organization_id = former.organization_id
      where former.organization_id = ${organizationId} and former.correction_id = ${correctionId}
        and former.event_id = any (${counted}::uuid[])) e`,
  });
