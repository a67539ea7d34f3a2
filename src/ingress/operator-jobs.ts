import type { Queue } from 'bullmq';
import { claimTick, listLastTicks } from '../jobs/periodic-jobs/queries.ts';
import { tickJobId } from '../jobs/periodic-jobs/tick-job.ts';
import { jobView } from '../jobs/periodic-jobs/view.ts';
import { realNow } from '../platform/clock/real-clock.ts';
import type { Config } from '../platform/config.ts';
import type { Sql } from '../platform/db/connect.ts';
import type { Log } from '../platform/log/log.ts';
import type { Producer } from '../platform/queue/producer.ts';
import { refuse } from '../platform/refusal.ts';
import { milliseconds } from '../platform/schema/view.ts';
import { schedule } from '../schedule.ts';
import type { OperatorRoute } from './operator-routes.ts';
import { pendingSince } from './pending-since.ts';

interface JobsDeps {
  sql: Sql;
  producer: Producer;
  config: Config;
  log: Log;
}

/**
 * Shows the periodic jobs with their last runs and the queues, and runs one at once. Rule: other-routes.md#records
 * "periodic jobs".
 */
export const operatorJobs = (deps: JobsDeps): OperatorRoute[] => [
  { method: 'get', path: '/operations/jobs', run: () => showJobs(deps) },
  { method: 'post', path: '/operations/jobs/:name/run', run: ({ params }) => runJob(deps, String(params.name)) },
];

async function showJobs({ sql, producer, config }: JobsDeps) {
  const rows = schedule(config);
  const now = realNow();
  const [last, depths] = await Promise.all([
    listLastTicks(
      sql,
      rows.map(({ job }) => job),
    ),
    Promise.all(producer.storedQueues().map(({ queue }) => depthOf(queue))),
  ]);
  const lastOf = new Map(last.map((tick) => [tick.job, tick]));
  return { jobs: rows.map((row) => jobView(row, lastOf.get(row.job), now)), queues: depths };
}

export async function depthOf(queue: Queue) {
  const [counts, since] = await Promise.all([
    queue.getJobCounts('waiting', 'prioritized', 'active', 'delayed', 'failed'),
    pendingSince(queue),
  ]);
  return {
    name: queue.name,
    depth: (counts.waiting ?? 0) + (counts.prioritized ?? 0),
    active: counts.active ?? 0,
    delayed: counts.delayed ?? 0,
    failed: counts.failed ?? 0,
    oldest_waiting_at: since && milliseconds(since),
  };
}

/**
 * Creates a tick of a job at once; the schedulers run it. It is skipped while the former run still works.
 *
 * @throws Refusal 404 job
 */
async function runJob({ sql, producer, config, log }: JobsDeps, name: string) {
  const row = schedule(config).find(({ job }) => job === name);
  if (!row) throw refuse.notFound('job');
  const now = realNow().round({ smallestUnit: 'millisecond', roundingMode: 'floor' });
  if (await claimTick(sql, name, { tickAt: now, realNow: now })) {
    await producer.add('periodic.tick', { job: name, at: now.toString() }, { id: tickJobId(name, now) });
    log.info({ job: name, at: now.toString() }, 'run started by the operator');
  }
  const [last] = await listLastTicks(sql, [name]);
  return { job: jobView(row, last, now) };
}
