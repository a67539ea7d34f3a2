import type { SweepJob } from '../../../platform/periodic-job.ts';

/**
 * Events of providers are kept this long after they were last touched. Rule: periodic-jobs.md#clean-provider-events.
 */
const KEPT_DAYS = 90;
const HOURS_OF_A_DAY = 24;
const PAGE = 1000;
/** How many pages of rows one run deletes; the rest waits for the next day. */
const MOST_PAGES = 100;

/**
 * Deletes old events of providers; the job `retention` deletes those of organizations with a period of their own. Rule:
 * periodic-jobs.md.
 */
export const cleanProviderEvents: SweepJob = {
  name: 'clean-provider-events',
  async sweep({ sql }, at, hold) {
    const before = at.subtract({ hours: KEPT_DAYS * HOURS_OF_A_DAY });
    for (let page = 0; page < MOST_PAGES; page += 1) {
      await hold?.();
      const deleted = await sql`
        delete from inbound_events where id in (
          select id from inbound_events event
          where updated_at < ${before} and not exists (
            select from retention_rules rule
            where rule.organization_id = event.organization_id and rule.class = 'inbound_events')
          limit ${PAGE})`;
      if (deleted.count < PAGE) return;
    }
  },
};
