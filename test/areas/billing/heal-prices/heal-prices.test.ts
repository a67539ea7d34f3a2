import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { type Call, calls, finishAll } from '../../../support/ai-calls.ts';
import { startService, type TestService } from '../../../support/service.ts';
import { openStory, type Story } from '../../../support/story.ts';
import { until } from '../../../support/until.ts';
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

/** A plan that bills calls by their amounts, and a subscription on it. */
async function sell(charge: object = {}) {
  const { svc_id } = await story.metric('ai_usage', { aggregation_type: 'sum_agg', field_name: 'calls' });
  await story.plan({
    amount_cents: 0,
    charges: [{ billable_metric_id: svc_id, charge_model: 'dynamic', properties: {}, ...charge }],
  });
  await ok(story.subscribe());
}

const omega = (id: string): Call => ({
  id,
  model: 'omega',
  at: '2026-03-02T10:00:00Z',
  parts: { tokens_input: 1000, tokens_output: 500 },
});

/** Stores calls whose batch is not finished. */
async function put(...given: Call[]) {
  const { store } = storage(service.sql);
  const batch = calls(story.organizationId, given, { sandbox: true, received_at: '2026-03-02T12:00:00.000000Z' });
  const [verdicts] = await store(batch);
  return verdicts!;
}

async function send(...given: Call[]) {
  const verdicts = await put(...given);
  await finishAll(service.sql, story.organizationId);
  return verdicts;
}

const price = (model = 'omega', fields: object = {}) =>
  ok(
    story.client.post('/price_book/entries', {
      entries: ['input', 'output'].map((kind) => ({
        provider: 'openai',
        model,
        kind,
        cost: kind === 'input' ? '1' : '4',
        valid_from: '2026-01-01T00:00:00Z',
        ...fields,
      })),
    }),
  );

const owed = async () =>
  (await service.sql`select job from after_steps where organization_id = ${story.organizationId}`).map(
    ({ job }) => job,
  );

const event = async (id: string) => (await ok(story.client.get(`/events/${id}`))).event;
const healed = (id: string) =>
  until(async () => {
    const found = await event(id);
    return found.precise_total_amount_cents === null ? undefined : found;
  });
const statuses = async () => [
  ...(await service.sql<{ status: string; count: number }[]>`
    select status, count(*)::int as count from ai_unpriced where organization_id = ${story.organizationId}
    group by status order by status`),
];
const usage = async () =>
  (await ok(story.client.get('/customers/acme/current_usage?external_subscription_id=sub'))).customer_usage
    .charges_usage[0];

const projected = async () =>
  (await ok(story.client.get('/customers/acme/projected_usage?external_subscription_id=sub'))).customer_projected_usage
    .charges_usage[0];

