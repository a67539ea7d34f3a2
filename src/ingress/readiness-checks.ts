import type { Config } from '../platform/config.ts';
import type { Sql } from '../platform/db/connect.ts';
import { isPooled } from '../platform/db/session-settings.ts';
import type { Metrics } from '../platform/metrics/metrics.ts';
import {
  CLOCK_WARNS_MS,
  CLOCK_WRONG_MS,
  listEnrolled,
  mostConnections,
} from '../platform/process/enrolled-processes.ts';
import { failingQueues } from '../platform/queue/failing-queues.ts';
import type { Redis } from '../platform/redis/connect.ts';
import { seenFallbacks } from '../platform/redis/fallbacks.ts';
import type { Replicas } from './read-replicas/replicas.ts';

export interface ReadinessDeps {
  sql: Sql;
  redis: Redis;
  config: Config;
  metrics: Metrics;
  replicas?: Pick<Replicas, 'shown'> | undefined;
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
  failing_queues: async ({ redis, config }) =>
    (await failingQueues(redis, config.REDIS_PREFIX)).map(({ queue, error }) => ({
      reason: `every job of the queue ${queue} fails: ${error}`,
    })),
  redis_fallbacks: async ({ redis, config }) =>
    (await seenFallbacks(redis, config.REDIS_PREFIX)).map(({ means, reason, process }) => ({
      reason: `${means} (${process}: ${reason})`,
    })),
  read_replicas: async ({ replicas }) =>
    (replicas?.shown() ?? []).flatMap(({ replica, reason }) =>
      reason === null ? [] : [{ reason: `reads go elsewhere than to the replica ${replica}, which ${reason}` }],
    ),
};

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
