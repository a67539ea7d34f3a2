import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { z } from 'zod';
import { type Ingress, startIngress } from '../../src/ingress/start-ingress.ts';
import { createLog } from '../../src/platform/log/log.ts';
import type { Operation } from '../../src/platform/operation.ts';
import { probeRedis } from '../../src/platform/process/probe-stores.ts';
import { allStoredNames, partsOf } from '../../src/platform/queue/queue-names.ts';
import { startPools } from '../../workers/pools.ts';
import { createClient } from '../support/client.ts';
import { openHookReceiver } from '../support/hook-receiver.ts';
import { EVERY_POOL, PATIENT_LIMITER_MS, startService, type TestService } from '../support/service.ts';
import { openStory } from '../support/story.ts';
import { until } from '../support/until.ts';
import { ok, wordsOf } from '../support/words.ts';
import { lacks } from './support/programs.ts';
import { type RunningCluster, startCluster } from './support/redis-cluster.ts';

const log = createLog({ level: 'silent', process: 'test' });
const LIMIT = 100;

/** Counts as an event does, and answers at once: only the limiter is asked. */
const limited: Operation = {
  name: 'limited',
  method: 'get',
  path: '/limited',
  permission: null,
  summary: 'Probe',
  tag: 'probes',
  category: 'events',
  answer: z.object({}),
  kind: 'read',
  // Where they are let through: an answer may come in a later second than the call.
  run: async () => {
    passed.set(second(), (passed.get(second()) ?? 0) + 1);
    return { ok: true };
  },
};
/** Calls let through by second. */
const passed = new Map<number, number>();

/** Two ingress processes that only limit, on the Redis of a service. */
async function openLimited(service: TestService): Promise<Ingress[]> {
  const config = { ...service.config, RATE_LIMIT_EVENTS: LIMIT };
  return Promise.all([1, 2].map(() => startIngress(config, [limited], log, PATIENT_LIMITER_MS)));
}

const second = () => Math.floor(Date.now() / 1000);

describe.skipIf(lacks('redis-server'))('three masters', () => {
  let cluster: RunningCluster;
  let service: TestService;
  beforeAll(async () => {
    cluster = await startCluster();
    service = await startService({ pools: EVERY_POOL, settings: { REDIS_URL: cluster.url, EVENTS_QUEUES: '3' } });
  });
  afterAll(async () => {
    await service?.stop();
    await cluster?.stop();
  });
  const ready = async () => {
    const answer = await fetch(`${service.url}/ready`);
    return { status: answer.status, body: (await answer.json()) as Record<string, unknown> };
  };

  test('the queues lie on several nodes and all of them move', async () => {
    const answer = await until(async () => {
      const found = await ready();
      return found.status === 200 ? found : undefined;
    });
    expect(answer.body).toMatchObject({ status: 'ready', redis: true, standing_queues: [] });
    const found = await Promise.all(
      cluster.masters.map(({ redis }) => redis.keys(`{${service.config.REDIS_PREFIX}:*`)),
    );
    const queues = found.map((keys) => new Set(keys.map((key) => key.slice(0, key.indexOf('}')))));
    expect(queues.every((each) => each.size > 0)).toBe(true);
    expect(queues.reduce((sum, each) => sum + each.size, 0)).toBe(allStoredNames(partsOf(service.config)).length);
  });

  test('webhooks are delivered, and access checks are answered by counters (SC9)', async () => {
    const receiver = await openHookReceiver();
    const story = await openStory(service, '2026-03-09T10:00:00Z');
    const { client } = story;
    await ok(client.post('/webhook_endpoints', { webhook_endpoint: { webhook_url: receiver.url } }));
    await story.customer();
    await until(() => receiver.hooks.some(({ body }) => body.includes('customer.created')));

    const metric = await story.metric('calls');
    await ok(
      client.post('/features', { feature: { code: 'api', privileges: [{ code: 'most', value_type: 'integer' }] } }),
    );
    await ok(
      client.put('/features/api/usage_limits', {
        usage_limits: [{ privilege_code: 'most', billable_metric_code: 'calls', period: 'billing_period' }],
      }),
    );
    await story.plan({
      amount_cents: 0,
      charges: [{ billable_metric_id: metric.svc_id, charge_model: 'standard', properties: { amount: '1' } }],
    });
    await ok(client.post('/plans/plan/entitlements', { entitlements: { api: { most: 10 } } }));
    await ok(story.subscribe({ subscription_at: '2026-03-01T00:00:00Z' }));
    const check = async () =>
      (await ok(client.post('/access/check', { access: { external_subscription_id: 'sub', feature_code: 'api' } })))
        .access;
    await until(async () => (await check()).source === 'counter');
    for (let used = 1; used <= 3; used += 1) {
      await story.use('calls', {}, { at: '2026-03-09T09:00:00Z' });
      expect(await check()).toMatchObject({ source: 'counter', usage: [{ used: `${used}.0` }] });
    }
    await receiver.close();
  });

  test('a limit of 100 a second that two processes share lets 100 pass (SC9)', async () => {
    const twins = await openLimited(service);
    const { organization } = await service.org();
    const clients = twins.map(({ url }) => createClient(url, organization.api_key));
    await Promise.all(clients.map((client) => client.get('/limited')));
    const passed = await until(async () => {
      await new Promise((resolve) => setTimeout(resolve, 1020 - (Date.now() % 1000)));
      const began = second();
      const answers = await Promise.all(Array.from({ length: 160 }, (_, index) => clients[index % 2]!.get('/limited')));
      // What a busy machine stretched over the end of the second says nothing.
      return second() === began ? answers.filter(({ status }) => status === 200).length : undefined;
    });
    expect(passed).toBe(LIMIT);
    await Promise.all(twins.map((ingress) => ingress.close()));
  });

  test('a scrape shows every process, and nothing went on without Redis (SC9)', async () => {
    const further = await Promise.all([
      startPools(service.config, ['webhooks'], log),
      startPools(service.config, ['documents'], log),
    ]);
    const metrics = await until(async () => {
      const text = await (await fetch(`${service.url}/metrics`)).text();
      const processes = ['ingress', 'workers', 'webhooks', 'documents'];
      return processes.every((name) => text.includes(`process="${name}"`)) ? text : undefined;
    });
    expect(metrics).toMatch(/meterstone_silent_processes\{[^}]*\} 0/);
    expect(metrics).not.toMatch(/meterstone_redis_fallbacks_total\{/);
    expect((await ready()).body.reasons).toEqual([]);
    await Promise.all(further.map((each) => each.close()));
  });

  test('a node asked as a single server, and a cluster without one of its nodes, are named at the start', async () => {
    const [first] = cluster.masters;
    const node = await probeRedis(`redis://127.0.0.1:${first!.port}`);
    expect(node).toEqual({ state: 'wrong', why: 'it is a node of a cluster' });
    expect(await probeRedis(cluster.url)).toEqual({ state: 'works' });
    expect(await probeRedis('redis+cluster://127.0.0.1:1,127.0.0.1:2')).toMatchObject({
      state: 'away',
      why: expect.stringMatching(/127\.0\.0\.1:1: .*ECONNREFUSED.*127\.0\.0\.1:2: /),
    });
  });
});

