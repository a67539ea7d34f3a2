import type { Temporal } from 'temporal-polyfill';
import { isBefore } from '../engine/calendar/instants.ts';
import { listLastTicks, type TickRow } from '../jobs/periodic-jobs/queries.ts';
import { realNow } from '../platform/clock/real-clock.ts';
import { latestTick } from '../platform/clock/ticks.ts';
import type { Config } from '../platform/config.ts';
import type { Sql } from '../platform/db/connect.ts';
import { listEnrolledPools } from '../platform/process/enrolled-processes.ts';
import type { Producer } from '../platform/queue/producer.ts';
import type { Redis } from '../platform/redis/connect.ts';
import { mastersOf } from '../platform/redis/nodes.ts';
import { refuse } from '../platform/refusal.ts';
import { OUT_OF_RANGE } from '../platform/schema/fields.ts';
import { seconds } from '../platform/schema/view.ts';
import { version } from '../platform/version.ts';
import { type ScheduleRow, schedule } from '../schedule.ts';
import { listWatched, readPostgres, WATCHED_A_PAGE } from './operator-health-queries.ts';
import { depthOf } from './operator-jobs.ts';
import type { OperatorRoute } from './operator-routes.ts';
import { readQuery } from './read-query.ts';

interface HealthDeps {
  sql: Sql;
  redis: Redis;
  producer: Producer;
  config: Config;
}

/** How well the deployment is: stores, processes, queues, late jobs, and each organization in two figures. */
export function operatorHealth(deps: HealthDeps): OperatorRoute[] {
  const startedAt = realNow();
  return [
    {
      method: 'get',
      path: '/operations/health',
      run: ({ url }) => showHealth(deps, { startedAt, page: pageOf(readQuery(url).page) }),
    },
  ];
}

const MOST_PAGES = 10_000;

/** @throws Refusal 422 page: value_is_out_of_range */
function pageOf(text: unknown): number {
  if (text === undefined) return 1;
  const page = typeof text === 'string' && /^\d{1,5}$/.test(text) ? Number(text) : 0;
  if (page < 1 || page > MOST_PAGES) throw refuse.invalid({ page: [OUT_OF_RANGE] });
  return page;
}

/** Three statements, and as many answers of Redis as it has masters and queues. */
async function showHealth(
  { sql, redis, producer, config }: HealthDeps,
  { startedAt, page }: { startedAt: Temporal.Instant; page: number },
) {
  const now = realNow();
  const rows = schedule(config);
  const [postgres, stores, pools, last, watched, queues] = await Promise.all([
    readPostgres(sql),
    Promise.all(mastersOf(redis).map((node) => node.info())),
    listEnrolledPools(redis, config.REDIS_PREFIX),
    listLastTicks(
      sql,
      rows.map(({ job }) => job),
    ),
    listWatched(sql, page, now),
    Promise.all(producer.storedQueues().map(({ queue }) => depthOf(queue))),
  ]);
  const lastOf = new Map(last.map((tick) => [tick.job, tick]));
  return {
    health: {
      version: version(),
      started_at: seconds(startedAt),
      postgres,
      redis: {
        version: infoOf(stores[0] ?? '', 'redis_version'),
        used_memory_bytes: stores.reduce((sum, info) => sum + Number(infoOf(info, 'used_memory') ?? 0), 0),
        policy: infoOf(stores[0] ?? '', 'maxmemory_policy'),
      },
      pools: pools.map(({ name, processes, lastSeenAt }) => ({
        name,
        processes,
        last_seen_at: seconds(lastSeenAt),
      })),
      queues,
      late_jobs: rows.flatMap((row) => lateness(row, lastOf.get(row.job), now)),
      organizations: watched.slice(0, WATCHED_A_PAGE),
    },
    meta: { current_page: page, next_page: watched.length > WATCHED_A_PAGE ? page + 1 : null },
  };
}

const infoOf = (info: string, name: string): string | null =>
  new RegExp(`^${name}:(.*?)\\r?$`, 'm').exec(info)?.[1] ?? null;

/** How long a tick may wait to be claimed, and a run may take, before somebody should look. */
const CLAIMED_WITHIN_MINUTES = 2;
const DONE_WITHIN_HOURS = 1;

/** Why a job is late: its last tick is missing, its last run failed, or works for too long. */
function lateness(row: ScheduleRow, last: TickRow | undefined, now: Temporal.Instant) {
  const due = latestTick(row.tick, now.subtract({ minutes: CLAIMED_WITHIN_MINUTES }));
  const late = (reason: 'missed' | 'failed' | 'slow') => [
    { name: row.job, reason, due_at: seconds(due), error: last?.error ?? null },
  ];
  // A deployment that has just begun has claimed nothing yet.
  if (last === undefined) return [];
  if (last.error !== null) return late('failed');
  if (last.finished_at === null)
    return isBefore(last.claimed_at, now.subtract({ hours: DONE_WITHIN_HOURS })) ? late('slow') : [];
  return isBefore(last.tick_at, due) ? late('missed') : [];
}
