import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { allocate } from '../../../../src/engine/money/allocate.ts';
import { cents } from '../../../../src/engine/money/cents.ts';
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

/** A plan with one charge of calls, and a subscription on it. */
async function sell(charge: object = {}, plan: object = {}) {
  const { svc_id } = await story.metric('ai_usage', {
    aggregation_type: 'sum_agg',
    field_name: 'calls',
    filters: [{ key: 'model', values: ['alpha', 'beta', 'gamma'] }],
  });
  const charges = [{ billable_metric_id: svc_id, charge_model: 'dynamic', properties: {}, ...charge }];
  await story.plan({ amount_cents: 0, charges, ...plan });
  await ok(story.subscribe());
}

/** An input token of each model costs a cent, so that quantities are amounts in cents. */
const price = (...models: string[]) =>
  ok(
    story.client.post('/price_book/entries', {
      entries: models.map((model) => ({
        provider: 'openai',
        model,
        kind: 'input',
        cost: '0.01',
        per: 1,
        valid_from: '2026-01-01T00:00:00Z',
      })),
    }),
  );
const call = (id: string, cents: number, fields: Partial<Call> = {}): Call => ({
  id,
  at: '2026-03-02T10:00:00Z',
  parts: { tokens_input: cents },
  ...fields,
});

/** Prices of alpha in sample book S, and its calls. */
const priceOfSample = () =>
  ok(
    story.client.post('/price_book/entries', {
      entries: [
        ['input', '2.5', '3'],
        ['cache_read', '1.25', null],
        ['output', '10', '12'],
      ].map(([kind, cost, sell]) => ({
        provider: 'openai',
        model: 'alpha',
        kind,
        cost,
        sell,
        valid_from: '2026-01-01T00:00:00Z',
      })),
    }),
  );
const AI1: Call = { id: 'AI1', at: '2026-03-02T10:00:00Z', parts: { tokens_input: 1000, tokens_output: 200 } };
const AI2: Call = {
  id: 'AI2',
  at: '2026-03-03T10:00:00Z',
  parts: { tokens_input: 107, tokens_cache_read: 3712, tokens_output: 20 },
};
const AI3: Call = {
  id: 'AI3',
  at: '2026-03-04T10:00:00Z',
  parts: { tokens_input: 33, tokens_output: 747, tokens_reasoning: 832 },
};

async function send(...given: Call[]) {
  const { store } = storage(service.sql);
  await store(calls(story.organizationId, given, { sandbox: true, received_at: '2026-03-02T12:00:00.000000Z' }));
  await finishAll(service.sql, story.organizationId);
}

/** Calls of now, by the door. */
const sendNow = (...given: { id: string; tokens: number; model?: string }[]) =>
  ok(
    story.client.post('/ai/usage/batch', {
      ai_usages: given.map(({ id, tokens, model = 'alpha' }) => ({
        transaction_id: id,
        external_subscription_id: 'sub',
        provider: 'openai',
        model,
        parts: { input: tokens },
      })),
    }),
  );

const RANGE = 'from=2026-03-01&to=2026-03-31&basis=billed';
const margin = async (query = '', range = RANGE) => ok(story.client.get(`/ai/margin?${range}&${query}`));
/** What rows are about, and their revenue. */
const revenue = async (query: string, field: string, range?: string) =>
  (await margin(query, range)).margins.map((row: Shown) => [row[field], row.precise_revenue_cents]);
const charged = async () =>
  (await story.invoices(1))[0]!.fees
    .filter(({ item }: Shown) => item.type === 'charge')
    .map((fee: Shown) => fee.amount_cents)
    .sort((a: number, b: number) => a - b);
const issue = () => story.advanceTo('2026-04-02T00:00:00Z');

describe('a fee in cents over its cells', () => {
  test.each([
    ['MG1', 1000, [5, 5, 5], [334, 333, 333]],
    ['MG2', 3, ['0.54', '0.5201', '1.9047'], [1, 0, 2]],
    ['MG2', 101, [2, 1, 1], [51, 25, 25]],
  ])('is split by the largest remainder (%s)', (_, fee, weights, parts) => {
    expect(allocate(cents(fee), weights.map(Number))).toEqual(parts);
  });
});

