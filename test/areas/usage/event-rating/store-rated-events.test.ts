import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { raiseBookVersion, raiseDeploymentVersion } from '../../../../src/areas/catalog/price-book/book-locks.ts';
import { createOrganization } from '../../../../src/areas/tenancy/organizations/commands.ts';
import { shownText } from '../../../../src/areas/usage/events/answer-text.ts';
import type { Verdict } from '../../../../src/areas/usage/events/incoming-event.ts';
import { amountJson } from '../../../../src/areas/usage/events/view.ts';
import { finishBatches } from '../../../../src/areas/usage/ingest-events/finish-batches.ts';
import type { Kind } from '../../../../src/engine/ai/kinds.ts';
import { connectDatabase } from '../../../../src/platform/db/connect.ts';
import { newId } from '../../../../src/platform/ids.ts';
import { SAMPLE_BOOK } from '../../../engine/ai/rating/sample-book.ts';
import { type Call, calls } from '../../../support/ai-calls.ts';
import { createTestDatabase, type TestDatabase } from '../../../support/database.ts';
import { makeMetric, storage } from '../ingest-events/build.ts';

let database: TestDatabase;
let organizationId: string;
beforeAll(async () => {
  database = await createTestDatabase();
});
afterAll(() => database.drop());
beforeEach(async () => {
  organizationId = (await createOrganization(database.sql, { name: 'Acme', sandbox: false })).organization_id;
  for (const price of SAMPLE_BOOK) await own(price);
});

interface Price {
  model: string;
  kind: Kind;
  cost: string;
  sell?: string;
  min?: number;
  per?: number;
  provider?: string;
  from?: string;
  layer?: 'deployment';
}

/** Writes a price as of the next version of its layer; by default one of the organization for `openai`. */
async function own({ model, kind, cost, sell, min = 0, per = 1_000_000, provider = 'openai', from, layer }: Price) {
  await database.sql.begin(async (tx) => {
    const version = layer ? await raiseDeploymentVersion(tx) : await raiseBookVersion({ db: tx, organizationId });
    await tx`
      insert into price_entries (id, organization_id, provider, model, tier, kind, min_input_tokens, cost, sell, per,
        currency, valid_from, book_version, created_at)
      values (${newId()}, ${layer ? null : organizationId}, ${provider}, ${model}, 'standard', ${kind}, ${min}, ${cost},
        ${sell ?? null}, ${per}, 'USD', ${from ?? '2020-01-01T00:00:00Z'}, ${version}, now())`;
  });
}

/** An event as it is stored; what rating wrote stands beside the properties of the door in short verdicts. */
const bodyOf = (verdict: Verdict) => {
  if (typeof verdict !== 'object') return verdict;
  if ('c' in verdict)
    return { properties: JSON.parse(`{${verdict.c[0]}}`), precise_total_amount_cents: amountText(verdict.c[1]) };
  const text = 's' in verdict ? verdict.s : 'r' in verdict && verdict.r;
  return text ? JSON.parse(text) : verdict;
};

const amountText = (amount: string | null): string | null => JSON.parse(amountJson(amount));
const amountOf = (verdict: Verdict): string | null => bodyOf(verdict).precise_total_amount_cents;
const AI1: Call = { id: 'AI1', parts: { tokens_input: 1000, tokens_output: 200 } };

