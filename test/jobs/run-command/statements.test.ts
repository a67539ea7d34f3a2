import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type CommandJob, runCommand } from '../../../src/jobs/run-command/run-command.ts';
import { operationsByName } from '../../../src/operations.ts';
import { createLog } from '../../../src/platform/log/log.ts';
import { createProducer } from '../../../src/platform/queue/producer.ts';
import { reactions } from '../../../src/reactions.ts';
import { countingPool } from '../../support/count-statements.ts';
import { startService, type TestService } from '../../support/service.ts';

// What one POST /customers costs: storing-events.md#statement (6) says how it is counted.
const MOST_STATEMENTS = 14;
const MOST_ROUND_TRIPS = 7;

let service: TestService;
beforeAll(async () => {
  service = await startService();
});
afterAll(() => service.stop());

test('a customer is made in few statements and fewer round trips', async () => {
  const client = await service.org();
  await client.post('/customers', { customer: { external_id: 'first', name: 'First' } });
  const [key] = await service.sql<{ id: string }[]>`
    select id from api_keys where organization_id = ${client.organization.organization_id}`;
  const { sql, statements, roundTrips, restart } = countingPool(service, 1);
  const producer = createProducer(service.redis, service.config.REDIS_PREFIX);
  const deps = {
    sql,
    producer,
    config: service.config,
    reactions,
    operations: operationsByName,
    log: createLog({ level: 'silent', process: 'test' }),
  };
  const make = (name: string) =>
    runCommand(deps, {
      v: 1,
      from: 'x',
      cid: randomUUID(),
      at: Date.now(),
      operation: 'createCustomer',
      organization_id: client.organization.organization_id,
      sandbox: false,
      api_key_id: key!.id,
      request_id: randomUUID(),
      idempotency: null,
      input: { body: operationsByName.get('createCustomer')!.body!.parse({ external_id: name, name }) },
      request: { method: 'POST', origin: '', path: '/customers', client: null, parameters: null },
    } as unknown as CommandJob);
  for (const name of ['second', 'third']) {
    restart();
    expect((await make(name)).status).toBe(200);
  }
  await sql.end();
  await producer.close();
  expect(statements.length).toBeLessThanOrEqual(MOST_STATEMENTS);
  expect(roundTrips()).toBeLessThanOrEqual(MOST_ROUND_TRIPS);
});
