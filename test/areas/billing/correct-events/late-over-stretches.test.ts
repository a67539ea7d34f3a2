import { afterAll, beforeAll, expect, test } from 'vitest';
import {
  lateEvents,
  lookForLateEvents,
  settleGathered,
} from '../../../../src/areas/billing/settle-usage/late-events.ts';
import type { Context } from '../../../../src/platform/context.ts';
import type { Db } from '../../../../src/platform/db/connect.ts';
import { newId } from '../../../../src/platform/ids.ts';
import type { StepPayload } from '../../../../src/steps.ts';
import { readingAt } from '../../../support/count-statements.ts';
import { startService, type TestService } from '../../../support/service.ts';
import { openStory, type Story } from '../../../support/story.ts';
import { ok, type Shown } from '../../../support/words.ts';

// Late events of one hour are one correction a subscription and window, also where the look that finds them reads the
// organization's events in several stretches of 5000: event-corrections.md#late-events, CO27. One unit costs 10.00, and
// 13 units of March are invoiced on 1 April.
let service: TestService;

beforeAll(async () => {
  service = await startService();
});
afterAll(() => service.stop());

async function april(late_events: string): Promise<Story> {
  const story = await openStory(service, '2024-03-01T00:00:00Z');
  await story.customer();
  const metric = await story.metric('units', { aggregation_type: 'sum_agg', field_name: 'n' });
  await story.plan({
    amount_cents: 0,
    usage_policies: { late_events },
    charges: [
      { billable_metric_id: metric.svc_id, code: 'units', charge_model: 'standard', properties: { amount: '10' } },
    ],
  });
  await story.subscribe();
  await story.advanceTo('2024-03-10T00:00:00Z');
  await story.use('units', { n: '13' });
  await story.advanceTo('2024-04-02T00:10:00Z');
  return story;
}

const late = (story: Story, n: string) => story.use('units', { n }, { at: '2024-03-20T00:00:00Z' });

/** Events of no metric: as many as a stretch has, so that what came before and after them is in different ones. */
const fillStretch = (story: Story, count = 5000) => service.sql`
  insert into events (id, organization_id, external_subscription_id, transaction_id, code, timestamp, properties,
    digest, created_at)
  select id, ${story.organizationId}, 'none', id::text, 'none', '2024-04-02', '{}', decode('00', 'hex'),
    '2024-04-02T00:10:00Z'
  from unnest(${Array.from({ length: count }, () => newId())}::uuid[]) id`;

/** What was billed beyond the first invoice, by how many more invoices, and what was given back, in cents. */
async function money(story: Story) {
  const { invoices } = await ok(story.client.get('/invoices?per_page=100'));
  const { credit_notes } = await ok(story.client.get('/credit_notes?per_page=100'));
  const sum = (list: Shown[], key: string) => list.reduce((total: number, each) => total + each[key], 0);
  return {
    billed: sum(invoices, 'fees_amount_cents') - 13_000,
    own_invoices: invoices.filter((each: Shown) => each.issuing_date === '2024-04-02').length,
    credited: sum(credit_notes, 'sub_total_excluding_taxes_amount_cents'),
  };
}

const lateCorrections = async (story: Story): Promise<Shown[]> =>
  (await ok(story.client.get('/events/corrections?kinds[]=late_events'))).corrections;

const POLICIES = ['credit_note', 'debit_invoice', 'next_invoice'];
const NOTHING = { billed: 0, own_invoices: 0, credited: 0 };

test.each(POLICIES.flatMap((policy) => [[policy, '5', '-5'] as const, [policy, '-5', '5'] as const]))(
  'under %s, late usage of %s and %s in two stretches of a look leaves nothing',
  async (policy, first, second) => {
    const story = await april(policy);
    await late(story, first);
    await fillStretch(story);
    await late(story, second);
    await story.advanceTo('2024-04-02T02:10:00Z');
    expect(await lateCorrections(story)).toEqual([]);
    await story.advanceTo('2024-05-02T00:00:00Z');
    expect(await money(story)).toEqual(NOTHING);
  },
);

