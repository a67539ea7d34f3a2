import { randomUUID } from 'node:crypto';
import type { Config } from '../platform/config.ts';
import type { OrganizationId } from '../platform/ids.ts';
import type { Log } from '../platform/log/log.ts';
import type { Operation, RateCategory } from '../platform/operation.ts';
import { positionsOf } from '../platform/positions/positions.ts';
import { enrol } from '../platform/process/enrolled-processes.ts';
import { openRuntime } from '../platform/process/runtime.ts';
import { publicUrl } from '../platform/public-url.ts';
import type { Producer } from '../platform/queue/producer.ts';
import { partsOf } from '../platform/queue/queue-names.ts';
import { keyChangesChannel } from '../platform/redis/channels.ts';
import { connectImpatiently, connectPatiently } from '../platform/redis/connect.ts';
import { onEveryConnection } from '../platform/redis/nodes.ts';
import { openReplies } from '../platform/replies/replies.ts';
import { startWithSecrets } from '../platform/secrets/check-secrets-at-start.ts';
import { Turns } from '../platform/turns/turns.ts';
import { version } from '../platform/version.ts';
import { reactions } from '../reactions.ts';
import { BASE_PATH, READ_TIMEOUT_MS } from './answer-request.ts';
import { type App, createApp, literalFirst } from './app.ts';
import { KeyCache } from './authenticate.ts';
import { createCommandLane } from './command-lane.ts';
import { mountMailView } from './console/mail-view.ts';
import { mountConsole } from './console/serve-console.ts';
import { mountSessionRoutes } from './console/session-routes.ts';
import { SignInFailures } from './console/sign-in-failures.ts';
import { createCustomerKeys } from './customer-keys.ts';
import { mountCustomerPortal } from './customer-portal.ts';
import { createDecisionsLane } from './decisions-lane.ts';
import { mountDocs } from './docs/mount-docs.ts';
import { mountDocuments } from './documents.ts';
import type { EdgeDeps } from './edge-deps.ts';
import { type Coalescer, createCoalescer } from './events-lane/coalescer.ts';
import { createEventsLane } from './events-lane/lane.ts';
import { NotStoredEvents } from './events-lane/not-stored.ts';
import { FairGate } from './fair-gate.ts';
import { createGatheringLane } from './gathering-lane.ts';
import { mountHealth } from './health.ts';
import { HeavyReads } from './heavy-reads.ts';
import { mountInboundEvents } from './inbound-events.ts';
import { KeyUsage } from './key-usage.ts';
import { LeaseStore } from './lease-store.ts';
import { watchLoop } from './loop-watch.ts';
import { mountMetrics } from './metrics.ts';
import { openApiDocument } from './openapi.ts';
import { withNamedParts } from './openapi-components.ts';
import { operatorHealth } from './operator-health.ts';
import { operatorJobs } from './operator-jobs.ts';
import { mountOperatorRoutes } from './operator-routes.ts';
import { operatorSteps } from './operator-steps.ts';
import { mountPayPage, PAY_WINDOW_SECONDS } from './pay-page.ts';
import { createPreviewLane } from './preview-lane.ts';
import { mountQueueBoard } from './queue-board.ts';
import { createLimiters, type Limiters } from './rate-limit.ts';
import { Replicas } from './read-replicas/replicas.ts';
import { createReadiness } from './readiness.ts';
import { watchStandby } from './standby-watch.ts';
import { noteRefusals } from './too-many-reads.ts';
import { createWire } from './translate-prefix.ts';
import { UncommittedLog } from './uncommitted-log.ts';
import { watchHandOver } from './watch-pools.ts';
import { RedisClock, WindowStore } from './window-store.ts';

// Longest wait for the limiter; if it is slower the request passes (rate-limits.md#counting).
const LIMITER_TIMEOUT_MS = 50;

/** The window in which the forms of a customer are counted. */
const PORTAL_FORMS_SECONDS = 60;

