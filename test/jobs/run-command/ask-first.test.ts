import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { z } from 'zod';
import { operations } from '../../../src/operations.ts';
import type { Operation } from '../../../src/platform/operation.ts';
import type { AskingCommand, PreStep } from '../../../src/platform/pre-step.ts';
import { Outage, refuse } from '../../../src/platform/refusal.ts';
import { preSteps } from '../../../src/pre-steps.ts';
import { withOperations } from '../../support/added-operations.ts';
import type { Client } from '../../support/client.ts';
import { startService, type TestService } from '../../support/service.ts';
import { until } from '../../support/until.ts';

// Rule: everywhere.md#asking-first.

/** A command that stores what its provider answered, under an id that it makes. */
const register: Operation = {
  name: 'registerAnswer',
  method: 'post',
  path: '/answers',
  permission: 'customer',
  summary: 'Stores an answer',
  tag: 'answers',
  root: 'answer',
  body: z.object({ name: z.string('value_is_mandatory'), plain: z.boolean().optional() }),
  answer: z.object({}),
  kind: 'command',
  asks: ({ body }) => body.plain !== true,
  run: async (ctx, { body }) => {
    const [taken] = await ctx.db`select from answers where name = ${body.name}`;
    if (taken) throw refuse.invalid({ name: ['value_already_exist'] });
    const said = (ctx.asked?.answer as { said?: string } | undefined)?.said ?? 'nothing';
    await ctx.db`
      insert into answers (organization_id, id, name, said)
      values (${ctx.organizationId}, ${ctx.asked?.recordId ?? ctx.organizationId}, ${body.name}, ${said})`;
    return { answer: { id: ctx.asked?.recordId, said } };
  },
};

let asked: AskingCommand[] = [];
let provider: PreStep = async () => ({ said: 'yes' });
let service: TestService;
let org: Client;

withOperations(register);
beforeAll(async () => {
  Object.assign(preSteps, {
    registerAnswer: ((deps, command) => {
      asked.push(command);
      return provider(deps, command);
    }) satisfies PreStep,
  });
  service = await startService({ operations: [...operations, register], pools: ['writes', 'asking'] });
  await service.sql`create table answers (organization_id uuid, id uuid, name text, said text)`;
});
afterAll(async () => {
  delete (preSteps as Record<string, PreStep>).registerAnswer;
  await service.stop();
});
beforeEach(async () => {
  org = await service.org();
  asked = [];
  provider = async () => ({ said: 'yes' });
});

const ask = (name: string, key?: string) =>
  org.post('/answers', { answer: { name } }, key === undefined ? {} : { headers: { 'idempotency-key': key } });
const stored = async (name: string) => service.sql<{ id: string; said: string }[]>`
  select id, said from answers where name = ${name}`;

