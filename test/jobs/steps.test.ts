import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { z } from 'zod';
import { createOrganization } from '../../src/areas/tenancy/organizations/commands.ts';
import { stepRunHandlers } from '../../src/jobs/run-steps/jobs.ts';
import { stepRegistry } from '../../src/jobs/run-steps/step-registry.ts';
import { nudgeLostSteps } from '../../src/jobs/sweep-rows/lost-steps.ts';
import { realNow } from '../../src/platform/clock/real-clock.ts';
import type { Sql } from '../../src/platform/db/connect.ts';
import { json } from '../../src/platform/db/values.ts';
import type { JobInfo } from '../../src/platform/queue/worker.ts';
import { refuse } from '../../src/platform/refusal.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { recordingProducer, type ScratchHandler, scratchDeps, scratchRegistry } from './advance-clock/scratch.ts';

let database: TestDatabase;
let sql: Sql;
beforeAll(async () => {
  database = await createTestDatabase();
  sql = database.sql;
  await sql`create table effects (organization_id uuid not null, text text not null)`;
});
afterAll(() => database.drop());
beforeEach(() => sql`truncate effects, after_steps`);

const steps: Record<string, ScratchHandler> = {
  tell: async (ctx, { text }) => {
    await ctx.db`insert into effects (organization_id, text) values (${ctx.organizationId}, ${text})`;
    ctx.after({ step: 'told', payload: { text } } as never);
  },
  refuse: async () => {
    throw refuse.notAllowed('not_like_this');
  },
  fail: async (ctx) => {
    await ctx.db`insert into effects (organization_id, text) values (${ctx.organizationId}, 'half')`;
    throw new Error('it broke');
  },
};

/** Of a job that has been in its queue for long. */
const info = { addedAtMs: 0 } as JobInfo;
const organization = async (sandbox = false) =>
  (await createOrganization(sql, { name: 'Steps', sandbox })).organization_id;

async function addStep(
  organizationId: string,
  job: string,
  options: { dueInSeconds?: number; ageSeconds?: number; payload?: object } = {},
) {
  const id = randomUUID();
  const created = realNow().subtract({ seconds: options.ageSeconds ?? 0 });
  const due = options.dueInSeconds === undefined ? null : realNow().add({ seconds: options.dueInSeconds });
  await sql`
    insert into after_steps (id, organization_id, job, payload, due_at, created_at, enqueued_at)
    values (${id}, ${organizationId}, ${job}, ${json(options.payload ?? { text: 'hello' })}, ${due}, ${created},
      ${created})`;
  return id;
}

const setup = () => {
  const producer = recordingProducer();
  const handlers = stepRunHandlers({ ...scratchDeps(sql), producer }, scratchRegistry(steps));
  const run = (organizationId: string, id: string, by: JobInfo = info) =>
    handlers['step.run']({ step_id: id, organization_id: organizationId }, by);
  return { producer, run };
};
const effects = async () => (await sql<{ text: string }[]>`select text from effects`).map((row) => row.text);
const stepsLeft = () =>
  sql`select job, attempts, failed_at is not null as failed, error from after_steps order by created_at, id`;

