import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { probeRedis } from '../../src/platform/process/probe-stores.ts';
import { EVERY_POOL, startService, type TestService } from '../support/service.ts';
import { until } from '../support/until.ts';
import { ok } from '../support/words.ts';
import { lacks } from './support/programs.ts';
import { startWatched, type Watched } from './support/redis-sentinel.ts';

describe.skipIf(lacks('redis-server'))('a master that Sentinels watch', () => {
  let watched: Watched;
  let service: TestService;
  beforeAll(async () => {
    watched = await startWatched();
    service = await startService({
      pools: EVERY_POOL,
      settings: { REDIS_URL: watched.url, WRITE_TIMEOUT_SECONDS: '10' },
    });
  });
  afterAll(async () => {
    await service?.stop();
    await watched?.stop();
  });

  // A frozen server is worse than a killed one: its connections stay open and say nothing.
  test.each(['frozen', 'killed'] as const)('is %s: commands are answered again within 15 s', async (how) => {
    expect(await probeRedis(watched.url)).toEqual({ state: 'works' });
    await until(async () => (await fetch(`${service.url}/ready`)).status === 200);
    const client = await service.org();
    await ok(client.post('/customers', { customer: { external_id: 'before' } }));
    const roles = await Promise.all(
      [watched.master, watched.replica].map(({ redis }) => redis.call('ROLE') as Promise<string[]>),
    );
    const masters = [watched.master, watched.replica].filter((_node, index) => roles[index]![0] === 'master');
    expect(masters).toHaveLength(1);
    const struckAtMs = Date.now();
    masters[0]!.kill(how === 'frozen' ? 'SIGSTOP' : 'SIGKILL');
    await until(
      async () => (await client.post('/customers', { customer: { external_id: 'after' } })).status === 200,
      60_000,
    );
    const answersAfterMs = Date.now() - struckAtMs;
    console.info(`${how}: the first command was answered after ${answersAfterMs} ms`);
    expect(answersAfterMs).toBeLessThan(15_000);
    const { customers } = await ok(client.get('/customers'));
    expect(customers.map(({ external_id }: { external_id: string }) => external_id).sort()).toEqual([
      'after',
      'before',
    ]);
    if (how === 'killed') return;
    // Back as a replica: the next case strikes the other one.
    masters[0]!.kill('SIGCONT');
    await until(async () => ((await masters[0]!.redis.call('ROLE')) as string[])[0] === 'slave', 60_000);
    await until(async () => /master_link_status:up/.test(await masters[0]!.redis.info('replication')), 60_000);
  });
});
