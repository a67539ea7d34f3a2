import { randomUUID } from 'node:crypto';
import type { Redis } from 'ioredis';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { type Ingress, startIngress } from '../../src/ingress/start-ingress.ts';
import { watchHandOver } from '../../src/ingress/watch-pools.ts';
import { operations } from '../../src/operations.ts';
import { createLog } from '../../src/platform/log/log.ts';
import { startPools } from '../../workers/pools.ts';
import { createClient } from '../support/client.ts';
import { type Cuttable, cuttable } from '../support/cuttable.ts';
import { describeOfOneRedis } from '../support/one-redis.ts';
import { PATIENT_LIMITER_MS, startService, type TestService } from '../support/service.ts';
import { until } from '../support/until.ts';

const log = createLog({ level: 'silent', process: 'test' });

/** What was under way when Redis left, or what nobody takes, waits so long; what is refused at once does not. */
const WRITE_TIMEOUT_SECONDS = 10;
const NOT_WAITED_MS = 8000;

describe('queues without a worker', () => {
  const worker = (queue: string) =>
    `id=1 name={p:${queue}}:${Buffer.from(queue).toString('base64')} flags=b cmd=bzpopmin\n`;

  /** A watch with a clock and a list of clients of its own, which it looks at when time passes. */
  async function watched(clients: string) {
    vi.useFakeTimers();
    const redis = { status: 'ready', clients, client: async () => redis.clients };
    const watch = watchHandOver(redis as unknown as Redis, 'p');
    const pass = (ms: number) => vi.advanceTimersByTimeAsync(ms);
    await pass(0);
    const status = (queue: 'events' | 'writes' | 'billing') => {
      try {
        watch.refuseIfInVain(queue);
        return 200;
      } catch (error) {
        return (error as { status: number }).status;
      }
    };
    return { redis, pass, status };
  }
  afterAll(() => vi.useRealTimers());

  test('a queue is refused shortly after its last worker left, and the other queues are not', async () => {
    const { redis, pass, status } = await watched(worker('events') + worker('writes'));
    expect([status('events'), status('writes')]).toEqual([200, 200]);
    redis.clients = worker('writes');
    await pass(2500);
    expect(status('events')).toBe(200);
    await pass(1500);
    expect([status('events'), status('writes'), status('billing')]).toEqual([503, 200, 200]);
    redis.clients += worker('events');
    await pass(1000);
    expect(status('events')).toBe(200);
  });

  test('after the start no queue is refused until the workers had their time', async () => {
    const { pass, status } = await watched('');
    await pass(55_000);
    expect(status('writes')).toBe(200);
    await pass(10_000);
    expect(status('writes')).toBe(503);
  });

  test('when Redis does not answer nothing is concluded about the workers', async () => {
    const { redis, pass, status } = await watched(worker('events'));
    redis.client = () => Promise.reject(new Error('timeout'));
    await pass(30_000);
    expect(status('events')).toBe(200);
  });

  test('nothing is handed over while Redis is away', async () => {
    const { redis, status } = await watched(worker('events'));
    redis.status = 'reconnecting';
    expect([status('events'), status('billing')]).toEqual([503, 503]);
  });
});

