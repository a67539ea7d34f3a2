import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { AI_CHECKS } from '../../../../src/areas/reporting/audit-books/ai-checks.ts';
import type { Context } from '../../../../src/platform/context.ts';
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

async function sell(charge: object = {}) {
  const { svc_id } = await story.metric('ai_usage', { aggregation_type: 'sum_agg', field_name: 'calls' });
  await story.plan({
    amount_cents: 0,
    charges: [{ billable_metric_id: svc_id, charge_model: 'dynamic', properties: {}, ...charge }],
  });
  await ok(story.subscribe());
}

/** Input and output of a model, cost and what is asked for it, for a million. */
const price = (prices: { input: [string, string]; output: [string, string] }, model = 'alpha') =>
  ok(
    story.client.post('/price_book/entries', {
      entries: (['input', 'output'] as const).map((kind) => ({
        provider: 'openai',
        model,
        kind,
        cost: prices[kind][0],
        sell: prices[kind][1],
        valid_from: '2026-01-01T00:00:00Z',
      })),
    }),
  );
/** AI1 costs 0.45 and is sold at 0.54. */
const BOOK_S = { input: ['2.5', '3'], output: ['10', '12'] } as const;
/** AI1: 1000 × 5 + 200 × 10 = 7000 for a million: 0.7 cents; 1000 × 6 + 200 × 12: 0.84. */
const DEARER = { input: ['5', '6'], output: ['10', '12'] } as const;
const bookS = (model?: string) => price(BOOK_S as never, model);
const dearer = (model?: string) => price(DEARER as never, model);

const AI1 = (id: string, fields: Partial<Call> = {}): Call => ({
  id,
  at: '2026-03-02T10:00:00Z',
  parts: { tokens_input: 1000, tokens_output: 200 },
  ...fields,
});

async function send(...given: Call[]) {
  const { store } = storage(service.sql);
  await store(calls(story.organizationId, given, { sandbox: true, received_at: '2026-03-02T12:00:00.000000Z' }));
  await finishAll(service.sql, story.organizationId);
}

const MARCH = { from: '2026-03-01', to: '2026-04-01', reason: 'the provider billed more' };
const asked = (fields: object) => story.client.post('/price_book/rerate', { rerate: { ...MARCH, ...fields } });
const rerate = async (fields: object = {}) => {
  const { rerate: run } = await ok(asked(fields));
  return until(async () => {
    const shown = (await ok(story.client.get(`/price_book/rerate/${run.svc_id}`))).rerate;
    return shown.finished_at === null ? undefined : shown;
  });
};
const event = async (id: string) => (await ok(story.client.get(`/events/${id}`))).event;
const amountOf = async (id: string) => (await event(id)).precise_total_amount_cents;
const usage = async () =>
  (await ok(story.client.get('/customers/acme/current_usage?external_subscription_id=sub'))).customer_usage
    .charges_usage[0];
const findings = async () =>
  (
    await Promise.all(
      AI_CHECKS.map(({ find }) => find({ db: service.sql, organizationId: story.organizationId } as Context)),
    )
  ).flat();

test('calls among the events of a fee have the rating that the fee was made of', async () => {
  await sell();
  await bookS();
  await send(AI1('a'));
  await story.use('ai_usage', { calls: '1' }, { transaction_id: 'ordinary', at: '2026-03-02T11:00:00Z' });
  await story.advanceTo('2026-04-01T12:00:00Z');
  const [invoice] = await story.invoices(1);
  const fee = invoice!.fees.find(({ item }: Shown) => item.type === 'charge');
  await dearer();
  await rerate({ policy: 'ignore' });
  const { events } = await ok(story.client.get(`/fees/${fee.svc_id}/events`));
  const part = { per: 1_000_000, fallback: null, svc_price_entry_id: expect.any(String) };
  expect(events.map(({ transaction_id, rating }: Shown) => [transaction_id, rating])).toEqual([
    [
      'a',
      {
        parts: [
          {
            ...part,
            kind: 'input',
            quantity: '1000.0',
            cost: '2.5',
            sell: '3.0',
            precise_cost_cents: '0.25',
            precise_amount_cents: '0.3',
          },
          {
            ...part,
            kind: 'output',
            quantity: '200.0',
            cost: '10.0',
            sell: '12.0',
            precise_cost_cents: '0.2',
            precise_amount_cents: '0.24',
          },
        ],
        matches: true,
      },
    ],
    ['ordinary', undefined],
  ]);
});