/** Statements of one organization's reads that may wait for its share of the connections; further ones get 503. */
const READS_WAITING = 1000;
/**
 * Longest wait of a statement; it ends before the read's own time limit, which would look like an outage of Postgres.
 */
const READ_WAITS_MS = READ_TIMEOUT_MS * 0.8;

/** Everything behind the address of an ingress that serves one cell: its app, with the stores that it uses. */
export interface Door extends App {
  producer: Producer;
  limiters: Limiters;
  /** Answers what is under way and closes the stores; nothing may arrive any more. */
  close(): Promise<void>;
}

export interface DoorOptions {
  operations: readonly Operation[];
  log?: Log | undefined;
  limiterTimeoutMs?: number | undefined;
  /** Name of the cell, where there are several. */
  cell?: string;
  /** Where events go that the door has read, if not into jobs for the storing workers. */
  coalescer?: Coalescer;
}

/** Opens what an ingress needs of one cell; who calls it listens. */
export async function openDoor(config: Config, options: DoorOptions): Promise<Door> {
  const { operations, log, limiterTimeoutMs = LIMITER_TIMEOUT_MS, cell } = options;
  const processId = randomUUID();
  const runtime = openRuntime(config, 'ingress', log, { statementTimeoutMs: READ_TIMEOUT_MS, reactions });
  try {
    await startWithSecrets(runtime);
  } catch (error) {
    await runtime.close();
    throw error;
  }
  const prefix = config.REDIS_PREFIX;
  const limiterRedis = connectImpatiently(config.REDIS_URL, 'ingress limiter', limiterTimeoutMs);
  const subscriber = connectPatiently(config.REDIS_URL, 'ingress replies');
  const keyChanges = connectPatiently(config.REDIS_URL, 'ingress key changes');
  runtime.noticeFallbacks([limiterRedis]);
  const positions = positionsOf({ ...runtime, redis: limiterRedis });
  const gate = {
    // Of 12 connections 6, so that the reads of one organization leave at least as many to the others.
    perKey: Math.max(2, Math.floor(config.DATABASE_POOL / 2)),
    waitingPerKey: READS_WAITING,
    waitsMs: READ_WAITS_MS,
    onRefused: noteRefusals('connections', runtime),
  };
  const replicas = positions && new Replicas({ ...runtime, positions }, { statementTimeoutMs: READ_TIMEOUT_MS, gate });
  const replies = await openReplies(subscriber, prefix, processId, (position) => replicas?.note(position));
  const clock = new RedisClock(limiterRedis);
  const loop = watchLoop();
  const standby = await watchStandby(runtime);
  const keys = new KeyCache(runtime.sql);
  keyChanges.on('message', (_channel, message) =>
    keys.forget((JSON.parse(message) as { organization_id: OrganizationId }).organization_id),
  );
  onEveryConnection(keyChanges, () => keys.forgetAll()); // changes announced while it was away were missed
  await keyChanges.subscribe(keyChangesChannel(prefix));
  const keyUsage = new KeyUsage(runtime.redis, prefix);
  const uncommitted = new UncommittedLog(runtime.producer);
  const keepPosition = async (organizationId: OrganizationId) =>
    replicas?.note(await positions?.keep([organizationId]));
  const lane = { sql: runtime.sql, producer: runtime.producer, replies, config, processId, keepPosition };
  const handOver = watchHandOver(runtime.redis, prefix, { parts: partsOf(config), whyNoWrites: standby.why });
  const decisions = createDecisionsLane({ ...lane, handOver });
  const notStored = new NotStoredEvents(runtime);
  const coalescer = options.coalescer ?? createCoalescer(lane);
  const events = createEventsLane({ ...runtime, redis: limiterRedis, config, decisions, notStored, coalescer });
  const deps: EdgeDeps = {
    cell,
    sql: runtime.sql,
    redis: limiterRedis,
    config,
    log: runtime.log,
    metrics: runtime.metrics,
    keys,
    keyUsage,
    reads: new FairGate(gate),
    replicas,
    heavyReads: new HeavyReads(noteRefusals('processor', runtime)),
    limiters: createLimiters(config, {
      of: (category) => (LEASED.has(category) ? lease(category) : window(category)),
      address: window('address'),
      session: window('session'),
      sessions: window('sessions'),
    }),
    customerKeys: createCustomerKeys(runtime.sql),
    commands: createCommandLane(lane),
    gathered: createGatheringLane(lane),
    previews: createPreviewLane(lane),
    turns: new Turns(),
    events,
    decisions,
    handOver,
    uncommitted,
    wire: createWire(config.WIRE_PREFIX),
  };
  function window(category: string, seconds = 1): WindowStore {
    const counted = `${prefix}:rl:${category}`;
    return new WindowStore({ redis: limiterRedis, prefix: counted, clock, loop, log: runtime.log, seconds });
  }
  function lease(category: string): LeaseStore {
    return new LeaseStore({ redis: limiterRedis, prefix: `${prefix}:rl:${category}`, processId, log: runtime.log });
  }
  const { app, listener } = createApp(deps, literalFirst(operations), {
    mountBelowBase: (root) =>
      mountOperatorRoutes(root, { ...runtime, limiters: deps.limiters }, [
        ...operatorJobs(runtime),
        ...operatorHealth(runtime),
        ...operatorSteps(runtime),
      ]),
    mount(root) {
      mountDocuments(root, deps);
      const failures = new SignInFailures(limiterRedis, prefix);
      mountConsole(root, config);
      if (config.CONSOLE) {
        mountSessionRoutes(root, { ...deps, failures });
        mountMailView(root, deps);
      }
      const { limiters, reads, heavyReads, turns } = deps;
      const windows = { pages: window('portal'), forms: window('portal_forms', PORTAL_FORMS_SECONDS) };
      const { commands, previews, handOver } = deps;
      const doors = { limiters, reads, replicas, heavyReads, turns, commands, previews, handOver, windows };
      mountCustomerPortal(root, { ...runtime, ...doors });
      mountPayPage(root, { ...runtime, ...deps, windows: window('pay', PAY_WINDOW_SECONDS) });
      const readiness = createReadiness({ ...runtime, replicas, standby });
      mountHealth(root, { ...runtime, readiness, replicas });
      mountMetrics(root, { ...runtime, readiness });
      const facts = { url: `${config.PUBLIC_URL ?? ''}${BASE_PATH}`, version: version() };
      if (config.DOCS)
        mountDocs(root, {
          makeDescription: () => withNamedParts(openApiDocument(operations, facts)),
          facts,
          api: `${publicUrl(config)}${BASE_PATH}`,
          inWire: deps.wire.documentation,
          apiOrigin: config.PUBLIC_URL && new URL(config.PUBLIC_URL).origin,
          hasConsole: config.CONSOLE,
        });
      mountInboundEvents(root, runtime, window('inbound'));
      mountQueueBoard(root, { producer: runtime.producer, config });
    },
  });
  const enrolled = await enrol(runtime, 'ingress');
  return {
    app,
    listener,
    producer: runtime.producer,
    limiters: deps.limiters,
    async close() {
      await Promise.all([events.stop(), decisions.stop()]);
      await Promise.all([uncommitted.close(), keyUsage.close(), notStored.close(), enrolled.close()]);
      clock.close();
      loop.close();
      deps.handOver.close();
      standby.close();
      replies.close();
      await replicas?.close();
      for (const redis of [limiterRedis, subscriber, keyChanges]) redis.disconnect();
      await runtime.close();
    },
  };
}

/** Categories with a rate high enough for leases; others ask Redis for every request (rate-limits.md#leases). */
const LEASED = new Set<RateCategory>(['events', 'events_bulk', 'access', 'budgets']);
