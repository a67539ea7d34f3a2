import { realNow } from '../../platform/clock/real-clock.ts';
import type { SweepJob } from '../../platform/periodic-job.ts';

const BATCH = 5000;
const KEPT_DAYS = 30;

/**
 * Deletes sessions of the console 30 days after they ended or expired, and one-time links 30 days after their time
 * (periodic-jobs.md#clean-sessions).
 */
export const cleanSessions: SweepJob = {
  name: 'clean-sessions',
  async sweep({ sql }, _at, hold) {
    const before = realNow().subtract({ hours: 24 * KEPT_DAYS });
    for (;;) {
      await hold?.();
      const sessions = await sql`
        delete from console_sessions where ctid = any (array(
          select ctid from console_sessions where least(expires_at, ended_at) <= ${before} limit ${BATCH}))`;
      const codes = await sql`
        delete from console_codes where ctid = any (array(
          select ctid from console_codes where expires_at <= ${before} limit ${BATCH}))`;
      if (Math.max(sessions.count, codes.count) < BATCH) return;
    }
  },
};
