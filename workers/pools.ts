import { taxHandlers } from '../src/areas/billing/tax-engines/ask.ts';
import { CatalogCache } from '../src/areas/catalog/usage-shapes/storing-catalog.ts';
import { vatCheckHandlers } from '../src/areas/customers/check-vat-numbers/jobs.ts';
import { integrationHandlers } from '../src/areas/customers/integrations/jobs.ts';
import { hybridPages } from '../src/areas/documents/e-documents/hybrid-documents.ts';
import { eDocumentHandlers } from '../src/areas/documents/e-documents/jobs.ts';
import { transmissionHandlers } from '../src/areas/documents/e-documents/transmissions/jobs.ts';
import { documentHandlers } from '../src/areas/documents/render-documents/jobs.ts';
import { deliveryHandlers } from '../src/areas/messaging/deliver-webhooks/deliver.ts';
import { replayHandlers } from '../src/areas/messaging/deliver-webhooks/replay.ts';
import { walkHandlers } from '../src/areas/messaging/deliver-webhooks/walk-endpoint.ts';
import { startSequencer } from '../src/areas/messaging/number-events/sequencer.ts';
import { mailHandlers } from '../src/areas/messaging/send-mails/jobs.ts';
import { paymentHandlers } from '../src/areas/payments/collect-payments/jobs.ts';
import { reconcileHandlers } from '../src/areas/payments/reconcile-providers/jobs.ts';
import { analyticsHandlers, watchAnalyticsMarks } from '../src/areas/reporting/roll-up-analytics/jobs.ts';
import { auditHandlers } from '../src/areas/tenancy/write-api-logs/jobs.ts';
import { openCounters } from '../src/areas/usage/access/counters.ts';
import { decisionHandlers } from '../src/areas/usage/budget-holds/decision-jobs.ts';
import { shapeHandlers } from '../src/areas/usage/build-shapes/jobs.ts';
import { CONNECTORS_CONNECTIONS, startConnectors } from '../src/areas/usage/connectors/start-connectors.ts';
import { finishHandlers } from '../src/areas/usage/ingest-events/finish-jobs.ts';
import { storeHandlers } from '../src/areas/usage/ingest-events/jobs.ts';
import { createFinisherNudge } from '../src/areas/usage/ingest-events/nudge-finisher.ts';
import { flowCommands } from '../src/flow-commands.ts';
import { advanceDeps, clockAdvances, fallsDueBy, watchAbandonedAdvances } from '../src/jobs/advance-clock/jobs.ts';
import { askingHandlers } from '../src/jobs/run-command/ask-first.ts';
import { gatheredHandlers } from '../src/jobs/run-command/gathered-jobs.ts';
import { commandHandlers } from '../src/jobs/run-command/jobs.ts';
import { previewHandlers } from '../src/jobs/run-command/preview-jobs.ts';
import { periodicTickHandlers, periodicWorkHandlers } from '../src/jobs/run-periodic/jobs.ts';
import { registryOf } from '../src/jobs/run-periodic/periodic-registry.ts';
import { startScheduler } from '../src/jobs/run-periodic/scheduler.ts';
import { stepRunHandlers } from '../src/jobs/run-steps/jobs.ts';
import { stepRegistry } from '../src/jobs/run-steps/step-registry.ts';
import {
  type Closable,
  type Pool,
  type PoolStart,
  runPoolProcess,
  servePools,
} from '../src/jobs/serve-pools/serve-pools.ts';
import { operationsByName } from '../src/operations.ts';
import type { Config } from '../src/platform/config.ts';
import { createRenderer } from '../src/platform/documents/renderer.ts';
import { createOutgoing } from '../src/platform/http/outgoing.ts';
import type { Log } from '../src/platform/log/log.ts';
import { createMailer } from '../src/platform/mail/mailer.ts';
import { positionsOf } from '../src/platform/positions/positions.ts';
import type { Runtime } from '../src/platform/process/runtime.ts';
import { partsOf } from '../src/platform/queue/queue-names.ts';
import { type Handlers, serveQueue } from '../src/platform/queue/worker.ts';
import { announceKeys } from '../src/platform/redis/announce-keys.ts';
import { sealFormerSecrets } from '../src/platform/secrets/check-secrets-at-start.ts';
import { preSteps } from '../src/pre-steps.ts';
import type { QueueName } from '../src/queues.ts';
import { reactions } from '../src/reactions.ts';

/**
 * Serves a queue whose jobs need no connection of their own, because their statements are merged or they mostly wait.
 */
const serveMany = (runtime: Runtime, queue: QueueName, concurrency: number, handlers: Partial<Handlers>): Closable =>
  serveQueue(queue, handlers, {
    redis: runtime.redis,
    prefix: runtime.config.REDIS_PREFIX,
    parts: partsOf(runtime.config),
    concurrency,
    log: runtime.log,
    answerWithinMs: runtime.config.WRITE_TIMEOUT_SECONDS * 1000,
    onFinished: ({ queue: name, name: job, seconds, failed }) => {
      runtime.metrics.jobs.inc({ queue: name, job, outcome: failed ? 'failed' : 'done' });
      runtime.metrics.jobSeconds.observe({ queue: name, job }, seconds);
    },
  });

