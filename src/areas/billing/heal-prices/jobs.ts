import { newId } from '../../../platform/ids.ts';
import type { SweepJob } from '../../../platform/periodic-job.ts';
import { stepJob } from '../../../platform/records/nudge.ts';
import { listOrganizationsToHeal, oweHealing } from './waiting-calls.ts';

/** How many organizations one statement takes. */
const PAGE = 500;

/**
 * Every five minutes: owes a look at calls that wait to each organization whose book has another version than the last
 * look, be it by the deployment's prices. A write of the organization's own prices owes it at once.
 *
 * Rules: periodic-jobs.md#heal-prices, price-book.md#healing.
 */
export const sweepUnpriced: SweepJob = {
  name: 'heal-prices',
  async sweep({ sql, producer }, at, hold) {
    let after: string | null = null;
    for (;;) {
      await hold?.();
      const found: { id: string }[] = await listOrganizationsToHeal(sql, after, PAGE);
      const owed = found.map(({ id }) => ({ id: newId(), organization_id: id }));
      const steps = await oweHealing(sql, owed, at);
      await producer.addMany(
        'step.run',
        steps.map((step) => stepJob(step)),
      );
      if (found.length < PAGE) return;
      after = found.at(-1)!.id;
    }
  },
};
