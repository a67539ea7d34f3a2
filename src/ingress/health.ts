import type { Express } from 'express';
import type { Redis } from 'ioredis';
import { realNowMs } from '../platform/clock/real-clock.ts';
import type { Config } from '../platform/config.ts';
import type { Sql } from '../platform/db/connect.ts';
import { schemaState } from '../platform/db/migrate.ts';
import type { Producer } from '../platform/queue/producer.ts';
import { allStoredNames, partsOf } from '../platform/queue/queue-names.ts';
import { ping, standingQueues } from '../platform/queue/queue-progress.ts';
import { faultsOf } from '../platform/redis/nodes.ts';
import { unknownKeys } from '../platform/secrets/check-secrets-at-start.ts';
import { within } from './answered-within.ts';
import type { Replicas } from './read-replicas/replicas.ts';
import type { Found } from './readiness.ts';

interface HealthDeps {
  sql: Sql;
  redis: Redis;
  producer: Producer;
  config: Config;
  readiness: () => Promise<Found[]>;
  replicas: Replicas | undefined;
}

/**
 * `/health` (the process answers), `/ready` (stores answer, the tables are there and every queue moves; 200 `degraded`
 * with reasons when it works, but not as it should).
 *
 * Rule: several-hosts.md#silence-speaks.
 */
export function mountHealth(app: Express, deps: HealthDeps): void {
  const startedAtMs = realNowMs();
  // So that a start waits for a job of each queue, not for the workers' next ping.
  // workers ping too
  for (const { queue } of deps.producer.storedQueues()) void ping(queue).catch(() => {});
  const names = allStoredNames(partsOf(deps.config));
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
    const [schema, faults, standing, unknown, troubles] = await Promise.all([
      within(schemaState(deps.sql)),
      within(faultsOf(deps.redis)),
      within(standingQueues(deps.redis, deps.config.REDIS_PREFIX, names, startedAtMs)),
      missingKeys(),
      deps.readiness(),
    ]);
    const isSchemaUsable = schema !== undefined && schema.state !== 'behind';
    const isServing = isSchemaUsable && faults?.length === 0 && standing?.length === 0 && unknown?.length === 0;
    const ready = isServing && !troubles.some(({ stops }) => stops);
    response.status(ready ? 200 : 503).json({
      status: ready ? (troubles.length === 0 ? 'ready' : 'degraded') : 'not ready',
      postgres: schema !== undefined,
      schema: schema?.state ?? 'unknown',
      redis: faults?.length === 0,
      standing_queues: standing ?? names,
      ...(faults?.length ? { redis_faults: faults } : {}),
      reasons: troubles.map(({ check, reason }) => ({ check, reason })),
      ...(deps.replicas ? { read_replicas: deps.replicas.shown() } : {}),
      ...(unknown?.length ? { code: 'secrets_key_unknown', secrets_keys: unknown } : {}),
    });
  });
}
