import type { Redis } from 'ioredis';
import { realNow, realNowMs } from '../../platform/clock/real-clock.ts';
import { positionsOf } from '../../platform/positions/positions.ts';
import { markProgress, PING_EVERY_MS } from '../../platform/queue/queue-progress.ts';
import type { Handlers } from '../../platform/queue/worker.ts';
import type { SystemDeps } from '../../platform/records/system-transaction.ts';
import type { CommandDeps } from '../run-command/run-command.ts';
import type { Registry } from '../run-periodic/periodic-registry.ts';
import { stepRegistry } from '../run-steps/step-registry.ts';
import { advance } from './advance-clock.ts';
import { listAbandoned } from './clock-lease.ts';
import { fallsDue } from './next-due-instant.ts';
import type { AdvanceDeps } from './walker.ts';

/** Delay after which a handed-over walk is continued. */
const HANDED_OVER_MS = 500;
/** Interval in which advances with a lost nudge or worker are found, beyond their lease. */
const LOOK_EVERY_MS = 2000;
const MOST_FOUND = 100;

/** The jobs of an advance, those of clock B in the order of the table. */
export const advanceDeps = (deps: SystemDeps & { redis: Redis }, registry: Registry): AdvanceDeps => ({
  sql: deps.sql,
  config: deps.config,
  log: deps.log,
  reactions: deps.reactions,
  producer: deps.producer,
  positions: positionsOf(deps),
  steps: stepRegistry(),
  jobs: jobsOfClockB(registry),
  onProgress: progressMarker(deps.redis, deps.config.REDIS_PREFIX),
});

/** Marks the queue as moving, because long advances may take all its slots while its pings wait. */
function progressMarker(redis: Redis, prefix: string): () => void {
  let markedMs = 0;
  return () => {
    const nowMs = realNowMs();
    if (nowMs - markedMs < PING_EVERY_MS) return;
    markedMs = nowMs;
    markProgress(redis, prefix, 'clocks').catch(() => {}); // the next mark tries again
  };
}

/** For the command that starts an advance: without due work no advance is needed. */
export const fallsDueBy =
  (registry: Registry): CommandDeps['fallsDue'] =>
  (scope, from, until) =>
    fallsDue(scope, jobsOfClockB(registry), { from, until });

const jobsOfClockB = (registry: Registry): AdvanceDeps['jobs'] =>
  registry.rows.flatMap((row) => {
    const job = registry.periodicJobs.find((each) => each.name === row.job);
    return job && row.clock === 'B' ? [{ row, job }] : [];
  });

/**
 * Handler of `clock.advance`. After `close` running advances stop at their next instant and are left to another worker,
 * so that stopping never waits for a long advance.
 */
export function clockAdvances(deps: AdvanceDeps): {
  handlers: Pick<Handlers, 'clock.advance'>;
  close(): Promise<void>;
} {
  let stopping = false;
  return {
    handlers: {
      async 'clock.advance'({ organization_id: organizationId }, info) {
        const outcome = await advance(deps, organizationId, () => stopping);
        if (outcome === 'stopped') await info.comeBack(HANDED_OVER_MS);
      },
    },
    async close() {
      stopping = true;
    },
  };
}

/**
 * Nudges advances again whose nudge was lost or whose worker has died (test-clocks.md#what-an-advance-promises
 * "crash").
 */
export function watchAbandonedAdvances(deps: Pick<SystemDeps, 'sql' | 'producer' | 'log'>): { close(): Promise<void> } {
  const look = async () => {
    try {
      const clocks = await listAbandoned(deps.sql, realNow(), MOST_FOUND);
      await deps.producer.addMany(
        'clock.advance',
        clocks.map((clock) => ({
          payload: { organization_id: clock.organization_id },
          options: { id: `advance-${clock.organization_id}`, forgetFailed: true },
        })),
      );
    } catch (error) {
      deps.log.warn({ err: error }, 'abandoned advances not looked for');
    }
  };
  const timer = setInterval(() => void look(), LOOK_EVERY_MS);
  return {
    async close() {
      clearInterval(timer);
    },
  };
}