describe('margins by what was billed', () => {
  test('spread a fee over three cells of equal amount, so that they sum to it (MG1)', async () => {
    // 3 × 500 cents with a markup of −33.333… are 1000.
    await sell({ properties: { markup_rate: '-33.333333333333333' } });
    await price('alpha');
    await send(...[4, 2, 3].map((day) => call(`${day}`, 500, { at: `2026-03-0${day}T10:00:00Z` })));
    expect(await margin()).toMatchObject({ margins: [{ precise_revenue_cents: '0.0', flags: ['not_invoiced'] }] });
    await issue();
    expect(await charged()).toEqual([1000]);
    expect(await revenue('group_by[]=day', 'day')).toEqual([
      ['2026-03-02', '334.0'],
      ['2026-03-03', '333.0'],
      ['2026-03-04', '333.0'],
    ]);
    expect(await margin()).toMatchObject({
      totals: {
        precise_cost_cents: '1500.0',
        precise_revenue_cents: '1000.0',
        precise_margin_cents: '-500.0',
        margin_rate: -0.5,
        flags: [],
      },
    });
    // A report of a part of the window has the cells of that part.
    expect(await revenue('group_by[]=day', 'day', 'from=2026-03-02&to=2026-03-03&basis=billed')).toEqual([
      ['2026-03-02', '334.0'],
      ['2026-03-03', '333.0'],
    ]);
  });

  test('spread a fee by the amounts of calls, the largest remainders first (MG2)', async () => {
    await sell({ properties: { markup_rate: '-74.75' } });
    await price('alpha');
    // 400 × 0.2525 = 101 over 200, 100, 100.
    await send(
      ...[200, 100, 100].map((cents, index) => call(`${index}`, cents, { at: `2026-03-0${index + 2}T10:00:00Z` })),
    );
    await issue();
    expect(await charged()).toEqual([101]);
    expect(await revenue('group_by[]=day', 'day')).toEqual([
      ['2026-03-02', '51.0'],
      ['2026-03-03', '25.0'],
      ['2026-03-04', '25.0'],
    ]);
  });

  test('spread the fee of 3 cents of three calls of 0.54, 0.5201 and 1.9047 (MG2)', async () => {
    await sell();
    await priceOfSample();
    await send(AI1, AI2, AI3);
    await issue();
    expect(await charged()).toEqual([3]);
    const rows = (await margin('group_by[]=day')).margins;
    expect(rows.map(({ day, precise_revenue_cents }: Shown) => [day, precise_revenue_cents]).sort()).toEqual([
      ['2026-03-02', '1.0'],
      ['2026-03-03', '0.0'],
      ['2026-03-04', '2.0'],
    ]);
  });

  test('sum to the fees, net of coupons, credit notes and taxes (P5)', async () => {
    await sell({
      filters: [{ values: { model: ['beta'] }, properties: { markup_rate: '100' } }],
    });
    await story.tax(20);
    await price('alpha', 'beta');
    await send(call('a', 1000), call('b', 333, { model: 'beta' }), call('c', 77, { at: '2026-03-31T23:30:00Z' }));
    await ok(
      story.client.post('/coupons', {
        coupon: {
          name: 'Ten',
          code: 'ten',
          coupon_type: 'percentage',
          percentage_rate: '10',
          frequency: 'once',
          expiration: 'no_expiration',
        },
      }),
    );
    await ok(
      story.client.post('/applied_coupons', { applied_coupon: { external_customer_id: 'acme', coupon_code: 'ten' } }),
    );
    await issue();
    const [invoice] = await story.invoices(1);
    expect(await charged()).toEqual([666, 1077]);
    // The coupon of 174 is 107.515 and 66.485 of them: 969.485 and 599.515 are left, each to cents.
    expect(await revenue('group_by[]=model&order=revenue', 'model')).toEqual([
      ['alpha', '969.0'],
      ['beta', '600.0'],
    ]);
    const alpha = invoice!.fees.find((fee: Shown) => fee.amount_cents === 1077);
    await ok(
      story.client.post('/credit_notes', {
        credit_note: {
          invoice_id: invoice!.svc_id,
          reason: 'other',
          credit_amount_cents: 108,
          refund_amount_cents: 0,
          items: [{ fee_id: alpha.svc_id, amount_cents: 100 }],
        },
      }),
    );
    // 100 of the fee are 90 after the coupon: 879.485.
    expect(await revenue('group_by[]=model&order=revenue', 'model')).toEqual([
      ['alpha', '879.0'],
      ['beta', '600.0'],
    ]);
    const byDay = await revenue('group_by[]=day', 'day');
    expect(byDay.reduce((sum: number, [, text]: string[]) => sum + Number(text), 0)).toBe(879 + 600);
  });

  test('take calls of the hours that a window in another time zone covers', async () => {
    await story.customer({ timezone: 'America/New_York' });
    await sell();
    await price('alpha');
    // The window of March ends at 2026-04-01T04:00Z.
    await send(
      call('a', 10),
      call('b', 30, { at: '2026-04-01T03:30:00Z' }),
      call('c', 60, { at: '2026-04-01T04:30:00Z' }),
    );
    await story.advanceTo('2026-04-02T12:00:00Z');
    const range = 'from=2026-03-01&to=2026-04-30&basis=billed';
    expect(await revenue('group_by[]=day&order=revenue', 'day', range)).toEqual([
      ['2026-04-01', '30.0'],
      ['2026-03-02', '10.0'],
    ]);
  });

  test('spread fees of other models by tokens, and show fees of no calls only where it is asked for', async () => {
    await sell({ charge_model: 'standard', properties: { amount: '1' } }, { amount_cents: 5000 });
    await price('alpha');
    await send(call('a', 300), call('b', 100, { model: 'free' }), call('c', 0, { model: 'none' }));
    await issue();
    expect(await revenue('group_by[]=model&order=revenue', 'model')).toEqual([
      ['alpha', '225.0'],
      ['free', '75.0'],
      ['none', '0.0'],
    ]);
    const all = 'from=2026-03-01&to=2026-04-30&basis=billed';
    expect((await margin('include_all_fees=true', all)).totals.precise_revenue_cents).toBe('5300.0');
    expect(await revenue('include_all_fees=true&group_by[]=customer', 'external_customer_id', all)).toEqual([
      ['acme', '5300.0'],
    ]);
    for (const query of [
      `${all}&include_all_fees=true&group_by[]=model`,
      'from=2026-03-01&to=2026-03-02&include_all_fees=true',
    ]) {
      const { status, body } = await story.client.get(`/ai/margin?${query}`);
      expect([status, body.error_details]).toEqual([422, { include_all_fees: ['value_is_invalid'] }]);
    }
  });

  test('convert fees by the rate of their charge, and know no revenue without one', async () => {
    await story.customer({ currency: 'EUR' });
    const euros = { amount_currency: 'EUR' };
    await sell({ properties: { amount_currency: 'USD', conversion_rate: '0.8' } }, euros);
    await price('alpha');
    await send(call('a', 500));
    await issue();
    expect(await charged()).toEqual([400]);
    expect((await margin()).totals).toMatchObject({ precise_revenue_cents: '500.0', currency: 'USD', flags: [] });
  });

  test('know no revenue of a plan in another currency without a rate', async () => {
    await story.customer({ currency: 'EUR' });
    await sell({ charge_model: 'standard', properties: { amount: '1' } }, { amount_currency: 'EUR' });
    await price('alpha');
    await send(call('a', 500));
    await issue();
    expect((await margin()).totals).toMatchObject({
      precise_cost_cents: '500.0',
      precise_revenue_cents: null,
      precise_margin_cents: null,
      margin_rate: null,
      flags: ['no_conversion_rate'],
    });
  });

  test('keep the fee of a window whose calls nobody knows', async () => {
    await sell({ min_amount_cents: 700 });
    await send();
    await price('alpha');
    await send(call('a', 0, { by: 'other' }));
    await issue();
    const rows = (await margin('group_by[]=model')).margins;
    expect(rows.find((row: Shown) => row.model === null)).toMatchObject({ precise_revenue_cents: '700.0' });
  });

  test('give what is billed in advance to the group of its own call, whatever came in the same hour', async () => {
    await sell({ charge_model: 'standard', properties: { amount: '1' }, pay_in_advance: true });
    await price('alpha', 'beta', 'gamma');
    await sendNow(
      { id: 'a', tokens: 300 },
      { id: 'b', tokens: 100, model: 'beta' },
      { id: 'c', tokens: 1, model: 'gamma' },
    );
    await story.invoices(3);
    await finishAll(service.sql, story.organizationId);
    const rows = await revenue('group_by[]=model&group_by[]=day&order=revenue', 'model');
    expect(Object.fromEntries(rows)).toEqual({ alpha: '100.0', beta: '100.0', gamma: '100.0' });
    expect((await margin()).totals).toMatchObject({ precise_revenue_cents: '300.0', events: 3, flags: [] });
  });

  test('spread what was billed progressively, and what is left of the month, over the days of any report', async () => {
    await sell({}, { usage_thresholds: [{ amount_cents: 500 }] });
    await price('alpha', 'beta');
    await story.advanceTo('2026-03-05T10:00:00Z');
    await sendNow({ id: 'a', tokens: 600 });
    await story.advanceTo('2026-03-05T10:15:00Z');
    await story.invoices(1);
    await story.advanceTo('2026-03-20T10:00:00Z');
    await sendNow({ id: 'b', tokens: 400, model: 'beta' });
    await issue();
    const [progressive, month] = await story.invoices(2);
    expect([progressive, month].map((invoice: Shown) => invoice.sub_total_excluding_taxes_amount_cents)).toEqual([
      600, 400,
    ]);
    expect(await revenue('group_by[]=model&order=revenue', 'model')).toEqual([
      ['alpha', '600.0'],
      ['beta', '400.0'],
    ]);
    expect(await revenue('group_by[]=day', 'day', 'from=2026-03-01&to=2026-03-10&basis=billed')).toEqual([
      ['2026-03-05', '600.0'],
    ]);
    expect(await revenue('group_by[]=day', 'day', 'from=2026-03-11&to=2026-03-31&basis=billed')).toEqual([
      ['2026-03-20', '400.0'],
    ]);
  });

  test('are a file for who accepts CSV, all rows of it', async () => {
    await sell();
    await price('alpha', 'beta');
    await send(call('a', 500), call('b', 100, { model: 'beta' }));
    await issue();
    const { text, headers } = await story.client.get(`/ai/margin?${RANGE}&group_by[]=model&per_page=1`, {
      headers: { accept: 'text/csv' },
    });
    expect(headers['content-type']).toBe('text/csv; charset=utf-8');
    expect(text.split('\r\n')).toEqual([
      'model,currency,events,unpriced_events,input_tokens,output_tokens,precise_cost_cents,precise_revenue_cents,' +
        'precise_margin_cents,margin_rate,flags',
      'alpha,USD,1,0,500,0,500.0,500.0,0.0,0,',
      'beta,USD,1,0,100,0,100.0,100.0,0.0,0,',
      '',
    ]);
  });

  test('are read in three statements at most', async () => {
    await sell();
    await price('alpha');
    await send(call('a', 500));
    await issue();
    const { statements } = await countStatements(service, story.organizationId, 'findAiMargins', {
      now: '2026-04-03T00:00:00Z',
      query: { from: '2026-03-01', to: '2026-03-31', basis: 'billed', group_by: ['customer', 'day'] },
    });
    expect(statements).toHaveLength(2);
  });
});