test.each([
  ['credit_note', { billed: 0, own_invoices: 0, credited: 0 }],
  ['debit_invoice', { billed: 8000, own_invoices: 1, credited: 0 }],
  ['next_invoice', { billed: 8000, own_invoices: 0, credited: 0 }],
])('under %s, late usage of 5 and 3 in two stretches is one correction', async (policy, expected) => {
  const story = await april(policy);
  await late(story, '5');
  await fillStretch(story);
  await late(story, '3');
  await story.advanceTo('2024-04-02T02:10:00Z');
  expect(await lateCorrections(story)).toMatchObject([{ policy, status: 'settled', events_count: 2 }]);
  await story.advanceTo('2024-05-02T00:00:00Z');
  expect(await money(story)).toEqual(expected);
});

type Look = StepPayload<'look-for-late-events'>;

/** Runs a part of a look in a transaction. What it owes is lost, and what it wrote too where its worker is killed. */
async function part(
  story: Story,
  work: (ctx: Context) => Promise<unknown>,
  { isKilled = false } = {},
): Promise<{ step: string; payload: object }[]> {
  const owed: { step: string; payload: object }[] = [];
  const killed = new Error('the worker was killed');
  const transaction = service.sql.begin(async (tx) => {
    const ctx = {
      ...readingAt(service, service.sql, story.organizationId, '2024-04-02T00:20:00Z'),
      db: tx as unknown as Db,
      after: (each: { step: string; payload: object }) => owed.push(each),
    } as unknown as Context;
    await work(ctx);
    if (isKilled) throw killed;
  });
  await transaction.catch((error: unknown) => {
    if (error !== killed) throw error;
  });
  return owed;
}

const tick = (ctx: Context) => lateEvents.work(ctx, {}, ctx.now());
const gathered = async (story: Story): Promise<number> => {
  const rows = await service.sql`
    select from gathered_late_events where organization_id = ${story.organizationId}`;
  return rows.length;
};

test.each(POLICIES)('under %s, a look that ends between its stretches is finished by the next one', async (policy) => {
  const story = await april(policy);
  await late(story, '5');
  await fillStretch(story);
  const [lost] = await part(story, tick);
  expect([lost!.step, await gathered(story)]).toEqual(['look-for-late-events', 1]);
  await late(story, '-5');
  await story.advanceTo('2024-04-02T02:10:00Z');
  expect([await lateCorrections(story), await gathered(story)]).toEqual([[], 0]);
  // The lost step comes after the other look, and finds nothing to do.
  expect(await part(story, (ctx) => lookForLateEvents(ctx, lost!.payload as Look))).toEqual([]);
  await story.advanceTo('2024-05-02T00:00:00Z');
  expect(await money(story)).toEqual(NOTHING);
});

test('a look that is killed before it owes the settling is finished by the next one', async () => {
  const story = await april('debit_invoice');
  await late(story, '5');
  await fillStretch(story);
  await late(story, '3');
  const [next] = await part(story, tick);
  const end = (ctx: Context) => lookForLateEvents(ctx, next!.payload as Look);
  expect((await part(story, end, { isKilled: true })).map(({ step }) => step)).toEqual(['settle-late-events']);
  expect(await gathered(story)).toBe(1);
  // A test clock looks again when there is an event that it has not looked at.
  await fillStretch(story, 1);
  await story.advanceTo('2024-04-02T02:10:00Z');
  expect(await lateCorrections(story)).toMatchObject([{ status: 'settled', events_count: 2 }]);
  await story.advanceTo('2024-05-02T00:00:00Z');
  expect(await money(story)).toEqual({ billed: 8000, own_invoices: 1, credited: 0 });
});

test('while a second look gathers, the settling of the first one waits for its end', async () => {
  const story = await april('credit_note');
  await late(story, '-5');
  await fillStretch(story);
  // A first look has gathered this, and owes its settling.
  await part(story, tick);
  const [cursor] = await service.sql<{ seen_id: string }[]>`
    select seen_id from late_event_cursors where organization_id = ${story.organizationId}`;
  await fillStretch(story);
  await late(story, '5');
  const [next] = await part(story, tick);
  expect(next!.step).toBe('look-for-late-events');
  expect(await part(story, (ctx) => settleGathered(ctx, { seen_id: cursor!.seen_id }))).toEqual([]);
  expect(await gathered(story)).toBe(1);
  // A test clock looks again when there is an event that it has not looked at.
  await fillStretch(story, 1);
  await story.advanceTo('2024-04-02T02:10:00Z');
  expect([await lateCorrections(story), await gathered(story)]).toEqual([[], 0]);
  expect(await money(story)).toEqual(NOTHING);
});
