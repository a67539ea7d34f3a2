import type { Express } from 'express';
import type { Redis } from 'ioredis';
import { countOpenByCheck, lastSuccesses } from '../areas/reporting/audits/queries.ts';
import { sumUnmatchedByReason } from '../areas/usage/unmatched-events/queries.ts';
import { countSteps } from '../jobs/after-steps/queries.ts';
import { realNowMs } from '../platform/clock/real-clock.ts';
import type { Config } from '../platform/config.ts';
import type { Sql } from '../platform/db/connect.ts';
import { schemaState } from '../platform/db/migrate.ts';
import type { Metrics } from '../platform/metrics/metrics.ts';
import type { SharedMetrics } from '../platform/metrics/shared-metrics.ts';
import type { Producer } from '../platform/queue/producer.ts';
import { ping, standingQueues } from '../platform/queue/queue-progress.ts';
import { unknownKeys } from '../platform/secrets/check-secrets-at-start.ts';
import { type QueueName, queues } from '../queues.ts';
import { operatorOnly } from './operator-only.ts';
import { pendingSince } from './pending-since.ts';

const CHECK_WITHIN_MS = 2000;

/**
 * `/health` (the process answers), `/ready` (stores answer, the tables are there and every queue moves), `/metrics`
 * (Prometheus).
 */
export function mountHealth(
  app: Express,
  deps: { sql: Sql; redis: Redis; producer: Producer; metrics: Metrics; sharedMetrics: SharedMetrics; config: Config },
): void {
  const startedAtMs = realNowMs();
  // So that a start waits for a job of each queue, not for the workers' next ping.
  // workers ping too
  for (const name of Object.keys(queues) as QueueName[]) void ping(deps.producer.queue(name)).catch(() => {});
  // Checked until nothing is missing, because the settings of a process do not change.
  let isComplete = false;
  const missingKeys = async () => {
    if (isComplete) return [];
    const unknown = await within(unknownKeys(deps.sql, deps.config));
    isComplete = unknown?.length === 0;
    return unknown;
  };
  app.get('/health', (_request, response) => {
    response.json({ status: 'ok' });
  });
  app.get('/ready', async (_request, response) => {
    const [schema, redis, standing, unknown] = await Promise.all([
      within(schemaState(deps.sql)),
      within(deps.redis.ping().then(() => true)),
      within(standingQueues(deps.redis, deps.config.REDIS_PREFIX, startedAtMs)),
      missingKeys(),
    ]);
    const isSchemaUsable = schema !== undefined && schema.state !== 'behind';
    const ready = isSchemaUsable && redis === true && standing?.length === 0 && unknown?.length === 0;
    response.status(ready ? 200 : 503).json({
      status: ready ? 'ready' : 'not ready',
      postgres: schema !== undefined,
      schema: schema?.state ?? 'unknown',
      redis: redis === true,
      standing_queues: standing ?? Object.keys(queues),
      ...(unknown?.length ? { code: 'secrets_key_unknown', secrets_keys: unknown } : {}),
    });
  });
  app.get('/metrics', operatorOnly(deps.config), async (_request, response) => {
    await Promise.all([
      within(measureQueues(deps.producer, deps.metrics)),
      within(measureUnmatched(deps.sql, deps.metrics)),
      within(measureAudits(deps.sql, deps.metrics)),
      within(measureSteps(deps.sql, deps.metrics)),
    ]);
    const all = await within(deps.sharedMetrics.collect());
    response.type(deps.metrics.registry.contentType).send(all ?? (await deps.metrics.registry.metrics()));
  });
}

async function within<Value>(work: Promise<Value>): Promise<Value | undefined> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<undefined>((resolve) => {
    timer = setTimeout(() => resolve(undefined), CHECK_WITHIN_MS);
  });
  const result = await Promise.race([work.catch(() => undefined), late]);
  clearTimeout(timer);
  return result;
}

async function measureQueues(producer: Producer, metrics: Metrics): Promise<void> {
  await Promise.all(
    (Object.keys(queues) as QueueName[]).map(async (name) => {
      const queue = producer.queue(name);
      const [counts, since] = await Promise.all([queue.getJobCounts(), pendingSince(queue)]);
      for (const [state, count] of Object.entries(counts)) metrics.queueJobs.set({ queue: name, state }, count);
      metrics.queueAgeSeconds.set({ queue: name }, since ? (realNowMs() - since.epochMilliseconds) / 1000 : 0);
    }),
  );
}

async function measureAudits(sql: Sql, metrics: Metrics): Promise<void> {
  const [open, runs] = await Promise.all([countOpenByCheck(sql), lastSuccesses(sql)]);
  metrics.auditFindingsOpen.reset();
  for (const { check, count } of open) metrics.auditFindingsOpen.set({ check }, count);
  for (const { mode, at } of runs) metrics.auditLastSuccess.set({ mode }, at);
}

async function measureSteps(sql: Sql, metrics: Metrics): Promise<void> {
  const counts = await countSteps(sql);
  metrics.stepsOwed.reset();
  for (const { job, state, count } of counts) metrics.stepsOwed.set({ job, state }, count);
}

async function measureUnmatched(sql: Sql, metrics: Metrics): Promise<void> {
  const sums = await sumUnmatchedByReason(sql);
  metrics.unmatchedEvents.reset();
  for (const { reason, count } of sums) metrics.unmatchedEvents.set({ reason }, count);
}
