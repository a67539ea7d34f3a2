import type { Temporal } from 'temporal-polyfill';
import type { Sql } from '../../../platform/db/connect.ts';
import { json } from '../../../platform/db/values.ts';
import type { OrganizationId } from '../../../platform/ids.ts';
import { NO_CODE } from './count-events.ts';

export interface NotStored {
  organization_id: OrganizationId;
  replayed: number;
  rejected: number;
}

/** Adds what the doors of a process have answered without storing it. */
export const addNotStored = (sql: Sql, rows: readonly NotStored[], now: Temporal.Instant, lane: number) => sql`
  insert into event_volumes as known (organization_id, minute, code, lane, stored, unmatched, replayed, rejected)
  select organization_id, date_trunc('minute', ${now}::timestamptz), ${NO_CODE}, ${lane}::smallint, 0, 0, replayed,
    rejected
  from jsonb_to_recordset(${json(rows)}::jsonb) as added (organization_id uuid, replayed bigint, rejected bigint)
  order by organization_id
  on conflict (organization_id, minute, code, lane) do update set
    replayed = known.replayed + excluded.replayed, rejected = known.rejected + excluded.rejected`;
