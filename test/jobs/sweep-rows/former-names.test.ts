import { afterAll, beforeAll, expect, test } from 'vitest';
import { createLog } from '../../../src/platform/log/log.ts';
import { startPools } from '../../../workers/pools.ts';
import { type HookReceiver, openHookReceiver } from '../../support/hook-receiver.ts';
import { keysOf, removeKeys } from '../../support/redis-keys.ts';
import { startService, type TestService } from '../../support/service.ts';
import { until } from '../../support/until.ts';
import { ok } from '../../support/words.ts';

let service: TestService;
let receiver: HookReceiver;
beforeAll(async () => {
  service = await startService({ pools: ['writes'] });
  receiver = await openHookReceiver();
});
afterAll(async () => {
  await receiver.close();
  await service.stop();
});

/** Gives the keys of a queue the names that they had in builds of before they were made for a cluster. */
async function renameAsFormerly(queue: string): Promise<string[]> {
  const { redis, config } = service;
  const tag = `{${config.REDIS_PREFIX}:${queue}}`;
  const names = await keysOf(redis, `${tag}*`);
  const former = names.map((name) => name.replace(tag, config.REDIS_PREFIX));
  for (const [index, name] of names.entries()) await redis.restore(former[index]!, 0, (await redis.dumpBuffer(name))!);
  await removeKeys(redis, names);
  return former;
}

test('what former versions left in Redis under other names is found in Postgres, and disturbs nothing', async () => {
  const client = await service.org();
  await ok(client.post('/webhook_endpoints', { webhook_endpoint: { webhook_url: receiver.url } }));
  for (let number = 0; number < 25; number += 1)
    await ok(client.post('/customers', { customer: { external_id: `c${number}` } }));
  const waits = async () => service.ingress.producer.queue('webhooks').getJobCounts('waiting', 'delayed');
  await until(async () => Object.values(await waits()).some((count) => count > 1));

  const former = [...(await renameAsFormerly('webhooks')), ...(await renameAsFormerly('billing'))];
  expect(former).toContain(`${service.config.REDIS_PREFIX}:webhooks:wait`);
  const log = createLog({ level: 'silent', process: 'test' });
  const workers = await startPools(service.config, ['webhooks', 'billing'], log);
  const announced = () => new Set(receiver.hooks.filter(({ body }) => body.includes('customer.created')).map(idOf));
  await until(() => announced().size === 25);
  expect(await service.redis.llen(`${service.config.REDIS_PREFIX}:webhooks:wait`)).toBeGreaterThan(0);
  await workers.close();
  await removeKeys(service.redis, former);
});

const idOf = ({ body }: { body: string }): string => JSON.parse(body).customer.external_id;