/** Serves a queue with no more concurrent jobs than connections, so that no job with a slot waits for a connection. */
const serve = (runtime: Runtime, queue: QueueName, concurrency: number, handlers: Partial<Handlers>): Closable =>
  serveMany(runtime, queue, slotsOf(runtime.config, concurrency), handlers);

/** Connections of a pool for work outside its main queue: API log rows, watchers, checks after a start. */
const BESIDE_JOBS = 2;
const slotsOf = (config: Config, concurrency: number): number =>
  Math.max(1, Math.min(concurrency, config.DATABASE_POOL - BESIDE_JOBS));

const commandDeps = (runtime: Runtime) => ({
  ...runtime,
  positions: positionsOf(runtime),
  operations: operationsByName,
  flows: flowCommands,
  announceKeys: announceKeys(runtime.redis, runtime.config.REDIS_PREFIX),
  fallsDue: fallsDueBy(registryOf(runtime.config)),
});

/** How many ticks run at the same time. */
const TICKS_AT_ONCE = 3;
/** Of how many organizations the sums are updated at the same time, each with a connection. */
const ANALYTICS_AT_ONCE = 2;

/** The pools: their queues with handlers and concurrency. One process each under pm2. */
export const pools = {
  writes: (runtime) => [
    serve(runtime, 'writes', runtime.config.CONCURRENCY_WRITES, {
      ...commandHandlers(commandDeps(runtime)),
      ...gatheredHandlers(commandDeps(runtime)),
    }),
    serve(runtime, 'audit', 1, auditHandlers(runtime.sql)),
  ],
  // More commands than connections: they mostly wait for providers, and hold no connection meanwhile.
  asking: (runtime) => [
    serveMany(
      runtime,
      'asking',
      runtime.config.CONCURRENCY_ASKING,
      askingHandlers({ ...commandDeps(runtime), preSteps }),
    ),
  ],
  'credit-notes': (runtime) => [
    serve(
      runtime,
      'credit-notes',
      runtime.config.CONCURRENCY_CREDIT_NOTES,
      commandHandlers(commandDeps(runtime), 'credit-note.command'),
    ),
  ],
  previews: (runtime) => [
    serve(runtime, 'previews', runtime.config.CONCURRENCY_PREVIEWS, previewHandlers(commandDeps(runtime))),
  ],
  events: (runtime) => {
    const finisher = createFinisherNudge(runtime.producer);
    const counters = openCounters(runtime.redis, runtime.config.REDIS_PREFIX);
    const handlers = storeHandlers({
      ...runtime,
      catalogs: new CatalogCache(),
      finisher,
      counters,
      positions: positionsOf(runtime),
    });
    const served = serveMany(runtime, 'events', runtime.config.CONCURRENCY_EVENTS, handlers);
    return [
      {
        async close() {
          await served.close();
          await finisher.flush();
        },
      },
    ];
  },
  budgets: (runtime) => {
    const finisher = createFinisherNudge(runtime.producer);
    const counters = openCounters(runtime.redis, runtime.config.REDIS_PREFIX);
    const handlers = decisionHandlers({
      ...runtime,
      catalogs: new CatalogCache(),
      finisher,
      counters,
      positions: positionsOf(runtime),
    });
    const served = serve(runtime, 'decisions', runtime.config.CONCURRENCY_BUDGETS, handlers);
    return [
      {
        async close() {
          await served.close();
          await finisher.flush();
        },
      },
    ];
  },
  // No queue: it reads the streams of CONNECTORS_FILE.
  connectors: (runtime) => startConnectors(runtime),
  aggregation: (runtime) => [
    serve(runtime, 'aggregation', runtime.config.CONCURRENCY_AGGREGATION, {
      ...finishHandlers(runtime),
      ...shapeHandlers(runtime),
    }),
  ],
  billing: (runtime) => [
    serve(runtime, 'billing', runtime.config.CONCURRENCY_BILLING, {
      ...stepRunHandlers(runtime, stepRegistry()),
      ...periodicWorkHandlers(runtime, registryOf(runtime.config)),
    }),
  ],
  clocks: (runtime) => {
    const advances = clockAdvances(advanceDeps(runtime, registryOf(runtime.config)));
    return [
      advances,
      watchAbandonedAdvances(runtime),
      serve(runtime, 'clocks', runtime.config.CONCURRENCY_CLOCKS, advances.handlers),
    ];
  },
  webhooks: (runtime) => {
    const outgoing = createOutgoing({ allowPrivate: runtime.config.WEBHOOK_ALLOW_PRIVATE_NETWORKS });
    const register = createOutgoing({ allowPrivate: true });
    const mailer = createMailer(runtime.config);
    const handlers = {
      ...deliveryHandlers({ ...runtime, outgoing }),
      ...replayHandlers(runtime),
      ...walkHandlers(runtime),
      ...mailHandlers(runtime, mailer),
      ...transmissionHandlers(runtime),
      ...vatCheckHandlers({ ...runtime, outgoing: register }),
    };
    const served = serveMany(runtime, 'webhooks', runtime.config.CONCURRENCY_WEBHOOKS, handlers);
    return [
      startSequencer(runtime),
      {
        async close() {
          await served.close();
          await outgoing.close();
          await register.close();
          mailer?.close();
        },
      },
    ];
  },
  documents: (runtime) => {
    const ownFont = runtime.config.DOCUMENT_FONT ?? null;
    const renderer = createRenderer({ ownFont });
    const slowRenderer = createRenderer({ ownFont, isSlow: true });
    const handlers = {
      ...documentHandlers({ ...runtime, renderer, slowRenderer, hybridPage: hybridPages(runtime) }),
      ...eDocumentHandlers({ ...runtime, renderer }),
    };
    const served = serve(runtime, 'documents', runtime.config.CONCURRENCY_DOCUMENTS, handlers);
    return [
      {
        async close() {
          await served.close();
          await renderer.close();
          await slowRenderer.close();
        },
      },
    ];
  },
  payments: (runtime) => [
    serve(runtime, 'payments', runtime.config.CONCURRENCY_PAYMENTS, {
      ...paymentHandlers(runtime),
      ...reconcileHandlers(runtime),
      ...integrationHandlers(runtime),
      ...taxHandlers(runtime),
    }),
  ],
  analytics: (runtime) => [
    watchAnalyticsMarks(runtime),
    serve(runtime, 'analytics', ANALYTICS_AT_ONCE, analyticsHandlers(runtime)),
  ],
  scheduler: (runtime) => {
    const registry = registryOf(runtime.config);
    // Only in this pool, because it is started last, when no process of an older version reads what it seals.
    const sealing = sealFormer(runtime);
    return [
      { close: () => sealing },
      startScheduler(runtime, registry.rows),
      serve(runtime, 'periodic', TICKS_AT_ONCE, periodicTickHandlers(runtime, registry)),
    ];
  },
} satisfies Record<string, PoolStart>;

