import type { Temporal } from 'temporal-polyfill';
import type { Sql } from '../../platform/db/connect.ts';
import { json } from '../../platform/db/values.ts';
import type { CustomerId } from '../../platform/ids.ts';
import type { Lease } from '../../platform/leases/lease.ts';
import type { DueItem, PeriodicJob, SweepDeps } from '../../platform/periodic-job.ts';
import { inParts } from '../../platform/turns/turns.ts';

/** Length of the first page of a selection; while a page comes back full the next one is four times as long. */
const FIRST_PAGE = 1000;
/** How many items one run may have, which are held in memory; the rest is left to the next tick. */
const LARGEST_PAGE = 256_000;

/**
 * Selects what is due and enqueues a job for each item.
 *
 * @returns whether the tick is over
 * @throws LeaseLost
 */
export async function fanOut(
  deps: SweepDeps,
  job: PeriodicJob,
  at: Temporal.Instant,
  lease: Pick<Lease, 'hold'>,
): Promise<boolean> {
  const seen = new Set<string>();
  for (let limit = FIRST_PAGE; limit <= LARGEST_PAGE; limit *= 4) {
    const page = await job.select(deps.sql, at, 'real-time', limit);
    const fresh = page.filter((due) => !seen.has(idOf(job, due)));
    for (const due of fresh) seen.add(idOf(job, due));
    for (const items of inParts(fresh, FIRST_PAGE)) {
      await lease.hold();
      const customers = await customersOf(deps.sql, items);
      await deps.producer.addMany(
        'periodic.work',
        items.map((due, place) => ({
          payload: {
            job: job.name,
            organization_id: due.organization_id,
            ...(customers[place] ? { customer_key: customers[place] } : {}),
            at: at.toString(),
            item: due.item,
          },
          options: { id: idOf(job, due), forgetFailed: true, inBackground: true },
        })),
      );
    }
    if (page.length < limit) break;
  }
  if (seen.size > 0) deps.log.info({ job: job.name, at: at.toString(), items: seen.size }, 'periodic work fanned out');
  return true;
}

/** The customer of each item, by the record that it names; null, when it is of the organization. */
async function customersOf(sql: Sql, items: readonly DueItem[]): Promise<(string | null)[]> {
  const named = items.map(({ organization_id, item }) => ({ organization_id, item }));
  const rows = await sql<{ customer_id: CustomerId | null }[]>`
    select customer_of_work((due ->> 'organization_id')::uuid, due -> 'item') as customer_id
    from jsonb_array_elements(${json(named)}::jsonb) with ordinality as items (due, place)
    order by place`;
  return rows.map(({ customer_id }) => customer_id);
}

const idOf = (job: PeriodicJob, due: DueItem): string => `${job.name}-${due.organization_id}-${due.key}`;
