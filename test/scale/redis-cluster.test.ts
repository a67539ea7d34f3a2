import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createLog } from '../../src/platform/log/log.ts';
import { probeRedis } from '../../src/platform/process/probe-stores.ts';
import { allStoredNames, partsOf } from '../../src/platform/queue/queue-names.ts';
import { startPools } from '../../workers/pools.ts';
import { createClient } from '../support/client.ts';
import { openHookReceiver } from '../support/hook-receiver.ts';
import { EVERY_POOL, startService, type TestService } from '../support/service.ts';
import { openStory } from '../support/story.ts';
import { until } from '../support/until.ts';
import { ok } from '../support/words.ts';
import { LIMIT, openLimited, second } from './support/limited-twins.ts';
import { lacks } from './support/programs.ts';
import { type RunningCluster, startCluster } from './support/redis-cluster.ts';

const log = createLog({ level: 'silent', process: 'test' });

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
