import { Temporal } from 'temporal-polyfill';
import { z } from 'zod';
import { createOrganization } from '../../../src/areas/tenancy/organizations/commands.ts';
import { advance } from '../../../src/jobs/advance-clock/advance-clock.ts';
import type { START } from '../../../src/jobs/advance-clock/phase-of-advance.ts';
import type { AdvanceDeps } from '../../../src/jobs/advance-clock/walker.ts';
import { type StepRegistry, stepRegistry } from '../../../src/jobs/run-steps/step-registry.ts';
import { realNow } from '../../../src/platform/clock/real-clock.ts';
import type { Tick } from '../../../src/platform/clock/ticks.ts';
import { loadConfig } from '../../../src/platform/config.ts';
import type { Context } from '../../../src/platform/context.ts';
import type { Sql } from '../../../src/platform/db/connect.ts';
import { keyset, type Placed, selected } from '../../../src/platform/db/keyset.ts';
import { createLog } from '../../../src/platform/log/log.ts';
import { periodicJob } from '../../../src/platform/periodic-job.ts';
import type { Producer } from '../../../src/platform/queue/producer.ts';
import { reactions } from '../../../src/reactions.ts';
import type { ScheduleRow } from '../../../src/schedule.ts';

/**
 * A small world for the walk: chores that fall due again and again like subscriptions, marks that chores and delayed
 * steps set, and a record of what was done when.
 */
export async function createScratchTables(sql: Sql): Promise<void> {
  await sql.unsafe(`
    create table chores (
      organization_id uuid not null, name text not null, due_at timestamptz not null, every_minutes int not null,
      marked boolean not null default false, primary key (organization_id, name));
    create table done (organization_id uuid not null, what text not null, at timestamptz not null,
      unique (organization_id, what, at));
    create table broken (organization_id uuid not null, name text not null);`);
}

export interface Chore {
  name: string;
  dueAt: string;
  everyMinutes: number;
}

export async function addChores(sql: Sql, organizationId: string, chores: Chore[]): Promise<void> {
  for (const chore of chores) {
    await sql`
      insert into chores (organization_id, name, due_at, every_minutes)
      values (${organizationId}, ${chore.name}, ${chore.dueAt}, ${chore.everyMinutes})`;
  }
}

const note = (db: Sql, organizationId: string, what: string, at: Temporal.Instant) => db`
  insert into done (organization_id, what, at) values (${organizationId}, ${what}, ${at})`;

/** Ticks hourly at :10. Doing a chore leaves a mark, a step owed at once and one that is due 7 minutes later. */
export const choresJob = periodicJob({
  name: 'chores',
  item: z.object({ name: z.string() }),
  async select(sql, at, scope, page) {
    const { place, isBehind, order } = keyset(sql, page, sql`organization_id`, sql`due_at, name`);
    const rows = await sql<({ organization_id: string; name: string; due_at: Temporal.Instant } & Placed)[]>`
      select organization_id, name, due_at, ${place} from chores
      where due_at <= ${at} ${scope === 'real-time' ? sql`` : sql`and organization_id = ${scope.organizationId}`}
        and ${isBehind}
      ${order}`;
    return selected(rows, page, (row) => ({
      organization_id: row.organization_id,
      sandbox: true,
      item: { name: row.name },
      key: `${row.name}-${row.due_at.epochMilliseconds}`,
      resource: { type: 'Chore', id: '0190f000-0000-7000-8000-000000000001' },
    }));
  },
  async work(ctx, { name }, at) {
    const db = ctx.db as Sql;
    const moved = await db`
      update chores set due_at = ${at}::timestamptz + every_minutes * interval '1 minute', marked = true
      where organization_id = ${ctx.organizationId} and name = ${name} and due_at <= ${at} returning 1`;
    if (moved.length === 0) return;
    await note(db, ctx.organizationId, `chore ${name}`, at);
    ctx.record({
      activity: {
        type: 'chore.done',
        resourceType: 'Chore',
        resourceId: '0190f000-0000-7000-8000-000000000001',
        object: { code: name, secret: 'x' },
        externalCustomerId: 'c1',
      },
    });
    ctx.after({ step: 'echo', payload: { name } } as never);
    ctx.after({ step: 'late-echo', payload: { name }, dueAt: ctx.now().add({ minutes: 7 }) } as never);
    const broken = await db`
      select 1 from broken where organization_id = ${ctx.organizationId} and name = ${name}`;
    if (broken.length > 0) throw new Error(`${name} is broken`);
  },
  async nextDueAt({ db: sql, organizationId }) {
    const [row] = await sql<{ at: Temporal.Instant | null }[]>`
      select min(due_at) as at from chores where organization_id = ${organizationId}`;
    return row?.at ?? null;
  },
});