describe('a call that a door took', () => {
  test('is stored with its cost, amount, book and status (AI1, AI2, AI3)', async () => {
    const batch = calls(organizationId, [
      AI1,
      { id: 'AI2', parts: { tokens_input: 107, tokens_cache_read: 3712, tokens_output: 20 } },
      { id: 'AI3', parts: { tokens_input: 33, tokens_output: 747, tokens_reasoning: 832 } },
    ]);
    const [verdicts] = await storage(database.sql).store(batch);
    const events = verdicts!.map(bodyOf);
    expect(events.map(({ precise_total_amount_cents: amount }) => amount)).toEqual(['0.54', '0.5201', '1.9047']);
    expect(events.map(({ properties }) => properties.ai_cost_cents)).toEqual(['0.45', '0.51075', '1.58725']);
    expect(events[2].properties).toMatchObject({ ai_flags: 'price_fallback:reasoning', ai_status: 'priced' });
    expect(events[0].properties).not.toHaveProperty('ai_flags');
    const [versions] = await database.sql<{ own: number; deployment: number }[]>`
      select book_version as own, layer.version as deployment from organizations, price_layers layer
      where id = ${organizationId}`;
    expect(events[0].properties.ai_book).toBe(`${versions!.own}.${versions!.deployment}`);
    const stored = await database.sql<{ amount: string }[]>`
      select trim_scale(precise_total_amount_cents)::text as amount from events
      where organization_id = ${organizationId} order by transaction_id`;
    expect(stored.map(({ amount }) => amount)).toEqual(['0.54', '0.5201', '1.9047']);
  });

  test('is rated at its own time, whatever was written later (PB4)', async () => {
    await own({ model: 'm', kind: 'input', cost: '2.5', from: '2026-03-01T00:00:00Z' });
    await own({ model: 'm', kind: 'input', cost: '2.0', from: '2026-03-10T00:00:00Z' });
    const at = (id: string, time: string): Call => ({ id, model: 'm', at: time, parts: { tokens_input: 1_000_000 } });
    const [verdicts] = await storage(database.sql).store(
      calls(organizationId, [at('a', '2026-03-09T23:59:59.999Z'), at('b', '2026-03-10T00:00:00Z')]),
    );
    expect(verdicts!.map(amountOf)).toEqual(['250.0', '200.0']);
  });

  test('has the price of the organization for one kind and those of the deployment for others (PB9)', async () => {
    const model = newId();
    await own({ model, kind: 'input', cost: '2.5', layer: 'deployment' });
    await own({ model, kind: 'output', cost: '10', layer: 'deployment' });
    await own({ model, kind: 'input', cost: '2.2' });
    const call: Call = { id: 'a', model, parts: { tokens_input: 1_000_000, tokens_output: 1_000_000 } };
    expect(amountOf((await storage(database.sql).store(calls(organizationId, [call])))[0]![0]!)).toBe('1220.0');
    await database.sql`
      update organizations set ai_settings = '{"use_deployment_prices": false}', shapes_version = shapes_version + 1
      where id = ${organizationId}`;
    const [[alone]] = (await storage(database.sql).store(calls(organizationId, [{ ...call, id: 'b' }]))) as [[Verdict]];
    expect(bodyOf(alone)).toMatchObject({
      precise_total_amount_cents: null,
      properties: { ai_status: 'partial', ai_book: expect.stringMatching(/^\d+\.0$/) },
    });
  });

  test('is found without its date or under an alias, and nothing else is guessed (PB10)', async () => {
    await database.sql`
      insert into price_aliases (organization_id, provider, pattern, target_provider, target_model)
      select ${organizationId}::uuid, * from (values ('openai', 'mine*', null, 'nowhere'),
        ('azure', 'prod-*', 'openai', 'alpha'), ('openai', 'mine-big', null, 'alpha'),
        ('openai', 'mine-b*', null, 'nowhere')) as alias`;
    const named = (model: string, provider = 'openai'): Call => ({ ...AI1, id: model, model, provider });
    const batch = calls(organizationId, [
      named('alpha-2026-01-31'),
      named('alpha-mini'),
      named('mine-big'),
      named('mine-bigger'),
      named('prod-7', 'azure'),
    ]);
    const [verdicts] = await storage(database.sql).store(batch);
    const shown = verdicts!.map((verdict, index) => JSON.parse(shownText(batch.events[index]!, batch, verdict)));
    expect(shown.map((event) => event.precise_total_amount_cents)).toEqual(['0.54', null, '0.54', null, '0.54']);
    expect(shown.map(({ properties: { model, ai_flags } }) => [model, ai_flags])).toEqual([
      ['alpha', 'model_without_date'],
      ['alpha-mini', 'model_unknown,price_missing:input,price_missing:output'],
      ['alpha', undefined],
      ['nowhere', 'model_unknown,price_missing:input,price_missing:output'],
      ['alpha', undefined],
    ]);
    expect(shown[0].properties).toMatchObject({ model_reported: 'alpha-2026-01-31' });
    expect(shown[4].properties).toMatchObject({
      provider: 'openai',
      provider_reported: 'azure',
      model_reported: 'prod-7',
    });
  });

  test('that comes again after a change of prices is a replay with its first amount (PB12)', async () => {
    const { store } = storage(database.sql);
    await store(calls(organizationId, [AI1]));
    await own({ model: 'alpha', kind: 'input', cost: '99', from: '2021-01-01T00:00:00Z' });
    const [[again]] = (await store(calls(organizationId, [AI1]))) as [[Verdict]];
    expect(again).toHaveProperty('r');
    expect(amountOf(again)).toBe('0.54');
    const other = { ...AI1, parts: { tokens_input: 1000, tokens_output: 201 } };
    expect((await store(calls(organizationId, [other])))[0]).toEqual([1]);
    const [[fresh]] = (await store(calls(organizationId, [{ ...AI1, id: 'new' }]))) as [[Verdict]];
    expect(amountOf(fresh)).toBe('10.14');
  });

  test('counts into the sums of its group with the name and the amount that it is billed under', async () => {
    await makeMetric(database.sql, organizationId, {
      code: 'ai_usage',
      aggregation_type: 'sum_agg',
      field_name: 'calls',
      shape: ['model'],
    });
    await storage(database.sql).store(calls(organizationId, [AI1, { ...AI1, id: 'dated', model: 'alpha-2026-01-31' }]));
    const buckets = await database.sql<{ amount: string; sum: string; properties: object }[]>`
      select trim_scale(amount)::text as amount, sum::text as sum, properties
      from usage_buckets join usage_groups using (organization_id, shape_id, group_hash)
      where organization_id = ${organizationId}`;
    expect([...buckets]).toEqual([{ amount: '1.08', sum: '2', properties: { model: 'alpha' } }]);
  });

  test('of a plan that prices its tokens has a cost, no amount, and waits for nothing', async () => {
    const mark = { is_priced_by_plan: true as const };
    const call: Call = { ...AI1, id: 'AI1#input', parts: { tokens_input: 1000 }, input_tokens: 1000, mark };
    const unknown: Call = { ...call, id: 'x#input', model: 'none' };
    const [verdicts] = await storage(database.sql).store(calls(organizationId, [call, unknown]));
    expect(
      verdicts!.map(bodyOf).map(({ precise_total_amount_cents, properties }) => ({
        amount: precise_total_amount_cents,
        status: properties.ai_status,
        cost: properties.ai_cost_cents,
      })),
    ).toEqual([
      { amount: null, status: 'plan', cost: '0.25' },
      { amount: null, status: 'plan', cost: undefined },
    ]);
    expect(await unpriced()).toEqual([]);
  });

  test('has the cost that its producer reported beside that of the book', async () => {
    await database.sql`
      update organizations set ai_settings = '{"cost_source": "reported"}', shapes_version = shapes_version + 1
      where id = ${organizationId}`;
    const [[verdict]] = (await storage(database.sql).store(
      calls(organizationId, [{ ...AI1, mark: { reported_cost: '0.007' } }]),
    )) as [[Verdict]];
    expect(bodyOf(verdict)).toMatchObject({
      precise_total_amount_cents: '0.54',
      properties: { ai_cost_cents: '0.7', ai_reported_cost_cents: '0.7', ai_flags: 'cost_differs' },
    });
  });
});

