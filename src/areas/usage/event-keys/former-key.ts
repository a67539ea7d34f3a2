import type { Temporal } from 'temporal-polyfill';
import type { SweepDeps } from '../../../platform/periodic-job.ts';

/** A version before 0083 cannot store events without its key, so its processes get this time to be replaced. */
const FORMER_VERSION_MINUTES = 60;
/** Longest wait for those who read or write events, who wait behind it; else the next day's run does it. */
const LOCK_TIMEOUT = '2s';

/**
 * Drops the unique index of events and the trigger that keeps the keys of what a former version stores, once there has
 * been time to replace that version. Rule: storing-events.md#keys.
 */
export async function dropFormerKey({ sql }: Pick<SweepDeps, 'sql'>, now: Temporal.Instant): Promise<void> {
  const before = now.subtract({ minutes: FORMER_VERSION_MINUTES });
  await sql.begin(async (tx) => {
    const due = await tx`
      update event_key_moves set finished_at = ${now} where finished_at is null and prepared_at <= ${before}
      returning 1`;
    if (due.length === 0) return;
    await tx`select set_config('lock_timeout', ${LOCK_TIMEOUT}, true)`;
    await tx`call drop_former_key_of_events()`;
  });
}
