import fc from 'fast-check';
import { Temporal } from 'temporal-polyfill';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { advance } from '../../../src/jobs/advance-clock/advance-clock.ts';
import { renewLease, takeLease } from '../../../src/jobs/advance-clock/clock-lease.ts';
import type { AdvanceDeps } from '../../../src/jobs/advance-clock/walker.ts';
import { holdClock, lockOrganizationNow } from '../../../src/platform/clock/organization-clock.ts';
import { realNow } from '../../../src/platform/clock/real-clock.ts';
import { connectDatabase } from '../../../src/platform/db/connect.ts';
import { newId } from '../../../src/platform/ids.ts';
import { periodicJob } from '../../../src/platform/periodic-job.ts';
import { createTestDatabase, type TestDatabase } from '../../support/database.ts';
import { until } from '../../support/until.ts';
import {
  addChores,
  advanceTo,
  type Chore,
  choresJob,
  clockOf,
  createScratchTables,
  doneBy,
  gate,
  minutesAfter,
  recordingProducer,
  sandboxAt,
  scratchDeps,
  scratchRegistry,
  scratchSteps,
  setTarget,
  timelineOf,
} from './scratch.ts';

const START = '2024-03-01T00:00:00Z';

let database: TestDatabase;
let deps: AdvanceDeps;
beforeAll(async () => {
  database = await createTestDatabase();
  await createScratchTables(database.sql);
  deps = scratchDeps(database.sql);
});
afterAll(() => database.drop());

const bins: Chore = { name: 'bins', dueAt: '2024-03-01T05:30:00Z', everyMinutes: 24 * 60 };

