import { afterAll, beforeAll, expect, test } from 'vitest';
import { z } from 'zod';
import { operations } from '../../src/operations.ts';
import { newId } from '../../src/platform/ids.ts';
import type { Operation } from '../../src/platform/operation.ts';
import { withOperations } from '../support/added-operations.ts';
import { startService, type TestService } from '../support/service.ts';
import { until } from '../support/until.ts';

const ran: string[] = [];

/** Commands that do nothing but note that they ran. */
const command = (name: string, fields: Partial<Operation>): Operation => ({
  name,
  method: 'post',
  path: `/${name}`,
  permission: 'customer',
  summary: 'Notes that it ran',
  tag: 'notes',
  answer: z.object({}),
  kind: 'command',
  run: async (_ctx, { name: sent }) => {
    ran.push(sent);
    return {};
  },
  ...fields,
});
const estimate = command('estimateSomething', { onlyAnswers: true });
const change = command('changeSomething', {});

let service: TestService;
let owner: { organization_id: string; api_key_id: string };

withOperations(estimate, change);
beforeAll(async () => {
  service = await startService({
    operations: [...operations, estimate, change],
    pools: ['writes'],
    settings: { WRITE_TIMEOUT_SECONDS: '10' },
  });
  const { organization } = await service.org();
  const [key] = await service.sql<{ id: string }[]>`
    select id from api_keys where organization_id = ${organization.organization_id}`;
  owner = { organization_id: organization.organization_id, api_key_id: key!.id };
});
afterAll(() => service.stop());

const send = (operation: string, secondsAgo: number, name: string) =>
  service.ingress.producer.add('command.run', {
    v: 1,
    from: 'nobody',
    cid: newId(),
    at: Date.now() - secondsAgo * 1000,
    operation,
    ...owner,
    sandbox: false,
    request_id: name,
    input: { name },
    idempotency: null,
    request: { method: 'post', origin: 'x', path: '/x', client: null, parameters: null },
  });

test('an estimate whose caller was answered 504 is not run, and a change is', async () => {
  await send('estimateSomething', 11, 'late estimate');
  await send('estimateSomething', 0, 'estimate');
  await send('changeSomething', 11, 'late change');
  await until(() => ran.length >= 2);
  await until(
    async () =>
      (await service.ingress.producer.queue('writes').getJobCountByTypes('waiting', 'active', 'delayed')) === 0,
  );
  expect(ran.sort()).toEqual(['estimate', 'late change']);
});

test('every command that only computes an answer is marked so', () => {
  const commands = operations.filter((operation) => operation.kind === 'command');
  const named = commands.filter(
    ({ name, path }) => /estimate|preview|verify/i.test(`${name} ${path}`) && name !== 'verifyMailSender', // it writes
  );
  expect(named.length).toBeGreaterThan(0);
  expect(named.filter((operation) => !operation.onlyAnswers).map(({ name }) => name)).toEqual([]);
});
