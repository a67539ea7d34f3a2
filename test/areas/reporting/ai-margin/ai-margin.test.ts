import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { AI_CHECKS } from '../../../../src/areas/reporting/audit-books/ai-checks.ts';
import { retention } from '../../../../src/areas/tenancy/retain-rows/delete-by-class.ts';
import { sumAiDays } from '../../../../src/areas/usage/ai-usage-sums/sum-days.ts';
import { realNow } from '../../../../src/platform/clock/real-clock.ts';
import type { Context } from '../../../../src/platform/context.ts';
import type { SweepDeps } from '../../../../src/platform/periodic-job.ts';
import { scratchDeps } from '../../../jobs/advance-clock/scratch.ts';
import { type Call, calls, finishAll } from '../../../support/ai-calls.ts';
import { countStatements } from '../../../support/count-statements.ts';
import { startService, type TestService } from '../../../support/service.ts';
import { openStory, type Story } from '../../../support/story.ts';
import { ok, type Shown } from '../../../support/words.ts';
import { storage } from '../../usage/ingest-events/build.ts';

let service: TestService;
let story: Story;
beforeAll(async () => {
  service = await startService();
});
afterAll(() => service.stop());
beforeEach(async () => {
  story = await openStory(service, '2026-03-01T00:00:00Z');
  await story.customer();
});

/** Prices of alpha in sample book S. */
const PRICES: [string, string, string?][] = [
  ['input', '2.5', '3'],
  ['cache_read', '1.25'],
  ['output', '10', '12'],
];
const price = (model = 'alpha') =>
  ok(
    story.client.post('/price_book/entries', {
      entries: PRICES.map(([kind, cost, sell]) => ({
        provider: 'openai',
        model,
        kind,
        cost,
        sell,
        valid_from: '2026-01-01T00:00:00Z',
      })),
    }),
  );

/** A plan that bills calls with a markup, and a subscription on it. */
async function sell(charge: object = { properties: { markup_rate: '20' } }, code = 'plan') {
  const { svc_id } = await story.metric(`ai_usage`, {
    aggregation_type: 'sum_agg',
    field_name: 'calls',
    filters: [{ key: 'model', values: ['alpha', 'beta'] }],
  });
  const charges = [{ billable_metric_id: svc_id, charge_model: 'dynamic', properties: {}, ...charge }];
  await story.plan({ code, amount_cents: 0, charges });
  await ok(story.subscribe({ plan_code: code }));
}

const AT = '2026-03-02T10:00:00Z';
const AI1: Call = { id: 'AI1', at: AT, parts: { tokens_input: 1000, tokens_output: 200 } };
const AI2: Call = { id: 'AI2', at: AT, parts: { tokens_input: 107, tokens_cache_read: 3712, tokens_output: 20 } };
const AI3: Call = { id: 'AI3', at: AT, parts: { tokens_input: 33, tokens_output: 747, tokens_reasoning: 832 } };

async function send(...given: Call[]) {
  const { store } = storage(service.sql);
  await store(calls(story.organizationId, given, { sandbox: true, received_at: '2026-03-02T12:00:00.000000Z' }));
  await finishAll(service.sql, story.organizationId);
}

const sumDays = () => sumAiDays.sweep({ sql: service.sql } as never, undefined as never);
const RANGE = 'from=2026-03-01&to=2026-03-31';
const margin = async (query = '') => ok(story.client.get(`/ai/margin?${RANGE}&${query}`));
const refusalOf = async (query: string) => {
  const { status, body } = await story.client.get(`/ai/margin?${query}`);
  return [status, body.error_details];
};
const findings = async () =>
  (
    await Promise.all(
      AI_CHECKS.map(({ find }) => find({ db: service.sql, organizationId: story.organizationId } as Context)),
    )
  ).flat();
const correct = (fields: object) =>
  ok(
    story.client.post('/events/corrections', {
      correction: { reason: 'wrong', external_subscription_id: 'sub', ...fields },
    }),
  );

const MG3 = {
  currency: 'USD',
  events: 3,
  unpriced_events: 0,
  input_tokens: 4852,
  output_tokens: 1799,
  precise_cost_cents: '2.548',
  precise_revenue_cents: '3.55776',
  precise_margin_cents: '1.00976',
  margin_rate: 0.2838,
  flags: [],
};

