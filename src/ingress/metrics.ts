import type { Express } from 'express';
import { priceAgeInDays } from '../areas/catalog/price-book/price-age.ts';
import { countOpenByKind } from '../areas/payments/provider-drifts/queries.ts';
import { countOpenByCheck, lastSuccesses } from '../areas/reporting/audits/queries.ts';
import { countLateWork } from '../areas/reporting/late-work.ts';
import { sumUnmatchedByReason } from '../areas/usage/unmatched-events/queries.ts';
import { countSteps } from '../jobs/after-steps/queries.ts';
import { realNow, realNowMs } from '../platform/clock/real-clock.ts';
import type { Config } from '../platform/config.ts';
import type { Sql } from '../platform/db/connect.ts';
import type { Metrics } from '../platform/metrics/metrics.ts';
import type { SharedMetrics } from '../platform/metrics/shared-metrics.ts';
import type { Producer } from '../platform/queue/producer.ts';
import { within } from './answered-within.ts';
import { operatorOnly } from './operator-only.ts';
import { pendingSince } from './pending-since.ts';
import type { Found } from './readiness.ts';

/** `/metrics` (Prometheus): what all processes count, and what is read while it is scraped. */
export function mountMetrics(
  app: Express,
  deps: {
    sql: Sql;
    producer: Producer;
    metrics: Metrics;
    sharedMetrics: SharedMetrics;
    config: Config;
    readiness: () => Promise<Found[]>;
  },
): void {
  app.get('/metrics', operatorOnly(deps.config), async (_request, response) => {
    await Promise.all([
      within(measureQueues(deps.producer, deps.metrics)),
      within(measureUnmatched(deps.sql, deps.metrics)),
      within(measureAudits(deps.sql, deps.metrics)),
      within(measureDrifts(deps.sql, deps.metrics)),
      within(measurePrices(deps.sql, deps.metrics)),
      within(measureLateWork(deps.sql, deps.metrics)),
      within(measureSteps(deps.sql, deps.metrics)),
      deps.readiness(), // measures what it finds
    ]);
    const all = await within(deps.sharedMetrics.collect());
    response.type(deps.metrics.registry.contentType).send(all ?? (await deps.metrics.registry.metrics()));
  });
}

async function measureQueues(producer: Producer, metrics: Metrics): Promise<void> {
  await Promise.all(
    producer.storedQueues().map(async ({ queue }) => {
      const { name } = queue;
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

async function measureDrifts(sql: Sql, metrics: Metrics): Promise<void> {
  const open = await countOpenByKind(sql);
  metrics.providerDriftsOpen.reset();
  for (const { kind, count } of open) metrics.providerDriftsOpen.set({ kind }, count);
}

async function measurePrices(sql: Sql, metrics: Metrics): Promise<void> {
  const days = await priceAgeInDays(sql, realNow());
  metrics.priceBookAgeDays.remove();
  if (days !== null) metrics.priceBookAgeDays.set(days);
}

async function measureLateWork(sql: Sql, metrics: Metrics): Promise<void> {
  for (const { what, count } of await countLateWork(sql, realNow())) metrics.lateWork.set({ what }, count);
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
