import type { SweepJob } from '../../../platform/periodic-job.ts';
import { addOpenDays } from './queries.ts';

/** How many days are added by one statement, so that it stays short. */
const DAYS_AT_ONCE = 200;

/**
 * Adds every day that has ended to the chain, the earliest of each billing entity first, because each root contains the
 * one before it. Missed ticks are made up by the next one.
 *
 * Rule: e-documents.md#archive.
 */
export const archiveRoots: SweepJob = {
  name: 'archive-roots',
  async sweep({ sql, log }, at, hold) {
    const today = at.toZonedDateTimeISO('UTC').toPlainDate();
    let days = 0;
    for (;;) {
      await hold?.();
      const added = await addOpenDays(sql, today, DAYS_AT_ONCE);
      if (added === 0) break;
      days += added;
    }
    if (days > 0) log.info({ days }, 'days added to the archive of electronic documents');
  },
};