describe('margins', () => {
  test('are cost, revenue with the markup, and what is left, before and after days are summed (MG3)', async () => {
    await sell();
    await price();
    await send(AI1, AI2, AI3);
    const [before, ...none] = (await margin()).margins;
    expect([before, none]).toEqual([MG3, []]);
    await sumDays();
    expect(await margin()).toEqual({
      margins: [MG3],
      totals: MG3,
      meta: { current_page: 1, next_page: null, prev_page: null, total_pages: 1, total_count: 1 },
    });
    expect(await findings()).toEqual([]);
  });

  test('are shown by customer, plan, model and time, the most expensive first', async () => {
    await sell();
    await price();
    await price('beta');
    await send(
      AI1,
      { ...AI1, id: 'b', model: 'beta', at: '2026-03-09T23:59:59.999Z' },
      { ...AI2, id: 'c', by: 'stray' },
    );
    await sumDays();
    const shown = async (query: string, ...fields: string[]) =>
      (await margin(query)).margins.map((row: Shown) => [...fields.map((field) => row[field]), row.precise_cost_cents]);
    expect(await shown('group_by[]=customer', 'external_customer_id')).toEqual([
      ['acme', '0.9'],
      [null, '0.51075'],
    ]);
    expect(await shown('group_by[]=plan&group_by[]=model', 'plan_code', 'model')).toEqual([
      [null, 'alpha', '0.51075'],
      ['plan', 'alpha', '0.45'],
      ['plan', 'beta', '0.45'],
    ]);
    expect(await shown('group_by[]=day&customer=acme', 'day')).toEqual([
      ['2026-03-02', '0.45'],
      ['2026-03-09', '0.45'],
    ]);
    expect(await shown('group_by[]=week&model=beta', 'week')).toEqual([['2026-03-09', '0.45']]);
    expect(await shown('group_by[]=month', 'month')).toEqual([['2026-03-01', '1.41075']]);
    expect(await shown('group_by[]=subscription&subscription=stray', 'external_subscription_id')).toEqual([
      ['stray', '0.51075'],
    ]);
    expect((await margin('provider=nobody')).margins).toEqual([]);
    const paged = await margin('group_by[]=model&group_by[]=day&per_page=1&order=margin');
    expect(paged.margins).toMatchObject([{ model: 'beta' }]);
    expect(paged.meta).toMatchObject({ total_count: 2 });
    expect(paged.totals).toMatchObject({ events: 3, precise_cost_cents: '1.41075' });
    const own = await ok(story.client.get(`/ai/margin/customers/acme?${RANGE}`));
    expect(own.margins.map(({ model, day }: Shown) => [model, day])).toEqual([
      ['alpha', '2026-03-02'],
      ['beta', '2026-03-09'],
    ]);
    expect((await story.client.get(`/ai/margin/customers/nobody?${RANGE}`)).status).toBe(404);
  });

  test('know markups of filters, and flag what no charge takes or what has no price', async () => {
    await sell({
      properties: { markup_rate: '20' },
      filters: [{ values: { model: ['beta'] }, properties: { markup_rate: '100' } }],
    });
    await price();
    await price('beta');
    await send(
      AI1,
      { ...AI1, id: 'b', model: 'beta' },
      { ...AI1, id: 'c', code: 'other' },
      { ...AI1, id: 'd', model: 'x' },
    );
    const rows = (await margin('group_by[]=model&group_by[]=code')).margins;
    const of = (model: string, code: string) => rows.find((row: Shown) => row.model === model && row.code === code);
    expect(of('alpha', 'ai_usage')).toMatchObject({ precise_revenue_cents: '0.648', margin_rate: 0.3056, flags: [] });
    expect(of('beta', 'ai_usage')).toMatchObject({ precise_revenue_cents: '1.08', flags: [] });
    expect(of('alpha', 'other')).toMatchObject({
      precise_revenue_cents: '0.0',
      precise_margin_cents: '-0.45',
      margin_rate: null,
      flags: ['not_billed'],
    });
    expect(of('x', 'ai_usage')).toMatchObject({ events: 1, unpriced_events: 1, flags: ['incomplete'] });
  });

  test('are shown by properties that were dimensions when a call came', async () => {
    await sell();
    await price();
    await send(AI1);
    const settings = { settings: { ai: { margin_dimensions: ['team'] } } };
    await ok(story.client.put('/organizations/settings', settings));
    await send({ ...AI1, id: 'r', properties: { team: 'red' } }, { ...AI1, id: 'n' });
    const rows = (await margin('group_by[]=team&order=events')).margins;
    expect(rows.map(({ dimensions, events }: Shown) => [dimensions.team, events])).toEqual([
      [null, 2],
      ['red', 1],
    ]);
    expect((await margin('dimensions[team]=red')).margins).toMatchObject([{ events: 1 }]);
    expect(await refusalOf(`${RANGE}&dimensions[user]=x`)).toEqual([422, { dimensions: ['value_is_invalid'] }]);
    expect(await findings()).toEqual([]);
  });

  test('keep a call among the dimensions of its day, however it is rated later', async () => {
    await sell();
    await price();
    const settle = (names: string[]) =>
      ok(story.client.put('/organizations/settings', { settings: { ai: { margin_dimensions: names } } }));
    await send({ ...AI1, id: 'before' });
    await settle(['team']);
    await send({ ...AI1, id: 'then', properties: { team: 'red', user: 'ada' } });
    await settle(['user', 'team']);
    const properties = {
      provider: 'openai',
      model: 'alpha',
      tier: 'standard',
      calls: '1',
      tokens: '2',
      tokens_input: '2',
    };
    for (const transaction_id of ['before', 'then'])
      await correct({ kind: 'amend', transaction_id, properties: { ...properties, team: 'red', user: 'ada' } });
    const dimensionsOf = async (transaction_id: string) => {
      const [row] = await service.sql<{ dimensions: unknown }[]>`
        select properties -> 'ai_dimensions' as dimensions from events
        where organization_id = ${story.organizationId} and transaction_id = ${transaction_id} and deleted_at is null`;
      return row!.dimensions;
    };
    expect(await dimensionsOf('before')).toBeNull();
    expect(await dimensionsOf('then')).toEqual(['team']);
    expect(await findings()).toEqual([]);
  });

  test('follow corrections, also of calls that no finished batch has counted', async () => {
    await sell();
    await price();
    await send(AI1, AI2, AI3);
    await correct({ kind: 'amend', transaction_id: 'AI1', precise_total_amount_cents: '1' });
    await correct({ kind: 'retract', transaction_id: 'AI3' });
    expect((await margin()).margins).toMatchObject([
      { events: 2, precise_cost_cents: '0.96075', precise_revenue_cents: '1.82412' },
    ]);
    const { store } = storage(service.sql);
    await store(
      calls(story.organizationId, [{ ...AI1, id: 'new' }], {
        sandbox: true,
        received_at: `${AT.slice(0, -1)}.000000Z`,
      }),
    );
    await correct({ kind: 'retract', transaction_id: 'new' });
    await finishAll(service.sql, story.organizationId);
    expect((await margin()).margins).toMatchObject([{ events: 2 }]);
    await sumDays();
    expect((await margin()).margins).toMatchObject([{ events: 2, precise_revenue_cents: '1.82412' }]);
    expect(await findings()).toEqual([]);
  });

  test('stay the same when old hours become one row a day, and follow corrections after that', async () => {
    await sell();
    await ok(
      story.client.post('/price_book/entries', {
        entries: [
          { provider: 'openai', model: 'alpha', kind: 'input', cost: '10', valid_from: '2020-01-01T00:00:00Z' },
        ],
      }),
    );
    const old = (id: string, hour: number, input: number): Call => ({
      id,
      at: `2025-01-02T${hour}:30:00Z`,
      parts: { tokens_input: input },
    });
    await send(old('a', 10, 1000), old('b', 11, 2000), old('c', 23, 3000), {
      ...AI1,
      id: 'new',
      parts: { tokens_input: 1 },
    });
    await sumDays();
    const shown = async () => (await ok(story.client.get('/ai/margin?from=2025-01-01&to=2025-01-31'))).margins;
    const hours = async () =>
      (await service.sql`select from ai_usage_hours where organization_id = ${story.organizationId}`).length;
    const before = await shown();
    expect(before).toMatchObject([{ events: 3, precise_cost_cents: '6.0' }]);
    expect(await hours()).toBe(4);
    await retention.sweep(scratchDeps(service.sql) as unknown as SweepDeps, realNow());
    expect(await hours()).toBe(2);
    expect(await shown()).toEqual(before);
    await correct({ kind: 'retract', transaction_id: 'b' });
    expect(await shown()).toMatchObject([{ events: 2, precise_cost_cents: '4.0' }]);
    await sumDays();
    await retention.sweep(scratchDeps(service.sql) as unknown as SweepDeps, realNow());
    expect(await shown()).toMatchObject([{ events: 2, precise_cost_cents: '4.0' }]);
    expect(await hours()).toBe(2);
    expect(await findings()).toEqual([]);
  });

  test('are why a new price says how many calls it may concern, by whole days', async () => {
    await sell();
    await price();
    await send(AI1, { ...AI2, id: 'later', at: '2026-03-09T10:00:00Z' }, { ...AI1, id: 'x', model: 'beta' });
    await sumDays();
    const affects = async (valid_from: string) =>
      (
        await ok(
          story.client.post('/price_book/entries', {
            entries: [{ provider: 'openai', model: 'alpha', kind: 'input', cost: valid_from.slice(8, 10), valid_from }],
          }),
        )
      ).affects;
    expect(await affects('2026-03-02T23:00:00Z')).toEqual({ unpriced_events: 0, rated_events: 2 });
    expect(await affects('2026-03-03T00:00:00Z')).toEqual({ unpriced_events: 0, rated_events: 1 });
  });

  test('share a group without names beyond 10 000 groups of a subscription and day', async () => {
    await sell();
    await price();
    await send(AI1);
    await sumDays();
    // As the sums leave a day with so many groups.
    await service.sql`
      insert into ai_crowded_days (organization_id, external_subscription_id, day)
      values (${story.organizationId}, 'sub', '2026-03-02')`;
    await price('beta');
    await send(
      { ...AI1, id: 'known' },
      { ...AI1, id: 'further', model: 'beta' },
      { ...AI1, id: 'next', model: 'gamma' },
    );
    const rows = (await margin('group_by[]=model')).margins;
    expect(rows.map(({ model, events, flags }: Shown) => [model, events, flags])).toEqual([
      ['alpha', 2, []],
      ['', 2, expect.arrayContaining(['groups_left_over'])],
    ]);
    await correct({ kind: 'retract', transaction_id: 'further' });
    await correct({ kind: 'retract', transaction_id: 'known' });
    await sumDays();
    expect((await margin()).totals).toMatchObject({ events: 2, flags: expect.arrayContaining(['groups_left_over']) });
    expect(await findings()).toEqual([]);
  });

  test.each([
    ['', { from: ['value_is_mandatory'], to: ['value_is_mandatory'] }],
    ['from=2026-03-01&to=soon', { to: ['invalid_date'] }],
    ['from=2026-03-02&to=2026-03-01', { to: ['value_is_out_of_range'] }],
    ['from=2025-01-01&to=2026-02-05', { to: ['value_is_out_of_range'] }],
    [`${RANGE}&group_by[]=planet`, { group_by: ['value_is_invalid'] }],
    [`${RANGE}&group_by[]=day&group_by[]=day`, { group_by: ['value_is_invalid'] }],
    [`${RANGE}&group_by[]=day&group_by[]=model&group_by[]=code&group_by[]=plan`, { group_by: ['value_is_too_long'] }],
    [`${RANGE}&order=size`, { order: ['value_is_invalid'] }],
  ])('with the query %s are refused', async (query, details) => {
    expect(await refusalOf(query)).toEqual([422, details]);
  });

  test('are read in three statements at most', async () => {
    await sell();
    await price();
    await send(AI1);
    const { statements } = await countStatements(service, story.organizationId, 'findAiMargins', {
      now: '2026-03-03T00:00:00Z',
      query: { from: '2026-03-01', to: '2026-03-31', group_by: ['customer', 'day'] },
    });
    expect(statements).toHaveLength(2);
  });
});

test('the auditor finds an amount that the book does not give (A32), and sums that are not those of the events (A33)', async () => {
  await sell();
  await price();
  await send(AI1);
  const ofOrganization = service.sql`organization_id = ${story.organizationId}`;
  await service.sql`update ai_usage_hours set cost = cost + 1 where ${ofOrganization}`;
  expect(await findings()).toMatchObject([{ resource_id: expect.stringMatching(/^sub:2026-03-02 10/) }]);
  await service.sql`update events set precise_total_amount_cents = 9 where ${ofOrganization}`;
  expect(await findings()).toMatchObject([{ actual: '9' }, { resource_id: expect.stringMatching(/^sub:/) }]);
});
