import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { lateEvents, lookForLateEvents } from '../../../../src/areas/billing/settle-usage/late-events.ts';
import type { Context } from '../../../../src/platform/context.ts';
import { connectDatabase, type Db } from '../../../../src/platform/db/connect.ts';
import { firstIdAt, newId, type OrganizationId } from '../../../../src/platform/ids.ts';
import type { StepPayload } from '../../../../src/steps.ts';
import { readingAt } from '../../../support/count-statements.ts';
import { rowsOfEventsRead } from '../../../support/rows-of-events-read.ts';
import { startService, type TestService } from '../../../support/service.ts';
import { openStory, type Story } from '../../../support/story.ts';
import { ok, type Shown } from '../../../support/words.ts';

// The hourly look at late events goes through what came since the last one in stretches of 5000 events, one a step, so
// that a long stop makes it longer but no step larger: periodic-jobs.md#late-events, everywhere.md#bounded-cost. One
// unit costs 10.00.
const EVENTS_A_LOOK = 5000;

let service: TestService;
let story: Story;
let organizationId: OrganizationId;

beforeAll(async () => {
  service = await startService();
});
afterAll(() => service.stop());

/** March is invoiced without usage, and its late usage is billed with April. */
beforeEach(async () => {
  story = await openStory(service, '2024-03-01T00:00:00Z');
  organizationId = story.organizationId as OrganizationId;
  await story.customer();
  const metric = await story.metric('units', { aggregation_type: 'sum_agg', field_name: 'n' });
  await story.plan({
    amount_cents: 100,
    usage_policies: { late_events: 'next_invoice' },
    charges: [
      { billable_metric_id: metric.svc_id, code: 'units', charge_model: 'standard', properties: { amount: '10' } },
    ],
  });
  await story.subscribe();
  await story.advanceTo('2024-04-02T00:10:00Z');
});

const minutesAgo = (minutes: number): string =>
  firstIdAt({ epochMilliseconds: Math.round(Date.now() - minutes * 60_000) });

/** Late events whose ids were made so many minutes ago, evenly from the first to the last minute. */
async function insertLate(count: number, [from, to]: readonly [from: number, to: number]): Promise<void> {
  const ids = Array.from(
    { length: count },
    (_, n) => `${minutesAgo(from - ((from - to) * n) / count).slice(0, 14)}${newId().slice(14)}`,
  );
  await service.sql`
    insert into events (id, organization_id, external_subscription_id, transaction_id, code, timestamp, properties,
      digest, created_at)
    select id, ${organizationId}, 'sub', id::text, 'units', '2024-03-20', '{"n":"1"}', decode('00', 'hex'),
      '2024-04-02T00:11:00Z'
    from unnest(${ids}::uuid[]) id`;
}

/** The policy holds since then, and events were looked at up to then. */
async function seen(minutes: number): Promise<void> {
  await service.sql`
    update late_event_policies set from_id = ${minutesAgo(minutes + 1)} where organization_id = ${organizationId}`;
  await service.sql`
    insert into late_event_cursors (organization_id, seen_id) values (${organizationId}, ${minutesAgo(minutes)})
    on conflict (organization_id) do update set seen_id = excluded.seen_id`;
}

interface Looked {
  /** Events that the step found to be late. */
  found: string[];
  next: StepPayload<'look-for-late-events'> | undefined;
  statements: string[];
}

/** The context of a step that keeps in `owed` what the step owes. */
const contextOf = (db: Db, owed: { step: string; payload: object }[]) =>
  ({
    ...readingAt(service, service.sql, organizationId, '2024-04-02T01:00:00Z'),
    db,
    after: (each: { step: string; payload: object }) => owed.push(each),
  }) as unknown as Context;

/** Does the tick, or a step of it, without what it owes and apart from what was gathered before. */
async function look(step?: StepPayload<'look-for-late-events'>): Promise<Looked> {
  const statements: string[] = [];
  const sql = connectDatabase(service.config.DATABASE_URL, {
    connections: 1,
    onStatement: (text) => statements.push(text),
  });
  const owed: { step: string; payload: object }[] = [];
  await service.sql`delete from gathered_late_events where organization_id = ${organizationId}`;
  try {
    await sql.begin(async (tx) => {
      const ctx = contextOf(tx, owed);
      if (step === undefined) await lateEvents.work(ctx, {}, ctx.now());
      else await lookForLateEvents(ctx, step);
    });
  } finally {
    await sql.end();
  }
  const of = (name: string) => owed.filter((each) => each.step === name).map((each) => each.payload);
  const groups = of('settle-late-events') as StepPayload<'settle-late-events'>[];
  const gathered = await service.sql<{ event_id: string }[]>`
    select event_id from gathered_late_events where organization_id = ${organizationId}`;
  return {
    found: [...groups.flatMap(({ event_ids }) => event_ids), ...gathered.map(({ event_id }) => event_id)].sort(),
    next: of('look-for-late-events')[0] as Looked['next'],
    statements: statements.filter((text) => !/^\s*(begin|commit|set )/i.test(text)),
  };
}

