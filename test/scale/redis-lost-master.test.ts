import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Ingress } from '../../src/ingress/start-ingress.ts';
import { allStoredNames, partsOf } from '../../src/platform/queue/queue-names.ts';
import { createClient } from '../support/client.ts';
import { EVERY_POOL, startService, type TestService } from '../support/service.ts';
import { until } from '../support/until.ts';
import { ok, wordsOf } from '../support/words.ts';
import { LIMIT, openLimited, passed } from './support/limited-twins.ts';
import { lacks } from './support/programs.ts';
import { type RunningCluster, startCluster } from './support/redis-cluster.ts';

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

    let movesAfterMs = 0;
    try {
      await until(() => accepted.length > 100 && passed.size > 1);
      // The one that holds the limited organization's counters, so that its limit is the one that is struck.
      const slot = Number(await service.redis.cluster('KEYSLOT', `{${organization.organization_id}}`));
      const struck = cluster.masters[Math.floor(slot / Math.ceil(16_384 / 3))]!;
      const killedAtMs = Date.now();
      struck.kill('SIGKILL');
      await until(async () => (await marks()).every(([, at]) => at > killedAtMs + 1000), 60_000, 100);
      movesAfterMs = Math.max(...(await marks()).map(([, at]) => at)) - killedAtMs;
      const stoodAt = accepted.length;
      await until(() => accepted.length > stoodAt + 100);
    } finally {
      isOver = true;
      await Promise.all([...producing, ...limiting]);
    }

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