test('an ordinary event with the properties of a call is stored as it was sent', async () => {
  const batch = calls(organizationId, [AI1]);
  const [verdicts] = await storage(database.sql).store({
    ...batch,
    events: batch.events.map(({ ai: _, ...event }) => event),
  });
  expect(verdicts).toEqual([0]);
});

const unpriced = async () => [
  ...(await database.sql<object[]>`
    select e.transaction_id, u.provider, u.model, u.reason, u.missing_kinds, u.status
    from ai_unpriced u join events e on e.id = u.event_id
    where u.organization_id = ${organizationId} order by e.transaction_id`),
];

describe('a call without an amount', () => {
  const unknown = (id: string): Call => ({ id, model: 'omega', parts: { tokens_input: 1000, tokens_output: 500 } });

  test('has exactly one row among those that wait, also when it is sent twice (P6)', async () => {
    const { store } = storage(database.sql);
    await store(calls(organizationId, [unknown('a'), unknown('a'), AI1]));
    await store(calls(organizationId, [unknown('a'), { ...AI1, id: 'u', flags: 'missing:output_tokens' }]));
    expect(await unpriced()).toEqual([
      {
        transaction_id: 'a',
        provider: 'openai',
        model: 'omega',
        reason: 'price',
        missing_kinds: ['input', 'output'],
        status: 'open',
      },
      { transaction_id: 'u', provider: 'openai', model: 'alpha', reason: 'usage', missing_kinds: [], status: 'open' },
    ]);
  });

  test('is counted by its model when its batch is finished, and announced once a day', async () => {
    const { store } = storage(database.sql);
    const finish = async () => {
      const batches = await database.sql<{ id: string }[]>`
        select id from event_batches where organization_ids @> array[${organizationId}::uuid]`;
      await database.sql.begin((tx) =>
        finishBatches(
          tx,
          batches.map(({ id }) => id),
        ),
      );
    };
    const owed = () => database.sql<{ payload: object }[]>`
      select payload from after_steps where organization_id = ${organizationId} and job = 'tell-unknown-models'`;
    await store(calls(organizationId, [unknown('a'), unknown('b'), AI1]));
    await finish();
    expect((await owed()).map(({ payload }) => payload)).toEqual([
      {
        provider: 'openai',
        model: 'omega',
        tier: 'standard',
        missing_kinds: ['input', 'output'],
        sample_transaction_id: 'a',
      },
    ]);
    await store(calls(organizationId, [unknown('c')]));
    await finish();
    expect(await owed()).toHaveLength(1);
    await store(calls(organizationId, [unknown('d')], { received_at: '2024-03-11T12:00:00.000001Z' }));
    await finish();
    expect(await owed()).toHaveLength(2);
    const [model] = await database.sql<object[]>`
      select model, events, tokens::int as tokens from ai_unpriced_models where organization_id = ${organizationId}`;
    expect(model).toEqual({ model: 'omega', events: 4, tokens: 6000 });
  });
});