/** Ticks every minute and works off marks. */
export const marksJob = periodicJob({
  name: 'marks',
  item: z.object({ name: z.string() }),
  async select(sql, _at, scope, page) {
    const { place, isBehind, order } = keyset(sql, page, sql`organization_id`, sql`name`);
    const rows = await sql<({ organization_id: string; name: string } & Placed)[]>`
      select organization_id, name, ${place} from chores
      where marked ${scope === 'real-time' ? sql`` : sql`and organization_id = ${scope.organizationId}`} and ${isBehind}
      ${order}`;
    return selected(rows, page, (row) => ({
      organization_id: row.organization_id,
      sandbox: true,
      item: { name: row.name },
      key: row.name,
    }));
  },
  async work(ctx, { name }, at) {
    const db = ctx.db as Sql;
    const cleared = await db`
      update chores set marked = false where organization_id = ${ctx.organizationId} and name = ${name} and marked
        returning 1`;
    if (cleared.length > 0) await note(db, ctx.organizationId, `mark ${name}`, at);
  },
  async nextDueAt({ db: sql, organizationId }, after) {
    const rows = await sql`select 1 from chores where organization_id = ${organizationId} and marked limit 1`;
    return rows.length > 0 ? after : null;
  },
});

// biome-ignore lint/suspicious/noExplicitAny: steps of tests take what the test gives them
export type ScratchHandler = (ctx: Context, payload: any) => Promise<void>;

/** A table of a test's own steps, each with any payload. */
export const scratchRegistry = (handlers: Record<string, ScratchHandler>): StepRegistry =>
  stepRegistry(
    Object.fromEntries(Object.keys(handlers).map((name) => [name, { queue: 'billing', payload: z.looseObject({}) }])),
    handlers,
  );

export const scratchSteps: Record<string, ScratchHandler> = {
  echo: (ctx, { name }) => note(ctx.db as Sql, ctx.organizationId, `echo ${name}`, ctx.now()).then(() => {}),
  'late-echo': async (ctx, { name }) => {
    await note(ctx.db as Sql, ctx.organizationId, `late echo ${name}`, ctx.now());
    await (ctx.db as Sql)`
      update chores set marked = true where organization_id = ${ctx.organizationId} and name = ${name}`;
  },
};

const row = (job: string, tick: Tick, worksOffMarks?: true): ScheduleRow => ({
  job,
  tick,
  clock: 'B',
  catchUp: 'latest',
  afterMissedTicks: 'by selection',
  ...(worksOffMarks ? { worksOffMarks } : {}),
});

export const scratchRows: ScheduleRow[] = [
  row('chores', { minuteOfHour: 10 }),
  row('marks', { everySeconds: 60 }, true),
];

