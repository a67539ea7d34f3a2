import type { Temporal } from 'temporal-polyfill';
import type { Sql } from '../../platform/db/connect.ts';
import { json } from '../../platform/db/values.ts';
import type { CustomerId, OrganizationId } from '../../platform/ids.ts';
import type { Lease } from '../../platform/leases/lease.ts';
import type { DueItem, PeriodicJob, SweepDeps } from '../../platform/periodic-job.ts';
import { inParts } from '../../platform/turns/turns.ts';
import { isOver, type Progress, progressFrom, takePage } from './turns-of-organizations.ts';

/** How many items a tick holds in memory. */
export const LARGEST_PAGE = 10_000;
/** A smaller page would cost more than it hands out: the tick waits for more room. */
const LEAST_PAGE = 1000;
/** How many jobs are added at once. */
const ADDED_AT_ONCE = 1000;
/**
 * How many jobs may wait in the queue that is filled: some minutes of work, and 20 MB of Redis. What is due beyond
 * waits in Postgres.
 */
export const MOST_WAITING = 20_000;
/** Room that is kept for the first page of each tick, so that a job with a million items holds up no small one. */
const ROOM_OF_FIRST_PAGES = 10_000;

/**
 * Selects what is due page by page, and enqueues a job for each item while the queue has room. An item's id names its
 * record and what it is due for, so that what waits is not enqueued again, by whatever tick.
 *
 * @returns whether everything that is due was enqueued; false: the queue is full, and the lease knows where to go on
 * @throws LeaseLost
 * Rules: periodic-jobs.md#paging, periodic-jobs.md#back-pressure.
 */
export async function fanOut(
  deps: SweepDeps,
  job: PeriodicJob,
  at: Temporal.Instant,
  lease: Pick<Lease, 'place' | 'holdAt'>,
): Promise<boolean> {
  let progress = progressFrom(lease.place as Progress | null, at);
  let most = lease.place === null ? MOST_WAITING + ROOM_OF_FIRST_PAGES : MOST_WAITING;
  let items = 0;
  while (!isOver(progress)) {
    await lease.holdAt(progress);
    const room = most - (await deps.producer.waiting('periodic.work'));
    if (room < LEAST_PAGE) break;
    const limit = Math.min(room, shareOf(progress));
    const page = await takePage(progress, ({ after, organizationId }) =>
      job.select(
        deps.sql,
        at,
        organizationId === undefined ? 'real-time' : { organizationId: organizationId as OrganizationId },
        { limit, after },
      ),
    );
    for (const part of inParts(page.items, ADDED_AT_ONCE)) await enqueue(deps, job, at, part);
    items += page.items.length;
    progress = page.progress;
    most = MOST_WAITING;
  }
  const everything = isOver(progress);
  if (items > 0) deps.log.info({ job: job.name, at: at.toString(), items, everything }, 'periodic work fanned out');
  return everything;
}

/** Large organizations share a page, so that each has its turn soon. */
const shareOf = ({ walk, large }: Progress): number =>
  walk === null ? Math.max(LEAST_PAGE, Math.floor(LARGEST_PAGE / large.length)) : LARGEST_PAGE;

async function enqueue(
  { sql, producer }: SweepDeps,
  job: PeriodicJob,
  at: Temporal.Instant,
  items: readonly DueItem[],
): Promise<void> {
  const customers = await customersOf(sql, items);
  await producer.addMany(
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
