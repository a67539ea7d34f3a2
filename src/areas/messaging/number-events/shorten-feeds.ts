import type { Temporal } from 'temporal-polyfill';
import type { Sql } from '../../../platform/db/connect.ts';
import { deleteLeftEvents, listAgedFeeds, listShortened, lockHeads, moveFirst } from './feed-heads.ts';

const DELETE_BATCH = 1000;

/**
 * Ends the feeds' view of events made before `cutoff`, and removes those that no delivery needs any more. The end moves
 * over whole stretches from the oldest on: a feed never has a hole. Rule: event-feed.md "Retention".
 */
export async function shortenFeeds(sql: Sql, cutoff: Temporal.Instant): Promise<void> {
  for (const organizationId of await listAgedFeeds(sql, cutoff)) {
    await sql.begin(async (tx) => {
      // The counter is in use; the next day's run does it.
      const [head] = await lockHeads(tx, [organizationId]);
      if (head) await moveFirst({ db: tx, organizationId }, cutoff);
    });
  }
  for (const organizationId of await listShortened(sql)) {
    while ((await deleteLeftEvents({ db: sql, organizationId }, DELETE_BATCH)).count === DELETE_BATCH);
  }
}
