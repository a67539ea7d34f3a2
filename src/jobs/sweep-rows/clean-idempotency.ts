import { realNow } from '../../platform/clock/real-clock.ts';
import type { SweepJob } from '../../platform/periodic-job.ts';

const BATCH = 5000;

/**
 * Deletes idempotency records past their life, 5 000 at a time (periodic-jobs.md#clean-idempotency, idempotency.md).
 */
export const cleanIdempotency: SweepJob = {
  name: 'clean-idempotency',
  async sweep({ sql }, _at, hold) {
    for (;;) {
      await hold?.();
      const { count } = await sql`
        delete from idempotency_keys where ctid = any (array(
          select ctid from idempotency_keys where expires_at <= ${realNow()} limit ${BATCH}))`;
      if (count < BATCH) return;
    }
  },
};