describe('advancing a test clock', () => {
  test('an advance visits due instants in order, each with its consequences', async () => {
    const id = await sandboxAt(database.sql, START, [bins]);
    await advanceTo(deps, id, '2024-03-02T12:00:00Z');
    expect(await doneBy(database.sql, id)).toEqual([
      '2024-03-01T06:10Z chore bins',
      '2024-03-01T06:10Z echo bins',
      '2024-03-01T06:10Z mark bins',
      '2024-03-01T06:17Z late echo bins',
      '2024-03-01T06:17Z mark bins',
      '2024-03-02T06:10Z chore bins',
      '2024-03-02T06:10Z echo bins',
      '2024-03-02T06:10Z mark bins',
      '2024-03-02T06:17Z late echo bins',
      '2024-03-02T06:17Z mark bins',
    ]);
    const clock = await clockOf(database.sql, id);
    expect(clock).toMatchObject({ status: 'ready', target_time: null, phase: null, lease_token: null, steps_done: 4 });
    expect(clock.frozen_time.toString()).toBe('2024-03-02T12:00:00Z');
  });

  test('the timeline of an advance lists jobs, records and its end in the order in which they happened', async () => {
    const id = await sandboxAt(database.sql, START, [bins]);
    await advanceTo(deps, id, '2024-03-01T12:00:00Z');
    expect(await timelineOf(database.sql, id)).toEqual([
      '1 2024-03-01T06:10Z job chores',
      '2 2024-03-01T06:10Z activity chore.done',
      '3 2024-03-01T06:10Z job marks',
      '4 2024-03-01T06:17Z job marks',
      '5 2024-03-01T12:00Z clock advanced',
    ]);
    const [job, activity] = await database.sql`
      select * from test_clock_timeline where organization_id = ${id} and sequence <= 2 order by sequence`;
    expect(job).toMatchObject({ summary: { count: 1 }, resource_type: null, external_customer_id: null });
    expect(activity).toMatchObject({ resource_type: 'Chore', external_customer_id: 'c1', summary: { code: 'bins' } });
  });

  test('an advance runs a tick exactly at the target and none exactly at the start', async () => {
    const id = await sandboxAt(database.sql, START, [{ ...bins, dueAt: '2024-03-01T06:10:00Z' }]);
    await advanceTo(deps, id, '2024-03-01T06:10:00Z');
    expect(await doneBy(database.sql, id)).toContain('2024-03-01T06:10Z chore bins');
    await addChores(database.sql, id, [{ name: 'dishes', dueAt: START, everyMinutes: 1440 }]);
    await advanceTo(deps, id, '2024-03-01T07:09:59Z');
    expect(await doneBy(database.sql, id)).not.toContain('2024-03-01T06:10Z chore dishes');
    await advanceTo(deps, id, '2024-03-01T07:10:00Z');
    expect(await doneBy(database.sql, id)).toContain('2024-03-01T07:10Z chore dishes');
  });

  test('an advance works off its own marks at the target and leaves those of requests to their tick', async () => {
    const id = await sandboxAt(database.sql, '2024-03-01T00:00:10Z', [
      { name: 'asked', dueAt: '2025-01-01T00:00:00Z', everyMinutes: 1440 },
      { name: 'own', dueAt: '2025-01-01T00:00:00Z', everyMinutes: 1440 },
    ]);
    await database.sql`update chores set marked = true where organization_id = ${id} and name = 'asked'`;
    await database.sql`
      insert into after_steps (id, organization_id, job, payload, due_at, created_at, enqueued_at)
      values (gen_random_uuid(), ${id}, 'late-echo', '{"name":"own"}', '2024-03-01T00:00:20Z', now(), now())`;
    await advanceTo(deps, id, '2024-03-01T00:00:30Z');
    const done = await doneBy(database.sql, id);
    expect(done).toContain('2024-03-01T00:00Z mark own');
    expect(done).not.toContain('2024-03-01T00:00Z mark asked');
    await advanceTo(deps, id, '2024-03-01T00:01:00Z');
    expect(await doneBy(database.sql, id)).toContain('2024-03-01T00:01Z mark asked');
  });

  test('an advance settles what requests left before it moves', async () => {
    const id = await sandboxAt(database.sql, START, []);
    await database.sql`
      insert into after_steps (id, organization_id, job, payload, created_at, enqueued_at)
      values (gen_random_uuid(), ${id}, 'echo', '{"name":"left"}', now(), now())`;
    await advanceTo(deps, id, '2024-04-01T00:00:00Z');
    expect(await doneBy(database.sql, id)).toEqual(['2024-03-01T00:00Z echo left']);
  });

  test('an advance finishes stored batches of events before it moves', async () => {
    const id = await sandboxAt(database.sql, START, [bins]);
    await database.sql`
      insert into event_batches (id, organization_ids, event_ids, created_at, enqueued_at)
      values (gen_random_uuid(), array[${id}::uuid], '{}', now(), now())`;
    await advanceTo(deps, id, '2024-03-01T01:00:00Z');
    expect(await database.sql`select 1 from event_batches`).toHaveLength(0);
  });

  test('an advance over five years of yearly work visits a handful of instants (TC8)', async () => {
    const id = await sandboxAt(database.sql, START, [
      { name: 'yearly', dueAt: '2025-03-01T00:00:00Z', everyMinutes: 365 * 1440 },
    ]);
    await advanceTo(deps, id, '2029-03-01T00:00:00Z');
    const done = await doneBy(database.sql, id);
    expect(done.filter((each) => each.includes('chore yearly'))).toHaveLength(5);
    expect((await clockOf(database.sql, id)).steps_done).toBeLessThanOrEqual(30);
  });

  test('one jump, many small ones and a visit at every minute of an advance do the same', async () => {
    const chore = fc.record({
      dueAt: fc.integer({ min: 0, max: 240 }).map((minutes) => minutesAfter(START, minutes)),
      everyMinutes: fc.integer({ min: 45, max: 200 }),
    });
    const everyMinute: AdvanceDeps = {
      ...deps,
      jobs: deps.jobs.map(({ row, job }) => ({ row, job: { ...job, nextDueAt: async (_scope, after) => after } })),
    };
    await fc.assert(
      fc.asyncProperty(
        fc.array(chore, { minLength: 1, maxLength: 4 }),
        fc.uniqueArray(fc.integer({ min: 1, max: 299 }), { maxLength: 6 }),
        async (shapes, stops) => {
          const chores = shapes.map((shape, index) => ({ name: `c${index}`, ...shape }));
          const [jump, steps, minutes] = await Promise.all([1, 2, 3].map(() => sandboxAt(database.sql, START, chores)));
          const end = minutesAfter(START, 300);
          await advanceTo(deps, jump!, end);
          for (const stop of stops.sort((a, b) => a - b)) await advanceTo(deps, steps!, minutesAfter(START, stop));
          await advanceTo(deps, steps!, end);
          await advanceTo(everyMinute, minutes!, end);
          const expected = await doneBy(database.sql, jump!);
          expect(await doneBy(database.sql, steps!)).toEqual(expected);
          expect(await doneBy(database.sql, minutes!)).toEqual(expected);
        },
      ),
      { numRuns: 5 },
    );
  });
});

