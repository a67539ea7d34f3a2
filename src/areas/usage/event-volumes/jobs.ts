import type { Temporal } from 'temporal-polyfill';
import type { Sql } from '../../../platform/db/connect.ts';
import type { SweepJob } from '../../../platform/periodic-job.ts';

/** Hours that are summed anew with each tick: nearly every batch ends within them. */
const USUAL_HOURS = 3;
/** Hours whose minutes are kept, which are summed anew once a day. */
const KEPT_HOURS = 48;
const BATCH = 5000;

/**
 * Writes the sums of finished hours anew from their minutes, and deletes minutes that are older than two days
 * (periodic-jobs.md#volume-hours).
 */
export const volumeHours: SweepJob = {
  name: 'volume-hours',
  async sweep({ sql }, at, hold) {
    const hour = at.round({ smallestUnit: 'hour', roundingMode: 'floor' });
    const isMidnight = hour.toZonedDateTimeISO('UTC').hour === 0;
    const hours = isMidnight ? KEPT_HOURS : USUAL_HOURS;
    for (let back = hours; back >= 1; back -= 1) {
      await hold?.();
      await sumHour(sql, hour.subtract({ hours: back }));
    }
    for (;;) {
      await hold?.();
      const { count } = await sql`
        delete from event_volumes where ctid = any (array(
          select ctid from event_volumes where minute < ${hour.subtract({ hours: KEPT_HOURS })} limit ${BATCH}))`;
      if (count < BATCH) return;
    }
  },
};

const sumHour = (sql: Sql, hour: Temporal.Instant) => sql`
  insert into event_volume_hours as known (organization_id, hour, code, stored, unmatched, replayed, rejected)
  select organization_id, ${hour}::timestamptz, code, sum(stored), sum(unmatched), sum(replayed), sum(rejected)
  from event_volumes where minute >= ${hour} and minute < ${hour.add({ hours: 1 })}
  group by organization_id, code
  order by organization_id, code collate "C"
  on conflict (organization_id, hour, code) do update set stored = excluded.stored, unmatched = excluded.unmatched,
    replayed = excluded.replayed, rejected = excluded.rejected
  where (known.stored, known.unmatched, known.replayed, known.rejected)
    is distinct from (excluded.stored, excluded.unmatched, excluded.replayed, excluded.rejected)`;