describeOfOneRedis('over HTTP', () => {
  let service: TestService;
  let way: Cuttable;
  let ingress: Ingress;
  let workers: Awaited<ReturnType<typeof startPools>>;
  const pools = () => startPools(service.config, ['writes', 'events', 'budgets'], log);
  beforeAll(async () => {
    service = await startService({
      pools: [],
      settings: { WRITE_TIMEOUT_SECONDS: String(WRITE_TIMEOUT_SECONDS) },
    });
    way = await cuttable(service.config.REDIS_URL);
    workers = await pools();
    ingress = await startIngress({ ...service.config, REDIS_URL: way.url }, operations, log, PATIENT_LIMITER_MS);
  });
  afterAll(async () => {
    await way.mend().catch(() => {});
    await ingress.close();
    await way.close();
    await workers.close();
    await service.stop();
  });

  async function client() {
    const org = await service.org();
    const api = createClient(ingress.url, org.organization.api_key);
    const customer = () => api.post('/customers', { customer: { external_id: randomUUID() } });
    const event = () =>
      api.post('/events', { event: { transaction_id: randomUUID(), external_subscription_id: 's', code: 'c' } });
    expect([(await customer()).status, (await event()).status]).toEqual([200, 200]);
    return { api, customer, event };
  }

  async function refusedAtOnce(call: () => ReturnType<ReturnType<typeof createClient>['post']>) {
    const startedMs = performance.now();
    const answer = await call();
    expect(answer.body).toEqual({ status: 503, error: 'Service Unavailable', code: 'service_unavailable' });
    expect(answer.headers['retry-after']).toBe('1');
    expect(performance.now() - startedMs).toBeLessThan(NOT_WAITED_MS);
  }

  test('with Redis away writes and events get 503 at once, reads work, and nothing refused is run later', async () => {
    const { api, customer, event } = await client();
    await way.cut();
    // What is sent before the ingress has noticed waits; an event of those changes no customer.
    await until(async () => (await event()).status === 503);
    await refusedAtOnce(customer);
    await refusedAtOnce(event);
    const { body } = await api.get('/customers');
    const { total_count: count } = body.meta;
    await way.mend();
    await until(async () => (await event()).status === 200);
    expect((await api.get('/customers')).body.meta.total_count).toBe(count);
    await until(async () => (await customer()).status === 200);
    expect((await api.get('/customers')).body.meta.total_count).toBe(count + 1);
  }, 60_000);

  test('with nobody to decide, decisions and usage that settles a hold get 503 at once, and usage without waits', async () => {
    const { api } = await client();
    const usage = (fields: object) =>
      api.post('/ai/usage', {
        ai_usage: { provider: 'p', model: 'm', parts: { input: 1 }, transaction_id: randomUUID(), ...fields },
      });
    const settling = () => usage({ hold_key: 'unknown' });
    const deciding = () =>
      api.post('/budget_decisions', {
        decision: { hold_key: randomUUID(), external_subscription_id: 's', amount: '1' },
      });
    const statuses = async () => [(await settling()).status, (await deciding()).status];
    expect(await statuses()).toEqual([422, 200]);
    await workers.close();
    workers = await startPools(service.config, ['writes', 'events'], log);
    await until(async () => (await settling()).status === 503);
    await refusedAtOnce(settling);
    await refusedAtOnce(deciding);
    await until(async () => (await usage({ external_subscription_id: 's' })).status === 200);
    await workers.close();
    workers = await pools();
    await until(async () => (await settling()).status === 422);
  }, 60_000);

  test('with all workers gone writes and events get 503 at once, and 200 when they are back', async () => {
    const { customer, event } = await client();
    await workers.close();
    for (const call of [event, customer]) await until(async () => (await call()).status === 503);
    await refusedAtOnce(customer);
    await refusedAtOnce(event);
    workers = await pools();
    await until(async () => (await customer()).status === 200);
    await until(async () => (await event()).status === 200);
  }, 60_000);
});

describeOfOneRedis('a Redis that refuses to write', () => {
  let service: TestService;
  let ingress: Ingress;
  const user = `u${randomUUID().slice(0, 8)}`;
  const allow = (rule: string) => service.redis.acl('SETUSER', user, rule);
  beforeAll(async () => {
    service = await startService({ settings: { WRITE_TIMEOUT_SECONDS: '10' } });
    await service.redis.acl('SETUSER', user, 'on', '>secret', 'allkeys', 'allchannels', '+@all');
    const url = new URL(service.config.REDIS_URL);
    url.username = user;
    url.password = 'secret';
    ingress = await startIngress({ ...service.config, REDIS_URL: url.href }, operations, log, PATIENT_LIMITER_MS);
  });
  afterAll(async () => {
    await ingress.close();
    await service.redis.acl('DELUSER', user);
    await service.stop();
  });

  // As one that is full: its answer is an error, and nothing was handed over (load-and-faults E, "maxmemory").
  test('commands, previews, gathered commands and events are 503 at once, and none is run later', async () => {
    const org = await service.org();
    const api = createClient(ingress.url, org.organization.api_key);
    expect((await api.post('/customers', { customer: { external_id: 'acme', currency: 'USD' } })).status).toBe(200);
    const { body } = await api.post('/wallets', {
      wallet: { external_customer_id: 'acme', rate_amount: '1', currency: 'USD' },
    });
    const requests: [path: string, body: object][] = [
      ['/customers', { customer: { external_id: 'other' } }],
      ['/invoices/preview', { plan_code: 'none', customer: { external_id: 'acme' } }],
      [`/wallets/${body.wallet.svc_id}/holds`, { hold: { amount_cents: 1 } }],
      ['/events', { event: { transaction_id: 't', external_subscription_id: 's', code: 'c' } }],
    ];
    await allow('-@scripting');
    for (const [path, sent] of requests) {
      const startedMs = performance.now();
      const answer = await api.post(path, sent);
      expect([path, answer.body]).toEqual([
        path,
        { status: 503, error: 'Service Unavailable', code: 'service_unavailable' },
      ]);
      expect(answer.headers['retry-after']).toBe('1');
      expect(performance.now() - startedMs).toBeLessThan(NOT_WAITED_MS);
    }
    await allow('+@scripting');
    expect((await api.post('/customers', { customer: { external_id: 'third' } })).status).toBe(200);
    const { customers } = (await api.get('/customers')).body;
    expect(customers.map(({ external_id }: { external_id: string }) => external_id).sort()).toEqual(['acme', 'third']);
    expect((await api.get('/events')).body.events).toEqual([]);
  }, 60_000);
});