describe.skipIf(lacks('redis-server'))('three masters with replicas', () => {
  let cluster: RunningCluster;
  let service: TestService;
  let twins: Ingress[];
  beforeAll(async () => {
    cluster = await startCluster({ replicas: true });
    service = await startService({
      pools: EVERY_POOL,
      settings: { REDIS_URL: cluster.url, EVENTS_QUEUES: '3', WRITE_TIMEOUT_SECONDS: '10' },
    });
    twins = await openLimited(service);
  });
  afterAll(async () => {
    await Promise.all(twins?.map((ingress) => ingress.close()) ?? []);
    await service?.stop();
    await cluster?.stop();
  });

  /** Milliseconds since 1970 at which each queue last finished a job. */
  const marks = async () => {
    const found = await service.redis.hgetall(`${service.config.REDIS_PREFIX}:progress`);
    return allStoredNames(partsOf(service.config)).map((name) => [name, Number(found[name] ?? 0)] as const);
  };

  test('a master is killed under load: nothing accepted is lost, and every queue moves again within 15 s (SC10)', async () => {
    const clients = await Promise.all(Array.from({ length: 6 }, () => service.org()));
    for (const client of clients) {
      const words = wordsOf(client);
      const { svc_id } = await words.metric('calls');
      const charge = { billable_metric_id: svc_id, charge_model: 'standard', properties: { amount: '1' } };
      await words.plan({ amount_cents: 0, charges: [charge] });
      await words.customer();
      await ok(words.subscribe());
    }
    await until(async () => (await marks()).every(([, at]) => at > 0));
    const { organization } = await service.org();
    const limitedClients = twins.map(({ url }) => createClient(url, organization.api_key));
    await Promise.all(limitedClients.map((client) => client.get('/limited')));

    let isOver = false;
    const accepted: string[] = [];
    const refused = new Map<number, number>();
    const producing = clients.map(async (client) => {
      while (!isOver) {
        const transaction_id = randomUUID();
        for (;;) {
          const event = { transaction_id, external_subscription_id: 'sub', code: 'calls' };
          const { status } = await client.post('/events', { event });
          if (status === 200) break;
          refused.set(status, (refused.get(status) ?? 0) + 1);
          await new Promise((resolve) => setTimeout(resolve, 100));
        }
        accepted.push(transaction_id);
        await new Promise((resolve) => setTimeout(resolve, 20));
      }
    });
    passed.clear();
    const limiting = limitedClients.map(async (client) => {
      while (!isOver) {
        const sent = Array.from({ length: 40 }, () => client.get('/limited'));
        await Promise.all([...sent, new Promise((resolve) => setTimeout(resolve, 100))]);
      }
    });

    await until(() => accepted.length > 100 && passed.size > 1);
    // The one that holds the limited organization's counters, so that its limit is the one that is struck.
    const slot = Number(await service.redis.cluster('KEYSLOT', `{${organization.organization_id}}`));
    const struck = cluster.masters[Math.floor(slot / Math.ceil(16_384 / 3))]!;
    const killedAtMs = Date.now();
    struck.kill('SIGKILL');
    await until(async () => (await marks()).every(([, at]) => at > killedAtMs + 1000), 60_000, 100);
    const moved = (await marks()).map(([, at]) => at);
    const movesAfterMs = Math.max(...moved) - killedAtMs;
    const stoodAt = accepted.length;
    await until(() => accepted.length > stoodAt + 100);
    isOver = true;
    await Promise.all([...producing, ...limiting]);

    console.info(
      `every queue moved ${movesAfterMs} ms after the kill; ${accepted.length} events accepted, refused before: ` +
        `${JSON.stringify([...refused])}; most let through in a second: ${Math.max(...passed.values())}`,
    );
    expect(movesAfterMs).toBeLessThan(15_000);
    const rows = await service.sql<{ transaction_id: string }[]>`select transaction_id from events`;
    const stored = rows.map((row) => row.transaction_id);
    expect(new Set(stored).size).toBe(stored.length);
    expect(accepted.filter((id) => !stored.includes(id))).toEqual([]);
    expect(Math.max(...passed.values())).toBeLessThanOrEqual(2 * LIMIT);
    await until(async () => (await fetch(`${service.url}/ready`)).status === 200);
  });
});