describe('after-steps', () => {
  test('an after-step runs in the transaction that deletes its row, and what it owes is nudged', async () => {
    const { producer, run } = setup();
    const org = await organization();
    await run(org, await addStep(org, 'tell'));
    expect(await effects()).toEqual(['hello']);
    const [next, ...others] = await stepsLeft();
    expect(others).toEqual([]);
    expect(next).toMatchObject({ job: 'told', attempts: 0, failed: false });
    expect(producer.added.map((job) => job.name)).toEqual(['step.run']);
  });

  test('an after-step that is nudged many times at the same time has one effect', async () => {
    const { run } = setup();
    const org = await organization();
    const id = await addStep(org, 'tell');
    await Promise.all(Array.from({ length: 10 }, () => run(org, id)));
    await run(org, id);
    expect(await effects()).toEqual(['hello']);
  });

  test('an after-step that fails leaves nothing behind, counts its attempts and ends after the eighth', async () => {
    const { run } = setup();
    const org = await organization();
    const id = await addStep(org, 'fail');
    await expect(run(org, id)).rejects.toThrow('it broke');
    expect(await stepsLeft()).toMatchObject([{ attempts: 1, failed: false, error: 'it broke' }]);
    for (let attempt = 2; attempt <= 8; attempt += 1) await expect(run(org, id)).rejects.toThrow();
    expect(await stepsLeft()).toMatchObject([{ attempts: 8, failed: true, error: 'it broke' }]);
    await run(org, id);
    expect(await effects()).toEqual([]);
  });

  test('an after-step that is refused has failed for good', async () => {
    const { run } = setup();
    const org = await organization();
    await expect(run(org, await addStep(org, 'refuse'))).rejects.toThrow('not_like_this');
    expect(await stepsLeft()).toMatchObject([{ attempts: 1, failed: true }]);
  });

  test.each([
    ['fail', 8, { code: 'internal_error', message: 'The work failed and was given up.', svc_resource_id: null }],
    ['refuse', 1, { code: 'not_like_this', message: 'Method Not Allowed', svc_resource_id: null }],
  ])('an after-step of job %s ends its run as failed after %i attempts', async (job, attempts, error) => {
    const { run } = setup();
    const org = await organization();
    const runId = randomUUID();
    await sql`
      insert into runs (id, organization_id, kind, created_at)
      values (${runId}, ${org}, 'invoice_verification', ${realNow()})`;
    const id = await addStep(org, job, { payload: { run_id: runId } });
    const runs = () => sql`select status, error, finished_at is not null as ended from runs where id = ${runId}`;
    for (let attempt = 1; attempt < attempts; attempt += 1) await expect(run(org, id)).rejects.toThrow();
    expect(await runs()).toEqual([{ status: 'pending', error: null, ended: false }]);
    await expect(run(org, id)).rejects.toThrow();
    expect(await runs()).toEqual([{ status: 'failed', error, ended: true }]);
  });

  test('an after-step with an unknown name waits through any number of tries and runs once a worker knows it', async () => {
    const { producer, run } = setup();
    const org = await organization();
    const id = await addStep(org, 'unheard-of');
    for (let attempt = 1; attempt <= 20; attempt += 1) await run(org, id);
    const [step] = await sql`select attempts, failed_at, unknown_since from after_steps`;
    expect(step).toMatchObject({ attempts: 0, failed_at: null, unknown_since: expect.anything() });
    await nudgeLostSteps({ sql, producer }, realNow().add({ seconds: 121 }));
    expect(producer.added.map((job) => job.payload)).toEqual([{ step_id: id, organization_id: org }]);
    const newer = stepRunHandlers(
      { ...scratchDeps(sql), producer },
      scratchRegistry({ ...steps, 'unheard-of': steps.tell! }),
    );
    await newer['step.run']({ step_id: id, organization_id: org }, info);
    expect(await effects()).toEqual(['hello']);
  });

  test('an after-step whose payload does not parse waits with its error and runs once a worker can read it', async () => {
    const org = await organization();
    const producer = recordingProducer();
    const at = (payload: z.ZodType) =>
      stepRunHandlers(
        { ...scratchDeps(sql), producer },
        stepRegistry({ tell: { queue: 'billing', payload } }, { tell: steps.tell! }),
      );
    const id = await addStep(org, 'tell', { payload: { text: 7, secret: 'x' } });
    const older = at(z.object({ text: z.string(), item: z.object({ id: z.guid() }) }));
    for (let attempt = 1; attempt <= 20; attempt += 1)
      await older['step.run']({ step_id: id, organization_id: org }, info);
    expect(await effects()).toEqual([]);
    expect(await sql`select attempts, failed_at, unknown_since, error from after_steps`).toMatchObject([
      {
        attempts: 0,
        failed_at: null,
        unknown_since: expect.anything(),
        error: 'payload of tell not understood: text: invalid_type; item: invalid_type',
      },
    ]);
    await at(z.object({ text: z.coerce.string() }))['step.run']({ step_id: id, organization_id: org }, info);
    expect(await effects()).toEqual(['7']);
  });

  test('an after-step that fails in a worker that understands it is no longer shown as unknown', async () => {
    const { run } = setup();
    const org = await organization();
    const id = await addStep(org, 'fail');
    await sql`update after_steps set unknown_since = ${realNow()}`;
    await expect(run(org, id)).rejects.toThrow('it broke');
    expect(await sql`select unknown_since, error from after_steps`).toEqual([
      { unknown_since: null, error: 'it broke' },
    ]);
  });

  test('an after-step unknown to this worker is offered to others before it is left to the sweeper', async () => {
    const { run } = setup();
    const org = await organization();
    const delays: number[] = [];
    const offered = (addedAtMs: number) =>
      ({ addedAtMs, comeBack: async (ms: number) => void delays.push(ms) }) as unknown as JobInfo;
    const id = await addStep(org, 'unheard-of');
    await run(org, id, offered(Date.now() - 30_000));
    expect(delays).toEqual([2000]);
    await run(org, id, offered(Date.now() - 61_000));
    expect(delays).toEqual([2000]);
  });

  test('an after-step waits for its due time', async () => {
    const { run } = setup();
    const org = await organization();
    await run(org, await addStep(org, 'tell', { dueInSeconds: 60 }));
    expect(await effects()).toEqual([]);
    await run(org, await addStep(org, 'tell', { dueInSeconds: -1 }));
    expect(await effects()).toEqual(['hello']);
  });

  test('an after-step of a sandbox is left to the advance while its clock advances', async () => {
    const { run } = setup();
    const org = await organization(true);
    await sql`
      insert into test_clocks (organization_id, frozen_time, status, created_at)
      values (${org}, '2024-03-01T00:00:00Z', 'advancing', ${realNow()})`;
    const id = await addStep(org, 'tell');
    await run(org, id);
    expect(await effects()).toEqual([]);
    await sql`update test_clocks set status = 'ready' where organization_id = ${org}`;
    await run(org, id);
    expect(await effects()).toEqual(['hello']);
  });
});

