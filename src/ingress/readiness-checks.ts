import { listTroubledReaders } from '../areas/usage/connectors/readers.ts';
import { listSkippedJobs } from '../jobs/periodic-jobs/queries.ts';
import type { Config } from '../platform/config.ts';
import type { Sql } from '../platform/db/connect.ts';
import { isPooled } from '../platform/db/session-settings.ts';
import type { Metrics } from '../platform/metrics/metrics.ts';
import { countMeasured } from '../platform/metrics/shared-metrics.ts';
import {
  CLOCK_WARNS_MS,
  CLOCK_WRONG_MS,
  listEnrolled,
  mostConnections,
} from '../platform/process/enrolled-processes.ts';
import { failingQueues } from '../platform/queue/failing-queues.ts';
import type { Redis } from '../platform/redis/connect.ts';
import { seenFallbacks } from '../platform/redis/fallbacks.ts';
import { milliseconds } from '../platform/schema/view.ts';
import { schedule } from '../schedule.ts';
import type { Replicas } from './read-replicas/replicas.ts';
import type { StandbyWatch } from './standby-watch.ts';

export interface ReadinessDeps {
  sql: Sql;
  redis: Redis;
  config: Config;
  metrics: Metrics;
  replicas?: Pick<Replicas, 'shown'> | undefined;
  standby?: Pick<StandbyWatch, 'why'>;
}

/** What is wrong, in words for an operator. */
export interface Trouble {
  reason: string;
  /** Whether requests must not be sent here; else the service works, but not as it should. */
  stops?: boolean;
}

/**
 * What `/ready` looks at beside the stores, by the name that it shows and that the metric has as `check`. A new row
 * needs no other place than this one.
 *
 * Rule: several-hosts.md#silence-speaks.
 */
export const READINESS_CHECKS: Record<string, (deps: ReadinessDeps) => Promise<Trouble[]>> = {
  connections: tooManyConnections,
  clocks: wrongClocks,
  skipped_jobs: async ({ sql, config }) =>
    (await listSkippedJobs(sql, jobNames(config), SKIPPED_IN_A_ROW)).map(({ job, skipped, since }) => ({
      reason: `the last ${skipped} ticks of ${job} were skipped, since ${milliseconds(since)}: the former run still works`,
    })),
  failing_queues: async ({ redis, config }) =>
    (await failingQueues(redis, config.REDIS_PREFIX)).map(({ queue, error }) => ({
      reason: `every job of the queue ${queue} fails: ${error}`,
    })),
  redis_fallbacks: async ({ redis, config }) =>
    (await seenFallbacks(redis, config.REDIS_PREFIX)).map(({ means, reason, process }) => ({
      reason: `${means} (${process}: ${reason})`,
    })),
  metrics: silentWorkers,
  streams: async ({ sql }) =>
    (await listTroubledReaders(sql, MOST_STREAMS)).map(({ connector, organization_id, error }) => ({
      reason: `the stream ${connector} of the organization ${organization_id} is not read: ${error}`,
    })),
  synchronous_standby: async ({ standby }) => {
    const reason = standby?.why();
    return reason === undefined ? [] : [{ reason: `${reason}: writes and events are refused`, stops: true }];
  },
  read_replicas: async ({ replicas }) =>
    (replicas?.shown() ?? []).flatMap(({ replica, reason }) =>
      reason === null ? [] : [{ reason: `reads go elsewhere than to the replica ${replica}, which ${reason}` }],
    ),
};

/** How many streams in trouble are named. */
const MOST_STREAMS = 10;

/** So many ticks of a job must have been skipped one after the other. */
const SKIPPED_IN_A_ROW = 3;

const jobNames = (config: Config): string[] => schedule(config).map(({ job }) => job);

/** Workers count most of what is to be seen: metrics to which none of them adds look healthy and are empty. */
async function silentWorkers({ redis, config }: ReadinessDeps): Promise<Trouble[]> {
  const [processes, counting] = await Promise.all([
    listEnrolled(redis, config.REDIS_PREFIX),
    countMeasured(redis, config.REDIS_PREFIX),
  ]);
  const doors = processes.filter(({ name }) => name === 'ingress');
  return counting > doors.length
    ? []
    : [{ reason: 'no worker process adds to the metrics: they show nothing of jobs' }];
}

async function tooManyConnections({ sql, redis, config }: ReadinessDeps): Promise<Trouble[]> {
  if (isPooled(config.DATABASE_URL)) return []; // the pooler decides how many it opens
  const [processes, most] = await Promise.all([listEnrolled(redis, config.REDIS_PREFIX), mostConnections(sql)]);
  const wanted = processes.reduce((sum, { connections }) => sum + connections, 0);
  if (wanted <= most) return [];
  const reason = `${processes.length} processes may open ${wanted} connections, and Postgres lets ${most} in`;
  return [{ reason }];
}

async function wrongClocks({ redis, config }: ReadinessDeps): Promise<Trouble[]> {
  return (await listEnrolled(redis, config.REDIS_PREFIX)).flatMap(({ name, copy, clockAheadMs }) => {
    const off = Math.abs(clockAheadMs ?? 0);
    if (off <= CLOCK_WARNS_MS) return [];
    const side = clockAheadMs! > 0 ? 'before' : 'behind';
    return [
      {
        reason: `the clock of ${name} (${copy}) is ${(off / 1000).toFixed(1)} s ${side} that of Postgres`,
        stops: off > CLOCK_WRONG_MS,
      },
    ];
  });
}