/** The tick and all its steps. */
async function lookAtAll(): Promise<Looked[]> {
  const all = [await look()];
  for (let n = 0; n < 100; n += 1) {
    const { next } = all.at(-1)!;
    if (next === undefined) return all;
    all.push(await look(next));
  }
  throw new Error('the look does not end');
}

const idsOfEvents = async (): Promise<string[]> => {
  const rows = await service.sql<{ id: string }[]>`
    select id from events where organization_id = ${organizationId} order by id`;
  return rows.map(({ id }) => id);
};

const foundBy = (looks: readonly Looked[]) => looks.flatMap(({ found }) => found);

test('after a stop of a week each step reads 5000 events in the same eight statements, and the end in ten', async () => {
  await seen(10_080);
  await insertLate(12_345, [10_000, 60]);
  const looks = await lookAtAll();
  expect(looks.map(({ found }) => found.length)).toEqual([EVENTS_A_LOOK, EVENTS_A_LOOK, 2345]);
  expect(looks.map(({ statements }) => statements.length)).toEqual([8, 8, 10]);
  expect(foundBy(looks)).toEqual(await idsOfEvents());
});

test('a step reads the rows of its stretch and no others', async () => {
  await seen(10_080);
  await insertLate(50_000, [20_000, 10_100]);
  await insertLate(12_345, [10_000, 60]);
  await service.sql`analyze events`;
  const read = await rowsOfEventsRead(service, async (db) => {
    const ctx = contextOf(db, []);
    await lateEvents.work(ctx, {}, ctx.now());
  });
  // Once to find the end of the stretch, and once to find the late ones in it.
  expect(read).toBeGreaterThanOrEqual(EVENTS_A_LOOK);
  expect(read).toBeLessThanOrEqual(2 * EVENTS_A_LOOK + 100);
});

test('nothing is skipped, nor looked at twice, when a look ends between its steps and a tick begins anew', async () => {
  await seen(10_080);
  await insertLate(12_345, [10_000, 60]);
  const first = await look();
  const second = await look(first.next);
  const again = await lookAtAll();
  expect(foundBy([first, second, ...again])).toEqual(await idsOfEvents());
  // The step that was lost is found again: another look has been there.
  expect(await look(second.next)).toMatchObject({ found: [], next: undefined });
});

test('what is stored behind a look of the last ten minutes is found by the next look', async () => {
  await seen(60);
  await insertLate(6000, [50, 20]);
  await insertLate(6000, [9, 1]);
  const first = await look();
  const second = await look(first.next);
  // These were being stored meanwhile.
  await insertLate(10, [8, 7]);
  const third = await look(second.next);
  expect([first, second, third].map(({ next }) => next === undefined)).toEqual([false, false, true]);
  expect(foundBy([first, second, third])).toHaveLength(12_000);
  expect(new Set(foundBy([first, second, third, ...(await lookAtAll())]))).toEqual(new Set(await idsOfEvents()));
});

test('a span in which the policy was to ignore what came late is not read', async () => {
  await seen(10_080);
  await service.sql`
    insert into late_event_policies (organization_id, plan_id, from_id, policy)
    select organization_id, plan_id, ${minutesAgo(10_000)}::uuid, 'ignore' from late_event_policies
    where organization_id = ${organizationId}
    union all
    select organization_id, plan_id, ${minutesAgo(100)}::uuid, 'next_invoice' from late_event_policies
    where organization_id = ${organizationId}`;
  await insertLate(7000, [9000, 200]);
  await insertLate(10, [90, 80]);
  await look();
  const looks = await lookAtAll();
  expect(looks).toHaveLength(1);
  expect(looks[0]!.found).toHaveLength(10);
});

test('11 000 late units of a subscription and window are billed once each, 5000 a correction', async () => {
  const timestamp = Date.parse('2024-03-20T00:00:00Z') / 1000;
  const lines = Array.from({ length: 11_000 }, (_, n) =>
    JSON.stringify({
      transaction_id: `late-${n}`,
      external_subscription_id: 'sub',
      code: 'units',
      timestamp,
      properties: { n: '1' },
    }),
  );
  const headers = { 'content-type': 'application/x-ndjson' };
  for (const part of [lines.slice(0, 6000), lines.slice(6000)])
    await ok(story.client.post('/events/bulk', undefined, { raw: part.join('\n'), headers }));
  await story.advanceTo('2024-05-02T00:00:00Z');
  const { corrections } = await ok(story.client.get('/events/corrections?kinds[]=late_events'));
  const totals = await service.sql<{ total: number }[]>`
    select total from event_corrections where organization_id = ${organizationId} order by total`;
  expect([corrections.length, totals.map(({ total }) => total)]).toEqual([3, [1000, 5000, 5000]]);
  const { invoices } = await ok(story.client.get('/invoices?per_page=100'));
  const sum = invoices.reduce((total: number, each: Shown) => total + each.fees_amount_cents, 0);
  expect(sum).toBe(100 + 100 + 11_000_000);
});