describe('start-up of workers', () => {
  const spec = { queue: 'billing' as const, payload: z.object({}) };

  test('start-up has a handler for every row of the step table', () => {
    expect([...stepRegistry().keys()]).toContain('bill-subscriptions');
  });

  test('start-up refuses a step without a handler and a handler without a step, and names them', () => {
    const nothing = async () => {};
    expect(() => stepRegistry({ bill: spec, mail: spec }, { mail: nothing, wash: nothing })).toThrow(
      'the table of after-steps does not fit: bill has no handler; wash has a handler and no row',
    );
  });
});

describe('the sweeper of steps', () => {
  const sweep = async () => {
    const producer = recordingProducer();
    await nudgeLostSteps({ sql, producer }, realNow());
    return producer.added.map((job) => (job.payload as { step_id: string }).step_id);
  };

  test('the sweeper nudges steps whose job was lost, once in two minutes', async () => {
    const org = await organization();
    const lost = await addStep(org, 'tell', { ageSeconds: 121 });
    await addStep(org, 'tell', { ageSeconds: 100 });
    expect(await sweep()).toEqual([lost]);
    expect(await sweep()).toEqual([]);
  });

  test('the sweeper makes up for a lost nudge', async () => {
    const { run } = setup();
    const org = await organization();
    await addStep(org, 'tell', { ageSeconds: 121 });
    for (const id of await sweep()) await run(org, id);
    expect(await effects()).toEqual(['hello']);
  });

  test('the sweeper nudges delayed steps when their time has come', async () => {
    const org = await organization();
    const due = await addStep(org, 'tell', { ageSeconds: 20, dueInSeconds: -1 });
    await addStep(org, 'tell', { ageSeconds: 200, dueInSeconds: 60 });
    expect(await sweep()).toEqual([due]);
    expect(await sweep()).toEqual([]);
  });

  test('the sweeper leaves delayed steps of a test clock to its advance, and all steps while it advances', async () => {
    const org = await organization(true);
    await sql`
      insert into test_clocks (organization_id, frozen_time, created_at) values (${org}, '2024-03-01T00:00:00Z',
        ${realNow()})`;
    const owed = await addStep(org, 'tell', { ageSeconds: 121 });
    await addStep(org, 'tell', { ageSeconds: 500, dueInSeconds: -200 });
    expect(await sweep()).toEqual([owed]);
    await sql`update after_steps set enqueued_at = ${realNow().subtract({ seconds: 200 })}`;
    await sql`update test_clocks set status = 'advancing' where organization_id = ${org}`;
    expect(await sweep()).toEqual([]);
  });

  test('the sweeper leaves steps that have failed for good', async () => {
    const { run } = setup();
    const org = await organization();
    await run(org, await addStep(org, 'refuse', { ageSeconds: 500 })).catch(() => {});
    expect(await sweep()).toEqual([]);
  });
});