describe('prices that a worker keeps in memory', () => {
  test('are read by one statement for a batch with new models, and by none after it', async () => {
    const statements: string[] = [];
    const sql = connectDatabase(database.url, { onStatement: (text) => statements.push(text) });
    const { store } = storage(sql);
    const models = ['alpha', 'beta', 'none'].map((model): Call => ({ ...AI1, id: newId(), model }));
    await store(calls(organizationId, [AI1]));
    const count = async (given: Call[]) => {
      statements.length = 0;
      await store(calls(organizationId, given));
      return statements.length;
    };
    const known = await count([{ ...AI1, id: newId() }]);
    expect(await count(models)).toBe(known + 1);
    expect(await count(models.map((call) => ({ ...call, id: newId() })))).toBe(known);
    await sql.end();
  });

  test('are read again once the book has another version, so no event has a price of before', async () => {
    const { store } = storage(database.sql);
    await store(calls(organizationId, [AI1]));
    await own({ model: 'alpha', kind: 'input', cost: '5', from: '2022-01-01T00:00:00Z' });
    expect(amountOf((await store(calls(organizationId, [{ ...AI1, id: 'b' }])))[0]![0]!)).toBe('0.74');
    const model = newId();
    await own({ model, kind: 'input', cost: '1', layer: 'deployment' });
    const call = { ...AI1, model, parts: { tokens_input: 1_000_000 } };
    expect(amountOf((await store(calls(organizationId, [{ ...call, id: 'c' }])))[0]![0]!)).toBe('100.0');
    await own({ model, kind: 'input', cost: '2', layer: 'deployment', from: '2021-01-01T00:00:00Z' });
    expect(amountOf((await store(calls(organizationId, [{ ...call, id: 'd' }])))[0]![0]!)).toBe('200.0');
  });
});
