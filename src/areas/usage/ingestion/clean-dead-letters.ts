import type { SweepJob } from '../../../platform/periodic-job.ts';

/** Dead letters are kept this long, whatever became of them. Rule: periodic-jobs.md#clean-dead-letters. */
const KEPT_DAYS = 30;
const HOURS_OF_A_DAY = 24;
const PAGE = 1000;
/** How many pages of rows one run deletes; the rest waits for the next day. */
const MOST_PAGES = 1000;

/** Deletes old dead letters of streams. Rule: periodic-jobs.md. */
export const cleanDeadLetters: SweepJob = {
  name: 'clean-dead-letters',
  async sweep({ sql }, at, hold) {
    const before = at.subtract({ hours: KEPT_DAYS * HOURS_OF_A_DAY });
    for (let page = 0; page < MOST_PAGES; page += 1) {
      await hold?.();
      const deleted = await sql`
        delete from ingest_dead_letters where (organization_id, id) in (
          select organization_id, id from ingest_dead_letters where failed_at < ${before}
          order by failed_at limit ${PAGE})`;
      if (deleted.count < PAGE) return;
    }
  },
};