/** Notes what would have been enqueued. */
export function recordingProducer(): Producer & {
  added: { name: string; payload: unknown; id: string | undefined }[];
} {
  const added: { name: string; payload: unknown; id: string | undefined }[] = [];
  return {
    added,
    async add(name, payload, options) {
      added.push({ name, payload, id: options?.id });
    },
    async addMany(name, items) {
      for (const { payload, options } of items) added.push({ name, payload, id: options?.id });
    },
    accessChanged: async () => {},
    deliver(organization_id, webhook_endpoint_id, delivery_ids) {
      const payload = { organization_id, webhook_endpoint_id, delivery_ids };
      added.push({ name: 'webhook.deliver', payload, id: `deliver-${delivery_ids[0]}` });
    },
    queue: () => {
      throw new Error('no queue here');
    },
    storedQueues: () => [],
    waiting: async () => 0,
    async close() {},
  };
}

export const scratchDeps = (sql: Sql, settings: Record<string, string> = {}): AdvanceDeps => ({
  sql,
  config: loadConfig(settings),
  reactions,
  log: createLog({ level: 'silent', process: 'test' }),
  producer: recordingProducer(),
  steps: scratchRegistry(scratchSteps),
  jobs: [
    { row: scratchRows[0]!, job: choresJob },
    { row: scratchRows[1]!, job: marksJob },
  ],
});

/** A sandbox organization with a clock and chores; its id. */
export async function sandboxAt(sql: Sql, frozenTime: string, chores: Chore[]): Promise<string> {
  const { organization_id: id } = await createOrganization(sql, { name: 'Scratch', sandbox: true });
  await sql`insert into test_clocks (organization_id, frozen_time, created_at)
    values (${id}, ${frozenTime}, ${realNow()})`;
  await sql`insert into test_clock_timelines (organization_id, last, first) values (${id}, 0, 1)`;
  await addChores(sql, id, chores);
  return id;
}

export const setTarget = (sql: Sql, organizationId: string, target: string) => sql`
  with lease as (
    insert into test_clock_leases (organization_id, until) values (${organizationId}, ${realNow()})
    on conflict (organization_id) do update set token = null, until = excluded.until
  )
  update test_clocks set status = 'advancing', target_time = ${target}, started_from = frozen_time, steps_done = 0,
    error = null,
    lease_token = null, cancel_requested = false
  where organization_id = ${organizationId}`;

export async function advanceTo(deps: AdvanceDeps, organizationId: string, target: string): Promise<void> {
  await setTarget(deps.sql, organizationId, target);
  await advance(deps, organizationId, () => false);
}

export async function clockOf(sql: Sql, organizationId: string) {
  const [clock] = await sql<
    {
      frozen_time: Temporal.Instant;
      target_time: Temporal.Instant | null;
      status: string;
      phase: typeof START | null;
      steps_done: number;
      error: Record<string, unknown> | null;
      lease_token: string | null;
    }[]
  >`select * from test_clocks where organization_id = ${organizationId}`;
  return clock!;
}

/** What was done, as `instant what` in the order of instants. */
export async function doneBy(sql: Sql, organizationId: string): Promise<string[]> {
  const rows = await sql<{ what: string; at: Temporal.Instant }[]>`
    select what, at from done where organization_id = ${organizationId} order by at, what`;
  return rows.map((each) => `${each.at.toString({ smallestUnit: 'minute' })} ${each.what}`);
}

export async function timelineOf(sql: Sql, organizationId: string): Promise<string[]> {
  const rows = await sql<{ at: Temporal.Instant; kind: string; name: string; sequence: number }[]>`
    select sequence, at, kind, name from test_clock_timeline
      where organization_id = ${organizationId} order by sequence`;
  return rows.map(
    (each) => `${each.sequence} ${each.at.toString({ smallestUnit: 'minute' })} ${each.kind} ${each.name}`,
  );
}

export const minutesAfter = (from: string, minutes: number): string =>
  Temporal.Instant.from(from).add({ minutes }).toString();

/** A promise that somebody else fulfils. */
export function gate(): { promise: Promise<void>; resolve: () => void } {
  let resolve = () => {};
  const promise = new Promise<void>((fulfil) => {
    resolve = fulfil;
  });
  return { promise, resolve: () => resolve() };
}