describe('a run that rates calls again', () => {
  test('amends calls of its time by the book as it is, at their own time, once', async () => {
    await sell({ properties: { markup_rate: '100' } });
    await bookS();
    await send(AI1('a'), AI1('b'), AI1('later', { at: '2026-04-01T00:00:00Z' }));
    await dearer();
    expect(await rerate()).toMatchObject({
      status: 'succeeded',
      progress: { done: 2, total: 2, percent: 100 },
      error: null,
      result: {
        examined: 2,
        changed: 2,
        precise_cost_cents: { before: '0.9', after: '1.4' },
        precise_amount_cents: { before: '1.08', after: '1.68' },
        by_model: [
          {
            provider: 'openai',
            model: 'alpha',
            examined: 2,
            changed: 2,
            precise_cost_cents: { before: '0.9', after: '1.4' },
            precise_amount_cents: { before: '1.08', after: '1.68' },
          },
        ],
      },
    });
    expect(await event('a')).toMatchObject({
      precise_total_amount_cents: '0.84',
      timestamp: '2026-03-02T10:00:00.000Z',
      properties: { ai_status: 'priced', ai_cost_cents: '0.7', ai_book: expect.stringMatching(/^2\./) },
    });
    expect(await amountOf('later')).toBe('0.54');
    const { event_versions: versions } = await ok(story.client.get('/events/a/versions'));
    expect(versions.map((each: { version: number }) => each.version)).toEqual([1, 2]);
    const { corrections } = await ok(story.client.get('/events/corrections?kinds[]=price_rerating'));
    expect(corrections).toMatchObject([{ reason: 'the provider billed more', events_count: 2, status: 'settled' }]);
    expect(await usage()).toMatchObject({ units: '2.0', amount_cents: 3 });
    expect((await rerate()).result).toMatchObject({ examined: 2, changed: 0 });
    expect(await findings()).toEqual([]);
  });

  test('that is dry says what would change and changes nothing', async () => {
    await sell();
    await bookS();
    await send(AI1('a'));
    await dearer();
    expect((await rerate({ dry_run: true })).result).toMatchObject({
      examined: 1,
      changed: 1,
      precise_amount_cents: { before: '0.54', after: '0.84' },
    });
    expect(await amountOf('a')).toBe('0.54');
    expect((await ok(story.client.get('/events/corrections'))).corrections).toEqual([]);
  });

  test('settles issued invoices by its policy, or leaves them', async () => {
    await sell();
    await bookS();
    await send(...Array.from({ length: 1000 }, (_, index) => AI1(`${index}`)));
    await story.advanceTo('2026-04-01T12:00:00Z');
    expect((await story.invoices(1))[0]!.total_amount_cents).toBe(540);
    await dearer();
    await rerate({ policy: 'ignore', model: 'other' });
    expect((await rerate()).result).toMatchObject({ changed: 1000 });
    await story.advanceTo('2026-05-01T12:00:00Z');
    expect((await story.invoices(2))[1]!.total_amount_cents).toBe(300);
    await price({ input: ['1', '1'], output: ['10', '12'] });
    await rerate({ policy: 'ignore' });
    await story.advanceTo('2026-06-01T12:00:00Z');
    expect((await story.invoices(3))[2]!.total_amount_cents).toBe(0);
    expect((await ok(story.client.get('/credit_notes'))).credit_notes).toEqual([]);
  });

  test('takes only the provider, model and subscription that it names', async () => {
    await sell();
    await bookS();
    await bookS('beta');
    await send(AI1('a'), AI1('b', { model: 'beta' }), AI1('c', { by: 'other' }));
    await dearer();
    await dearer('beta');
    expect((await rerate({ provider: 'anthropic' })).result.examined).toBe(0);
    expect((await rerate({ model: 'beta' })).result).toMatchObject({ examined: 1, by_model: [{ model: 'beta' }] });
    expect((await rerate({ external_subscription_id: 'sub' })).result).toMatchObject({ examined: 2, changed: 1 });
    expect([await amountOf('a'), await amountOf('b'), await amountOf('c')]).toEqual(['0.84', '0.84', '0.54']);
  });

  test('leaves ordinary events and amounts that a correction brought', async () => {
    await sell();
    await bookS();
    await send(AI1('a'));
    const properties = { provider: 'openai', model: 'alpha', tokens_input: '1000', calls: '1' };
    const ordinary = { transaction_id: 'ordinary', external_subscription_id: 'sub', code: 'ai_usage', properties };
    const timestamp = Date.parse('2026-03-02T10:00:00Z') / 1000;
    await ok(story.client.post('/events', { event: { ...ordinary, timestamp, precise_total_amount_cents: '5' } }));
    await ok(
      story.client.post('/events/corrections', {
        correction: {
          kind: 'amend',
          reason: 'agreed',
          external_subscription_id: 'sub',
          transaction_id: 'a',
          precise_total_amount_cents: '2',
        },
      }),
    );
    await dearer();
    expect((await rerate()).result).toMatchObject({
      examined: 1,
      changed: 0,
      precise_amount_cents: { before: '2.0', after: '2.0' },
    });
    expect([await amountOf('a'), await amountOf('ordinary')]).toEqual(['2.0', '5.0']);
  });

  test('leaves a call without an amount where its price was retracted, and gives it one again', async () => {
    await sell();
    const { entries } = await bookS();
    await send(AI1('a'));
    for (const { svc_id } of entries) await ok(story.client.delete(`/price_book/entries/${svc_id}`));
    expect((await rerate()).result).toMatchObject({
      changed: 1,
      precise_amount_cents: { before: '0.54', after: '0.0' },
    });
    expect(await event('a')).toMatchObject({ precise_total_amount_cents: null, properties: { ai_status: 'unpriced' } });
    expect((await ok(story.client.get('/price_book/unknown'))).unknown_models).toMatchObject([{ model: 'alpha' }]);
    await dearer();
    await until(async () => (await amountOf('a')) === '0.84');
  });

  test('bills in advance what had no amount, once, and the difference of what had one', async () => {
    await sell({ pay_in_advance: true, invoiceable: false });
    await bookS();
    const million = { parts: { tokens_input: 1_000_000 } };
    await send(AI1('a', million), AI1('b', { ...million, model: 'free' }));
    await ok(
      story.client.post('/price_book/unknown/ignore', { ignore: { provider: 'openai', model: 'free', reason: 'x' } }),
    );
    await story.advanceTo('2026-03-03T00:00:00Z');
    const fees = async () => (await ok(story.client.get('/fees?fee_type=charge'))).fees;
    await until(async () => (await fees()).length === 1);
    await bookS('free');
    await rerate();
    await until(async () => (await fees()).length === 2);
    expect((await fees()).map((fee: { amount_cents: number }) => fee.amount_cents)).toEqual([300, 300]);
    expect((await rerate()).result.changed).toBe(0);
    await story.advanceTo('2026-03-04T00:00:00Z');
    expect(await fees()).toHaveLength(2);
  });

  test('waits for the one before it, and both come to their end', async () => {
    await sell();
    await bookS();
    await send(...Array.from({ length: 1200 }, (_, index) => AI1(`${index}`)));
    await dearer();
    const [first, second] = await Promise.all([rerate(), rerate()]);
    expect(first!.result.changed + second!.result.changed).toBe(1200);
    expect([first!.result.examined, second!.result.examined]).toEqual([1200, 1200]);
  });

  test.each([
    [{ from: 'soon' }, { from: ['invalid_date'] }],
    [{ to: '2026-03-01' }, { to: ['value_is_out_of_range'] }],
    [{ reason: '' }, { reason: ['value_is_mandatory'] }],
    [{ policy: 'never' }, { policy: ['value_is_invalid'] }],
  ])('with %j is refused', async (fields, details) => {
    const { status, body } = await asked(fields);
    expect([status, body.error_details]).toEqual([422, details]);
  });

  test('needs the permissions to correct events and, unless it leaves invoices alone, to write these', async () => {
    const refusal = async (permissions: object, fields: object = {}) => {
      const { api_key: key } = await ok(story.client.post('/api_keys', { api_key: { name: 'k', permissions } }));
      const { status, body } = await service
        .client(key.value)
        .post('/price_book/rerate', { rerate: { ...MARCH, ...fields } });
      return [status, body.code];
    };
    const book = { price_book: ['read', 'write'] };
    expect(await refusal(book)).toEqual([403, 'write_action_not_allowed_for_event_correction']);
    const corrections = { ...book, event_correction: ['read', 'write'] };
    expect(await refusal(corrections)).toEqual([403, 'write_action_not_allowed_for_invoice']);
    expect(await refusal(corrections, { policy: 'ignore' })).toEqual([200, undefined]);
  });
});