describe('advances that fail', () => {
  test('an advance stops at a failed job and continues as if it had never failed (TC9)', async () => {
    const chores = [bins, { name: 'dishes', dueAt: '2024-03-01T05:40:00Z', everyMinutes: 600 }];
    const [id, other] = [await sandboxAt(database.sql, START, chores), await sandboxAt(database.sql, START, chores)];
    await database.sql`insert into broken (organization_id, name) values (${id}, 'dishes')`;
    await advanceTo(deps, id, '2024-03-02T12:00:00Z');
    const failed = await clockOf(database.sql, id);
    expect(failed.status).toBe('failed');
    expect(failed.frozen_time.toString()).toBe('2024-03-01T06:10:00Z');
    expect(failed.target_time?.toString()).toBe('2024-03-02T12:00:00Z');
    expect(failed.error).toEqual({
      at: '2024-03-01T06:10:00Z',
      job: 'chores',
      resource_type: 'Chore',
      resource_id: '0190f000-0000-7000-8000-000000000001',
      code: 'job_failed',
      message: 'dishes is broken',
    });
    await database.sql`delete from broken where organization_id = ${id}`;
    // The next advance, also one to the same target, starts with that job.
    await advanceTo(deps, id, '2024-03-01T06:10:00Z');
    expect(await clockOf(database.sql, id)).toMatchObject({ status: 'ready', error: null });
    await advanceTo(deps, id, '2024-03-02T12:00:00Z');
    await advanceTo(deps, other, '2024-03-02T12:00:00Z');
    expect(await doneBy(database.sql, id)).toEqual(await doneBy(database.sql, other));
    const lines = (await timelineOf(database.sql, id)).map((line) => line.replace(/^\d+ /, ''));
    expect(lines.filter((line) => line === '2024-03-01T06:10Z job chores')).toHaveLength(1);
    expect(lines).toContain('2024-03-01T06:10Z clock failed');
  });

  test('a failed advance names the after-step that failed', async () => {
    const id = await sandboxAt(database.sql, START, [bins]);
    const failing = {
      ...deps,
      steps: scratchRegistry({
        ...scratchSteps,
        echo: async () => {
          throw new Error('no voice');
        },
      }),
    };
    await advanceTo(failing, id, '2024-03-02T12:00:00Z');
    expect((await clockOf(database.sql, id)).error).toMatchObject({ job: 'echo', message: 'no voice' });
    await advanceTo(deps, id, '2024-03-01T12:00:00Z');
    expect(await doneBy(database.sql, id)).toEqual([
      '2024-03-01T06:10Z chore bins',
      '2024-03-01T06:10Z echo bins',
      '2024-03-01T06:10Z mark bins',
      '2024-03-01T06:17Z late echo bins',
      '2024-03-01T06:17Z mark bins',
    ]);
  });

  test('an advance fails after too many instants with work', async () => {
    const id = await sandboxAt(database.sql, START, [bins]);
    await advanceTo(scratchDeps(database.sql, { TEST_CLOCK_MAX_STEPS: '3' }), id, '2024-04-01T00:00:00Z');
    expect(await clockOf(database.sql, id)).toMatchObject({
      status: 'failed',
      steps_done: 3,
      error: { code: 'too_many_steps', at: '2024-03-02T06:10:00Z' },
    });
  });
});

