import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Ingress, startIngress } from '../../../src/ingress/start-ingress.ts';
import { operations } from '../../../src/operations.ts';
import { createLog } from '../../../src/platform/log/log.ts';
import { projectRoot } from '../../../src/platform/project-root.ts';
import { buildOnce, builtProgram } from '../../support/build-once.ts';
import { type Client, createClient } from '../../support/client.ts';
import { removeAllKeys } from '../../support/redis-keys.ts';
import { startService, type TestService } from '../../support/service.ts';
import { until } from '../../support/until.ts';

// One database; this process runs the writes of one ingress, a process of its own those of the other.
const PAIRS = 30;
let service: TestService;
let otherWrites: ChildProcess;
let otherIngress: Ingress;

beforeAll(async () => {
  await buildOnce();
  service = await startService({ pools: ['writes', 'webhooks'] });
  const config = { ...service.config, REDIS_PREFIX: `${service.config.REDIS_PREFIX}-other` };
  otherIngress = await startIngress(config, operations, createLog({ level: 'silent', process: 'test' }));
  const { DATABASE_URL, REDIS_URL, REDIS_PREFIX } = config;
  otherWrites = spawn(process.execPath, builtProgram('workers/writes.ts'), {
    cwd: projectRoot(),
    env: { ...process.env, DATABASE_URL, REDIS_URL, REDIS_PREFIX, LOG_LEVEL: 'silent' },
    stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
  });
  await once(otherWrites, 'message'); // it is ready
});
afterAll(async () => {
  await otherIngress?.close();
  if (otherWrites?.exitCode === null && otherWrites.kill('SIGTERM')) await once(otherWrites, 'exit');
  await removeAllKeys(service.redis, `${service.config.REDIS_PREFIX}-other`);
  await service?.stop();
});

const save = (client: Client, external_id: string, name: string) =>
  client.post('/customers', { customer: { external_id, name } });

// event-feed.md.
test('a customer that two processes create and update is announced as created before updated (FE3)', async () => {
  const here = await service.org();
  const there = createClient(otherIngress.url, here.organization.api_key);
  const clients = [here, there];
  const answers = await Promise.all(
    Array.from({ length: PAIRS }, async (_, n) => {
      // Both at once: whoever comes first creates.
      if (n % 2) return Promise.all([save(here, `c${n}`, 'here'), save(there, `c${n}`, 'there')]);
      const [first, second] = n % 4 ? clients : [...clients].reverse();
      return [await save(first!, `c${n}`, 'first'), await save(second!, `c${n}`, 'second')];
    }),
  );
  expect(answers.flat().map(({ status }) => status)).toEqual(Array(2 * PAIRS).fill(200));
  const events = await until(async () => {
    const { webhook_events, meta } = (await here.get('/webhook_events?limit=1000')).body;
    return meta.latest === 2 * PAIRS && webhook_events;
  });
  expect(events.map(({ sequence }: { sequence: number }) => sequence)).toEqual(
    Array.from({ length: 2 * PAIRS }, (_, n) => n + 1),
  );
  const told = new Map<string, string[]>();
  for (const { external_customer_id: id, webhook_type, payload } of events)
    told.set(id, [...(told.get(id) ?? []), webhook_type, payload.customer.name]);
  for (let n = 0; n < PAIRS; n += 1) {
    const types = told.get(`c${n}`)!.filter((_, place) => place % 2 === 0);
    expect(types, `c${n}`).toEqual(['customer.created', 'customer.updated']);
    if (n % 2 === 0) expect(told.get(`c${n}`)).toEqual(['customer.created', 'first', 'customer.updated', 'second']);
  }
});
