import type { Express } from 'express';
import type { Redis } from 'ioredis';
import { realNowMs } from '../platform/clock/real-clock.ts';
import type { Config } from '../platform/config.ts';
import type { Sql } from '../platform/db/connect.ts';
import { schemaState } from '../platform/db/migrate.ts';
import type { Producer } from '../platform/queue/producer.ts';
import { allStoredNames, partsOf } from '../platform/queue/queue-names.ts';
import { ping, standingQueues } from '../platform/queue/queue-progress.ts';
import { seenFallbacks } from '../platform/redis/fallbacks.ts';
import { faultsOf } from '../platform/redis/nodes.ts';
import { unknownKeys } from '../platform/secrets/check-secrets-at-start.ts';

const CHECK_WITHIN_MS = 2000;

/** `/health` (the process answers), `/ready` (stores answer, the tables are there and every queue moves). */
export function mountHealth(app: Express, deps: { sql: Sql; redis: Redis; producer: Producer; config: Config }): void {
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
    const [schema, faults, standing, fellBack, unknown] = await Promise.all([
      within(schemaState(deps.sql)),
      within(faultsOf(deps.redis)),
      within(standingQueues(deps.redis, deps.config.REDIS_PREFIX, names, startedAtMs)),
      within(seenFallbacks(deps.redis, deps.config.REDIS_PREFIX)),
      missingKeys(),
    ]);
    const isSchemaUsable = schema !== undefined && schema.state !== 'behind';
    const ready = isSchemaUsable && faults?.length === 0 && standing?.length === 0 && unknown?.length === 0;
    response.status(ready ? 200 : 503).json({
      status: ready ? 'ready' : 'not ready',
      postgres: schema !== undefined,
      schema: schema?.state ?? 'unknown',
      redis: faults?.length === 0,
      standing_queues: standing ?? names,
      ...(faults?.length ? { redis_faults: faults } : {}),
      ...(fellBack?.length ? { degraded: fellBack } : {}),
      ...(unknown?.length ? { code: 'secrets_key_unknown', secrets_keys: unknown } : {}),
    });
  });
}

/** The result of a look; undefined when it fails or takes too long. */
export async function within<Value>(work: Promise<Value>): Promise<Value | undefined> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<undefined>((resolve) => {
    timer = setTimeout(() => resolve(undefined), CHECK_WITHIN_MS);
  });
  const result = await Promise.race([work.catch(() => undefined), late]);
  clearTimeout(timer);
  return result;
}
