import { randomUUID } from 'node:crypto';
import type { Redis } from 'ioredis';
import { inject } from 'vitest';
import { deliveryHandlers } from '../../../../src/areas/messaging/deliver-webhooks/deliver.ts';
import { replayHandlers } from '../../../../src/areas/messaging/deliver-webhooks/replay.ts';
import { walkHandlers } from '../../../../src/areas/messaging/deliver-webhooks/walk-endpoint.ts';
import { type CreatedOrganization, createOrganization } from '../../../../src/areas/tenancy/organizations/commands.ts';
import { realNow } from '../../../../src/platform/clock/real-clock.ts';
import { type Config, loadConfig } from '../../../../src/platform/config.ts';
import { createOutgoing } from '../../../../src/platform/http/outgoing.ts';
import { newId } from '../../../../src/platform/ids.ts';
import { createLog } from '../../../../src/platform/log/log.ts';
import { createProducer, type Producer } from '../../../../src/platform/queue/producer.ts';
import { serveQueue } from '../../../../src/platform/queue/worker.ts';
import { nudge } from '../../../../src/platform/records/nudge.ts';
import { emptyRecords, writeRecords } from '../../../../src/platform/records/write-records.ts';
import { connectPatiently } from '../../../../src/platform/redis/connect.ts';
import { createTestDatabase, type TestDatabase } from '../../../support/database.ts';
import { removeAllKeys } from '../../../support/redis-keys.ts';

export interface Delivery {
  id: string;
  status: string;
  retries: number;
  attempts_left: number | null;
  http_status: number | null;
  response: string | null;
  endpoint: string;
  next_attempt_at: { epochMilliseconds: number } | null;
  last_retried_at: { epochMilliseconds: number } | null;
  updated_at: { epochMilliseconds: number };
}

export interface Endpoint {
  status: string;
  disabled_reason: string | null;
  consecutive_failures: number;
  failures_since: object | null;
  circuit_open_until: { epochMilliseconds: number } | null;
}

export interface Stage {
  database: TestDatabase;
  redis: Redis;
  producer: Producer;
  config: Config;
  /** Starts a worker of the pool; stopped with the stage at the latest. */
  work(settings?: Record<string, string>): { close(): Promise<void> };
  org(): Promise<CreatedOrganization>;
  endpoint(
    organization: CreatedOrganization,
    url: string,
    fields?: { signature_algo?: string; event_types?: string[] | null; secret?: string },
  ): Promise<string>;
  /** Records events as a command does: rows in one transaction, jobs after commit unless they are lost. */
  emit(organization: CreatedOrganization, events: { type: string; object: object }[], lost?: 'jobs'): Promise<void>;
  deliveries(endpointId: string): Promise<Delivery[]>;
  readEndpoint(endpointId: string): Promise<Endpoint>;
  close(): Promise<void>;
}

/** Database, queue and workers of deliveries, without the rest of the service. */
export async function openStage(settings: Record<string, string> = {}): Promise<Stage> {
  const database = await createTestDatabase();
  const { sql } = database;
  const environment = {
    DATABASE_URL: database.url,
    REDIS_URL: inject('redisUrl'),
    REDIS_PREFIX: `t${randomUUID().slice(0, 8)}`,
    WEBHOOK_ALLOW_PRIVATE_NETWORKS: 'true',
    PUBLIC_URL: 'https://billing.example',
    ...settings,
  };
  const config = loadConfig(environment);
  const redis = connectPatiently(config.REDIS_URL, 'test');
  const producer = createProducer(redis, config.REDIS_PREFIX);
  const log = createLog({ level: 'silent', process: 'test' });
  const workers: { close(): Promise<void> }[] = [];
  return {
    database,
    redis,
    producer,
    config,
    work(more = {}) {
      const own = loadConfig({ ...environment, ...more });
      const outgoing = createOutgoing({ allowPrivate: own.WEBHOOK_ALLOW_PRIVATE_NETWORKS });
      const handlers = {
        ...deliveryHandlers({ sql, redis, producer, config: own, log, outgoing }),
        ...replayHandlers({ sql, producer }),
        ...walkHandlers({ sql, producer }),
        // The other tenants of the queue; no test here has work for them.
        async 'vat.check'() {},
        async 'e-document.send'() {},
        async 'mail.send'() {},
      };
      const served = serveQueue('webhooks', handlers, {
        redis,
        prefix: own.REDIS_PREFIX,
        concurrency: own.CONCURRENCY_WEBHOOKS,
        log,
      });
      let closed: Promise<void> | undefined;
      const worker = {
        close() {
          closed ??= served.close().then(() => outgoing.close());
          return closed;
        },
      };
      workers.push(worker);
      return worker;
    },
    org: () => createOrganization(sql, { name: 'Acme', sandbox: true }),
    async endpoint({ organization_id }, url, fields = {}) {
      const id = newId();
      await sql`
        insert into webhook_endpoints (id, organization_id, webhook_url, signature_algo, event_types, secret,
          created_at, updated_at)
        values (${id}, ${organization_id}, ${url}, ${fields.signature_algo ?? 'hmac'}, ${fields.event_types ?? null},
          ${fields.secret ?? 'whsec_MDEyMzQ1Njc4OTAxMjM0NTY3ODkwMTIzNDU2Nzg5MDE='}, ${realNow()}, ${realNow()})`;
      return id;
    },
    async emit({ organization_id }, events, lost) {
      const records = emptyRecords();
      for (const { type, object } of events)
        records.webhooks.push({ type, objectType: type.split('.')[0]!, objectId: newId(), object });
      const meta = { organizationId: organization_id, actor: { source: 'system', apiKeyId: null } as const };
      const nudges = await sql.begin((tx) =>
        writeRecords(tx, { ...meta, now: realNow(), realNow: realNow() }, records),
      );
      if (lost !== 'jobs') await nudge(producer, organization_id, nudges);
    },
    deliveries: (endpointId) => sql<Delivery[]>`
      select * from webhook_deliveries where webhook_endpoint_id = ${endpointId} order by created_at, id`,
    async readEndpoint(endpointId) {
      const [row] = await sql<Endpoint[]>`select * from webhook_endpoints where id = ${endpointId}`;
      return row!;
    },
    async close() {
      await Promise.all(workers.map((worker) => worker.close()));
      await producer.close();
      await removeAllKeys(redis, config.REDIS_PREFIX);
      redis.disconnect();
      await database.drop();
    },
  };
}

export const customers = (count: number) =>
  Array.from({ length: count }, (_, index) => ({
    type: 'customer.created',
    object: { svc_id: newId(), external_id: `c${index}` },
  }));