describe('advances by several workers', () => {
  test('a worker that dies in the middle of an instant is replaced, and nothing is done twice (TC7)', async () => {
    const chores = [bins, { name: 'dishes', dueAt: '2024-03-01T05:40:00Z', everyMinutes: 600 }];
    const [id, other] = [await sandboxAt(database.sql, START, chores), await sandboxAt(database.sql, START, chores)];
    const doomed = connectDatabase(database.url, { connections: 2 });
    const inTheMiddle = gate();
    const dying: AdvanceDeps = {
      ...deps,
      sql: doomed,
      jobs: [
        {
          row: deps.jobs[0]!.row,
          job: periodicJob({
            ...choresJob,
            async work(ctx, item, at) {
              await choresJob.work(ctx, item, at);
              if (item.name !== 'dishes') return;
              inTheMiddle.resolve();
              await new Promise(() => {});
            },
          }),
        },
        deps.jobs[1]!,
      ],
    };
    await setTarget(database.sql, id, '2024-03-02T12:00:00Z');
    void advance(dying, id, () => false).catch(() => {});
    await inTheMiddle.promise;
    await doomed.end({ timeout: 0 });
    expect(await advance(deps, id, () => false)).toBe('not ours');
    // The lease of 60 s runs out.
    await until(async () => {
      const [row] = await database.sql`
        update test_clock_leases set until = '2000-01-01T00:00:00Z' where organization_id = ${id} returning 1`;
      return row;
    });
    expect(await advance(deps, id, () => false)).toBe('ended');
    await advanceTo(deps, other, '2024-03-02T12:00:00Z');
    expect(await doneBy(database.sql, id)).toEqual(await doneBy(database.sql, other));
    expect(await timelineOf(database.sql, id)).toEqual(await timelineOf(database.sql, other));
  });

  test('a step that somebody leaves while the clock stops is sent once it has stopped', async () => {
    const id = await sandboxAt(database.sql, START, [bins]);
    await setTarget(database.sql, id, '2024-03-02T00:00:00Z');
    const stepId = newId();
    const positions = {
      // Called after the last look at open steps.
      async keep() {
        await database.sql`
          insert into after_steps (id, organization_id, job, payload, created_at, enqueued_at)
          values (${stepId}, ${id}, 'tidy', '{}', ${realNow()}, ${realNow()})`;
        return undefined;
      },
    };
    const producer = recordingProducer();
    expect(await advance({ ...deps, positions, producer }, id, () => false)).toBe('ended');
    expect(producer.added.filter(({ name }) => name === 'step.run')).toMatchObject([
      { payload: { step_id: stepId, organization_id: id } },
    ]);
  });

  test('an advance is walked by one worker only', async () => {
    const id = await sandboxAt(database.sql, START, [bins]);
    await setTarget(database.sql, id, '2024-03-05T00:00:00Z');
    const outcomes = await Promise.all([1, 2, 3].map(() => advance(deps, id, () => false)));
    expect(outcomes.sort()).toEqual(['ended', 'not ours', 'not ours']);
  });

  test('an advance renews its lease while other work holds the clock', async () => {
    const id = await sandboxAt(database.sql, START, [bins]);
    await setTarget(database.sql, id, '2024-03-05T00:00:00Z');
    const lease = { organizationId: id, token: newId() };
    const until = realNow().add({ hours: 1 });
    expect(await takeLease(database.sql, lease, { realNow: realNow().add({ seconds: 1 }), until })).toBeDefined();
    const billed = gate();
    const holding = gate();
    const billing = database.sql.begin(async (tx) => {
      await holdClock({ db: tx, organizationId: id });
      holding.resolve();
      await billed.promise;
    });
    await holding.promise;
    const later = until.add({ minutes: 1 });
    const renewed = database.sql.begin(async (tx) => {
      await tx`set local lock_timeout = '1s'`;
      return renewLease(tx, lease, later);
    });
    await expect(renewed).resolves.toMatchObject({ count: 1 });
    billed.resolve();
    await billing;
    // A worker that lost its lease says nothing any more.
    expect(await renewLease(database.sql, { ...lease, token: newId() }, later)).toMatchObject({ count: 0 });
  });

  test('an advance stops between instants when its worker stops, and is continued', async () => {
    const id = await sandboxAt(database.sql, START, [bins]);
    await setTarget(database.sql, id, '2024-03-05T00:00:00Z');
    let visits = 0;
    expect(await advance(deps, id, () => ++visits > 2)).toBe('stopped');
    const half = await clockOf(database.sql, id);
    expect(half.status).toBe('advancing');
    expect(half.frozen_time.toString()).toBe('2024-03-01T06:17:00Z');
    expect(await advance(deps, id, () => false)).toBe('ended');
    expect((await clockOf(database.sql, id)).frozen_time.toString()).toBe('2024-03-05T00:00:00Z');
  });

  test('an advance is canceled after the instant in work', async () => {
    const id = await sandboxAt(database.sql, START, [bins]);
    await setTarget(database.sql, id, '2024-03-05T00:00:00Z');
    let canceled: Promise<unknown> | undefined;
    const canceling: AdvanceDeps = {
      ...deps,
      steps: scratchRegistry({
        ...scratchSteps,
        echo: async (ctx, payload) => {
          await scratchSteps.echo!(ctx, payload);
          canceled ??=
            database.sql`update test_clocks set cancel_requested = true where organization_id = ${id}`.execute();
        },
      }),
    };
    expect(await advance(canceling, id, () => false)).toBe('ended');
    await canceled;
    const clock = await clockOf(database.sql, id);
    expect(clock).toMatchObject({ status: 'ready', target_time: null });
    expect(Temporal.Instant.compare(clock.frozen_time, Temporal.Instant.from('2024-03-02T00:00:00Z'))).toBe(-1);
    expect((await timelineOf(database.sql, id)).at(-1)).toContain('clock canceled');
  });

  test('an advance waits for a write in progress and refuses the next one', async () => {
    const id = await sandboxAt(database.sql, START, [bins]);
    const [locked, mayFinish] = [gate(), gate()];
    const write = database.sql.begin(async (tx) => {
      await lockOrganizationNow({ db: tx, organizationId: id }, true);
      locked.resolve();
      await mayFinish.promise;
      await tx`insert into done (organization_id, what, at) values (${id}, 'written', ${START})`;
    });
    await locked.promise;
    const started = setTarget(database.sql, id, '2024-03-02T00:00:00Z').execute();
    mayFinish.resolve();
    await Promise.all([write, started]);
    await expect(
      database.sql.begin((tx) => lockOrganizationNow({ db: tx, organizationId: id }, true)),
    ).rejects.toMatchObject({
      body: { status: 405, code: 'test_clock_advancing' },
    });
    const held = await database.sql.begin((tx) => holdClock({ db: tx, organizationId: id }));
    expect(held?.status).toBe('advancing');
    await advance(deps, id, () => false);
    expect(await doneBy(database.sql, id)).toContain('2024-03-01T00:00Z written');
  });
});
