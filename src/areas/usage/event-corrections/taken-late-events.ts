import type { Temporal } from 'temporal-polyfill';
import type { Scope } from '../../../platform/db/scope.ts';
import type { EventId } from '../../../platform/ids.ts';

/** Marks late events as taken in, so that later corrections count them. */
export const takeLateEvents = (
  { db, organizationId }: Scope,
  eventIds: readonly EventId[],
  now: Temporal.Instant,
) => db`
  insert into taken_late_events (organization_id, event_id, taken_at)
  select ${organizationId}::uuid, id, ${now} from unnest(${eventIds}::uuid[]) id
  on conflict do nothing`;
