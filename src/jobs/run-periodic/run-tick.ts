import { Temporal } from 'temporal-polyfill';
import { realNow } from '../../platform/clock/real-clock.ts';
import type { Sql } from '../../platform/db/connect.ts';
import { json } from '../../platform/db/values.ts';
import type { CustomerId } from '../../platform/ids.ts';
import type { DueItem, PeriodicJob, SweepDeps } from '../../platform/periodic-job.ts';
import type { JobInfo } from '../../platform/queue/worker.ts';
import { inParts } from '../../platform/turns/turns.ts';
import type { JobPayload } from '../../queues.ts';
import { finishTick } from '../periodic-jobs/queries.ts';
import type { Registry } from './periodic-registry.ts';

/** Length of the first page of a selection; while a page comes back full the next one is four times as long. */
const FIRST_PAGE = 1000;
/** How many items one run may have, which are held in memory; the rest is left to the next tick. */
const LARGEST_PAGE = 256_000;
/** First key of the advisory locks of periodic jobs; the second one is the hash of the job's name. */
const LOCK_SPACE = 7_236_105;

/**
 * Runs one tick: a sweep does its work here, a job of clock B selects what is due and fans out one `periodic.work` per
 * item. It holds the lock of its job, and a tick is skipped while the former run still works (periodic-jobs.md
 * "single").
 */
export async function runTick(
  deps: SweepDeps,
  registry: Registry,
  payload: JobPayload<'periodic.tick'>,
  info: Pick<JobInfo, 'lastAttempt'>,
): Promise<void> {
  const at = Temporal.Instant.from(payload.at);
  const periodic = registry.periodicJobs.find((job) => job.name === payload.job);
  const sweep = registry.sweepJobs.find((job) => job.name === payload.job);
  if (!periodic && !sweep) {
    deps.log.warn({ job: payload.job }, 'tick of a job that is not in the table');
    return;
  }
  const end = (error: string | null) =>
    finishTick(deps.sql, payload.job, { tickAt: at, end: { realNow: realNow(), error } });
  const connection = await deps.sql.reserve();
  try {
    const [lock] = await connection<{ held: boolean }[]>`
      select pg_try_advisory_lock(${LOCK_SPACE}::int, hashtext(${payload.job})) as held`;
    if (!lock?.held) {
      await end('skipped: the former run still works');
      return;
    }
    try {
      if (periodic) await fanOut(deps, periodic, at);
      else await sweep?.sweep(deps, at);
      await end(null);
    } catch (error) {
      if (info.lastAttempt) await end(error instanceof Error ? error.message : String(error));
      throw error;
    } finally {
      await connection`select pg_advisory_unlock(${LOCK_SPACE}::int, hashtext(${payload.job}))`;
    }
  } finally {
    connection.release();
  }
}

async function fanOut(deps: SweepDeps, job: PeriodicJob, at: Temporal.Instant): Promise<void> {
  const seen = new Set<string>();
  for (let limit = FIRST_PAGE; limit <= LARGEST_PAGE; limit *= 4) {
    const page = await job.select(deps.sql, at, 'real-time', limit);
    const fresh = page.filter((due) => !seen.has(idOf(job, due)));
    for (const due of fresh) seen.add(idOf(job, due));
    for (const items of inParts(fresh, FIRST_PAGE)) {
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
