import type { Temporal } from 'temporal-polyfill';
import { realNow } from '../../../platform/clock/real-clock.ts';
import type { Db } from '../../../platform/db/connect.ts';
import type { SweepJob } from '../../../platform/periodic-job.ts';

const SECONDS_OF_A_DAY = 86_400;

/** Age of the prices of the deployment in whole days; null while there are none. */
export async function priceAgeInDays(db: Db, now: Temporal.Instant): Promise<number | null> {
  const [layer] = await db<{ imported_at: Temporal.Instant | null }[]>`
    select imported_at from price_layers where name = 'deployment'`;
  const at = layer?.imported_at ?? null;
  if (at === null) return null;
  return Math.max(0, Math.floor(now.since(at, { largestUnit: 'seconds' }).seconds / SECONDS_OF_A_DAY));
}

/** Every day: warns of prices of the deployment that are old. Rule: periodic-jobs.md#price-book-age. */
export const warnOfPriceAge: SweepJob = {
  name: 'price-book-age',
  async sweep({ sql, config, log }) {
    const days = await priceAgeInDays(sql, realNow());
    if (days !== null && days > config.PRICE_BOOK_WARN_DAYS) log.warn({ days }, 'prices of the deployment are old');
  },
};