async function sealFormer({ sql, config, log }: Runtime): Promise<void> {
  try {
    const texts = await sealFormerSecrets(sql, config);
    if (texts.sealed + texts.closed > 0) log.info(texts, 'stored secrets of former starts sealed');
  } catch (error) {
    log.warn({ err: (error as Error).message }, 'stored secrets of former starts are left for the next one');
  }
}

export type PoolName = keyof typeof pools;

/** Statements that store events (two at the same time, in two parts each) or explain them. */
const EVENTS_CONNECTIONS = 6;
/** Short transactions before and after a question. */
const ASKING_CONNECTIONS = 6;
/** Deliveries are read and written by merged statements. */
const WEBHOOKS_CONNECTIONS = 6;
/** An advance of a clock and a tick of the schedule renew their lease while they work. */
const CONNECTIONS_OF_LEASED_JOB = 2;

/** How many connections a pool can use at the same time, if it gets that many. */
const connections: Record<PoolName, (config: Config) => number> = {
  writes: (config) => config.CONCURRENCY_WRITES + BESIDE_JOBS,
  asking: () => ASKING_CONNECTIONS,
  'credit-notes': (config) => config.CONCURRENCY_CREDIT_NOTES + BESIDE_JOBS,
  previews: (config) => config.CONCURRENCY_PREVIEWS + BESIDE_JOBS,
  events: () => EVENTS_CONNECTIONS,
  budgets: (config) => config.CONCURRENCY_BUDGETS + BESIDE_JOBS,
  connectors: () => CONNECTORS_CONNECTIONS,
  aggregation: (config) => config.CONCURRENCY_AGGREGATION + BESIDE_JOBS,
  billing: (config) => config.CONCURRENCY_BILLING + BESIDE_JOBS,
  clocks: (config) => CONNECTIONS_OF_LEASED_JOB * config.CONCURRENCY_CLOCKS + BESIDE_JOBS,
  webhooks: () => WEBHOOKS_CONNECTIONS,
  documents: (config) => config.CONCURRENCY_DOCUMENTS + BESIDE_JOBS,
  payments: (config) => config.CONCURRENCY_PAYMENTS + BESIDE_JOBS,
  analytics: () => ANALYTICS_AT_ONCE + BESIDE_JOBS,
  scheduler: () => CONNECTIONS_OF_LEASED_JOB * TICKS_AT_ONCE + BESIDE_JOBS,
};

/** Starts the named pools in this process; `close` lets running jobs finish. */
export function startPools(config: Config, wanted: PoolName[], log?: Log): Promise<Closable> {
  const isAsked = (pool: PoolName) =>
    pool !== 'connectors' || wanted.length === 1 || config.CONNECTORS_FILE !== undefined;
  const served = wanted
    .filter(isAsked)
    .map((pool): Pool => ({ name: pool, start: pools[pool], connections: connections[pool](config) }));
  return servePools(config, { name: nameOf(wanted), pools: served, reactions }, log);
}

const nameOf = (wanted: readonly PoolName[]): string => (wanted.length === 1 ? wanted[0]! : 'workers');

/** A whole worker process of the named pools. */
export const runPools = (names: PoolName[]): Promise<void> =>
  runPoolProcess(nameOf(names), (config, log) => startPools(config, names, log));