describe('a command that asks its provider first', () => {
  test('stores the answer and makes its record under the id with which it asked', async () => {
    const { status, body } = await ask('simple');
    expect(status).toBe(200);
    expect(body.answer.said).toBe('yes');
    expect(asked).toHaveLength(1);
    expect(await stored('simple')).toEqual([{ id: asked[0]!.recordId, said: 'yes' }]);
  });

  test('asks nobody where its input needs no answer', async () => {
    const { body } = await org.post('/answers', { answer: { name: 'plain', plain: true } });
    expect(body.answer.said).toBe('nothing');
    expect(asked).toEqual([]);
  });

  test('asks outside any transaction, after a trial of which nothing stays', async () => {
    provider = async ({ sql }) => {
      const rows = await sql`select from answers where name = 'outside'`;
      const open = await sql`select from pg_stat_activity where datname = current_database() and xact_start is not null
        and state like 'idle in transaction%'`;
      return { said: `${rows.length} rows, ${open.length} transactions` };
    };
    expect((await ask('outside')).body.answer.said).toBe('0 rows, 0 transactions');
  });

  test('asks nobody when it is refused in any case', async () => {
    await ask('taken');
    const { status, body } = await ask('taken');
    expect([status, body.error_details]).toEqual([422, { name: ['value_already_exist'] }]);
    expect(asked).toHaveLength(1);
  });

  test('is refused after the answer when it has become impossible meanwhile', async () => {
    provider = async ({ sql }) => {
      await sql`insert into answers (name) values ('overtaken')`;
      return { said: 'yes' };
    };
    const { status, body } = await ask('overtaken');
    expect([status, body.error_details]).toEqual([422, { name: ['value_already_exist'] }]);
    expect(await stored('overtaken')).toHaveLength(1);
  });

  test('has the refusal of its provider as its answer, which is logged and repeated', async () => {
    provider = async () => {
      throw refuse.thirdParty('stripe', 'No such key');
    };
    const first = await ask('refused', 'k1');
    expect(first).toMatchObject({ status: 422, body: { code: 'third_party_error' } });
    const again = await ask('refused', 'k1');
    expect([again.text, again.headers['x-svc-replayed']]).toEqual([first.text, 'true']);
    expect(asked).toHaveLength(1);
    expect(await stored('refused')).toEqual([]);
    const logs = await service.sql`
      select from api_logs where request_id = ${first.headers['x-request-id'] as string} and http_status = 422`;
    expect(logs).toHaveLength(1);
  });

  test('asks once for two requests with one key, at the same time or one after the other', async () => {
    let answer = (): void => {};
    const given = new Promise<void>((resolve) => {
      answer = resolve;
    });
    provider = async () => {
      await given;
      return { said: 'once' };
    };
    const both = [ask('twins', 'k2'), ask('twins', 'k2')];
    await until(async () => asked.length > 0 || undefined);
    answer();
    const [one, other] = await Promise.all(both);
    expect(one!.text).toBe(other!.text);
    expect((await ask('twins', 'k2')).text).toBe(one!.text);
    expect(asked).toHaveLength(1);
  });

  test('asks again with the same ids when its job is delivered again', async () => {
    provider = async () => {
      if (asked.length === 1) throw new Outage('provider', 'away');
      return { said: 'later' };
    };
    expect((await ask('again')).body.answer.said).toBe('later');
    expect(asked).toHaveLength(2);
    expect(asked[1]).toEqual(asked[0]);
  });

  test('waits no longer than five seconds for an answer', async () => {
    provider = () => (asked.length === 1 ? new Promise(() => {}) : Promise.resolve({ said: 'in time' }));
    expect((await ask('slow')).body.answer.said).toBe('in time');
    expect(asked).toHaveLength(2);
  }, 30_000);
});

test('eight commands of an organization ask at once, and those of another one do not wait for them', async () => {
  const neighbour = await service.org();
  const waiting: (() => void)[] = [];
  provider = async (_deps, { input }) => {
    if (input.body.name !== 'neighbour') await new Promise<void>((resolve) => waiting.push(resolve));
    return { said: 'yes' };
  };
  const many = Array.from({ length: 20 }, (_, index) => ask(`many ${index}`));
  await until(async () => waiting.length === 8 || undefined);
  const { status } = await neighbour.post('/answers', { answer: { name: 'neighbour' } });
  expect(status).toBe(200);
  expect(waiting).toHaveLength(8);
  let most = 0;
  const done = Promise.all(many);
  const open = setInterval(() => {
    most = Math.max(most, waiting.length);
    waiting.splice(0).forEach((answer) => {
      answer();
    });
  }, 20);
  const answers = await done.finally(() => clearInterval(open));
  expect(answers.map((answer) => answer.status)).toEqual(Array(20).fill(200));
  expect(most).toBeLessThanOrEqual(8);
});

test('every operation that asks has a pre-step, and every pre-step an operation', () => {
  const asking = operations.filter(({ asks }) => asks).map(({ name }) => name);
  expect(
    Object.keys(preSteps)
      .filter((name) => name !== register.name)
      .sort(),
  ).toEqual(asking.sort());
});