describe('a call of a model without a price', () => {
  test('is looked at again if its price came between its storing and its counting', async () => {
    await sell();
    await put(omega('a'));
    await price();
    await until(async () => (await owed()).length === 0);
    await finishAll(service.sql, story.organizationId);
    expect(await owed()).toContain('heal-prices');
  });

  test('is not looked at again while its book is the one it was rated by', async () => {
    await sell();
    await price('delta');
    await until(async () => (await owed()).length === 0);
    await send(omega('a'));
    expect(await owed()).not.toContain('heal-prices');
  });

  test('is healed once the book has one, at its own time, as version 2 (PB5)', async () => {
    await sell();
    await send(omega('a'));
    expect(await event('a')).toMatchObject({ precise_total_amount_cents: null });
    expect(await statuses()).toEqual([{ status: 'open', count: 1 }]);
    const { unknown_models } = await ok(story.client.get('/price_book/unknown'));
    expect(unknown_models).toMatchObject([
      { provider: 'openai', model: 'omega', events: 1, tokens: '1500.0', missing_kinds: ['input', 'output'] },
    ]);
    expect(await price()).toMatchObject({ affects: { unpriced_events: 1 } });
    expect(await healed('a')).toMatchObject({
      precise_total_amount_cents: '0.3',
      properties: { ai_status: 'priced', ai_cost_cents: '0.3' },
    });
    expect(await statuses()).toEqual([{ status: 'healed', count: 1 }]);
    expect((await ok(story.client.get('/price_book/unknown'))).unknown_models).toEqual([]);
    const [stored] = await service.sql<{ version: number; timestamp: string }[]>`
      select version, to_char(timestamp at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI') as timestamp
      from events where organization_id = ${story.organizationId}`;
    expect(stored).toEqual({ version: 2, timestamp: '2026-03-02T10:00' });
    const [told] = await service.sql<{ payload: string }[]>`
      select payload from webhook_events
      where organization_id = ${story.organizationId} and webhook_type = 'ai_usage.healed'`;
    expect(JSON.parse(told!.payload).ai_usage).toEqual({
      provider: 'openai',
      model: 'omega',
      events: 1,
      precise_amount_cents: '0.3',
    });
    const [again] = await send(omega('a'));
    expect(again).toMatchObject({ r: expect.stringContaining('"precise_total_amount_cents":null') });
  });

  test('has a warning in its verdict, and others have none', async () => {
    await sell();
    await price('known');
    const verdict = async (model: string) => {
      const ai_usage = {
        external_subscription_id: 'sub',
        transaction_id: model,
        provider: 'openai',
        model,
        parts: { input: 10, output: 2 },
      };
      return (await ok(story.client.post('/ai/usage', { ai_usage }, { headers: { 'x-svc-explain': 'true' } }))).verdict;
    };
    expect(await verdict('omega')).toMatchObject({ outcome: 'counted', warnings: ['price_unknown'] });
    expect(await verdict('known')).toMatchObject({ outcome: 'counted', warnings: [] });
  });

  test('counts its units from the beginning and its amount from then on, in the open period', async () => {
    await sell({ properties: { markup_rate: '20' } });
    await send(...Array.from({ length: 100 }, (_, index) => omega(`${index}`)));
    expect(await usage()).toMatchObject({ units: '100.0', amount_cents: 0, unpriced_events: 100 });
    expect(await projected()).toMatchObject({ units: '100.0', unpriced_events: 100 });
    await price();
    await until(async () => (await usage()).amount_cents === 36);
    expect(await usage()).not.toHaveProperty('unpriced_events');
  });

  test('is billed on the next invoice when its period is final, as far as it comes to cents (PB6)', async () => {
    await sell();
    await send(...Array.from({ length: 1000 }, (_, index) => omega(`${index}`)));
    await story.advanceTo('2026-04-01T12:00:00Z');
    const [first] = await story.invoices(1);
    expect(first.total_amount_cents).toBe(0);
    const charge = first.fees.find(({ item }: Shown) => item.type === 'charge');
    expect(charge.unpriced_events).toBe(1000);
    const shown = async () => (await ok(story.client.get(`/fees/${charge.svc_id}`))).fee;
    expect(await shown()).toMatchObject({ unpriced_events: 1000 });
    await price();
    await until(async () => (await statuses()).every(({ status }) => status === 'healed'));
    expect(await shown()).not.toHaveProperty('unpriced_events');
    await story.advanceTo('2026-05-01T12:00:00Z');
    const [, next] = await story.invoices(2);
    expect(next.total_amount_cents).toBe(300);
  });

  test('is healed beside those of other subscriptions, also where a difference of one fits no cents', async () => {
    await sell();
    await ok(story.subscribe({ external_id: 'huge' }));
    const few = ['a', 'b', 'c'].map((id): Call => ({ ...omega(id), parts: { tokens_input: 1 } }));
    await send({ ...omega('huge'), by: 'huge', parts: { tokens_input: 1_000_000_000_000 } }, ...few);
    await story.advanceTo('2026-04-01T12:00:00Z');
    await price('omega', { cost: '1000000000' });
    await until(async () => (await statuses()).some(({ status, count }) => status === 'healed' && count === 3));
    await until(async () => (await owed()).every((job) => job !== 'heal-prices'));
    expect(await event('b')).toMatchObject({ precise_total_amount_cents: '100000.0' });
    expect(await event('huge')).toMatchObject({ precise_total_amount_cents: null });
    expect(await statuses()).toEqual([
      { status: 'healed', count: 3 },
      { status: 'open', count: 1 },
    ]);
    const told = await service.sql<{ payload: string }[]>`
      select payload from webhook_events
      where organization_id = ${story.organizationId} and webhook_type = 'ai_usage.healed'`;
    expect(told.map(({ payload }) => JSON.parse(payload).ai_usage.events)).toEqual([3]);
  });

  test('has no fee in advance before it has an amount, and one after it', async () => {
    await sell({ pay_in_advance: true, invoiceable: false });
    await send(...[1, 2].map((id): Call => ({ ...omega(`${id}`), parts: { tokens_input: 1_000_000 } })));
    await story.advanceTo('2026-03-03T00:00:00Z');
    const fees = async () => (await ok(story.client.get('/fees?fee_type=charge'))).fees;
    expect(await fees()).toEqual([]);
    await price();
    await until(async () => (await statuses()).every(({ status }) => status === 'healed'));
    await story.advanceTo('2026-03-04T00:00:00Z');
    await until(async () => (await fees()).length === 2);
    await price('omega', { cost: '7' });
    await story.advanceTo('2026-03-05T00:00:00Z');
    expect((await fees()).map((fee: { amount_cents: number }) => fee.amount_cents)).toEqual([100, 100]);
  });

  test('is rated from its new parts when it is amended, unless the correction brings an amount', async () => {
    await sell();
    await price();
    await send({ ...omega('a'), flags: 'missing:output_tokens' }, omega('b'), omega('c'));
    const amend = (id: string, fields: object) =>
      ok(
        story.client.post('/events/corrections', {
          correction: { kind: 'amend', reason: 'late', external_subscription_id: 'sub', transaction_id: id, ...fields },
        }),
      );
    const parts = { provider: 'openai', model: 'omega', calls: '1', tokens_input: '1000', tokens_output: '1000' };
    await amend('a', { properties: parts });
    expect(await event('a')).toMatchObject({
      precise_total_amount_cents: '0.5',
      properties: { ai_status: 'priced', ai_cost_cents: '0.5' },
    });
    await amend('b', { properties: { ...parts, model: 'tau' } });
    expect(await event('b')).toMatchObject({ precise_total_amount_cents: null, properties: { ai_status: 'unpriced' } });
    expect((await ok(story.client.get('/price_book/unknown'))).unknown_models).toMatchObject([
      { model: 'tau', events: 1, missing_kinds: ['input', 'output'] },
    ]);
    await amend('c', { properties: parts, precise_total_amount_cents: '7' });
    expect(await event('c')).toMatchObject({ precise_total_amount_cents: '7.0' });
    await price('tau');
    expect(await healed('b')).toMatchObject({ precise_total_amount_cents: '0.5' });
    expect(await statuses()).toEqual([{ status: 'healed', count: 2 }]);
  });

  test('stays as it is when nothing that it lacks came, or when it is ignored', async () => {
    await sell();
    await send(omega('a'), { ...omega('b'), model: 'sigma' });
    await ok(
      story.client.post('/price_book/unknown/ignore', { ignore: { provider: 'openai', model: 'omega', reason: 'x' } }),
    );
    await price('sigma');
    await healed('b');
    await price();
    await price('tau');
    await until(async () => {
      const owed = await service.sql`
        select from after_steps where organization_id = ${story.organizationId} and job = 'heal-prices'`;
      return owed.length === 0;
    });
    expect(await event('a')).toMatchObject({ precise_total_amount_cents: null });
    expect(await statuses()).toEqual([
      { status: 'healed', count: 1 },
      { status: 'ignored', count: 1 },
    ]);
  });
});
