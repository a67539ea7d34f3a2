import type { Temporal } from 'temporal-polyfill';
import type { Db } from '../../../platform/db/connect.ts';

/** Marks late events as taken in, so that later corrections count them. */
export const takeLateEvents = (
  db: Db,
  organizationId: string,
  eventIds: readonly string[],
  now: Temporal.Instant,
) => db`
  insert into taken_late_events (organization_id, event_id, taken_at)
  select ${organizationId}::uuid, id, ${now} from unnest(${eventIds}::uuid[]) id
  on conflict do nothing`;
