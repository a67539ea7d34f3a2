import fc from 'fast-check';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { AI_CHECKS } from '../../../../src/areas/reporting/audit-books/ai-checks.ts';
import { sumAiDays } from '../../../../src/areas/usage/ai-usage-sums/sum-days.ts';
import type { Context } from '../../../../src/platform/context.ts';
import { type Call, calls, finishAll } from '../../../support/ai-calls.ts';
import { inLongRun } from '../../../support/long-run.ts';
import { startService, type TestService } from '../../../support/service.ts';
import { openStory, type Story } from '../../../support/story.ts';
import { ok, type Shown } from '../../../support/words.ts';
import { storage } from '../../usage/ingest-events/build.ts';

// Law P5: cells of margins sum to the fees, and sums of hours to the live events, for any terms, calls and corrections.

let service: TestService;
beforeAll(async () => {
  service = await startService();
});
afterAll(() => service.stop());

const STORIES = inLongRun(24, 6);
const MODELS = ['alpha', 'beta', 'gamma'] as const;

const terms = fc.record({
  model: fc.constantFrom('dynamic', 'dynamic', 'standard', 'package'),
  markup: fc.integer({ min: -99, max: 300 }),
  betaMarkup: fc.option(fc.integer({ min: -99, max: 300 })),
  isGrouped: fc.boolean(),
  minimum: fc.constantFrom(0, 0, 777),
  coupon: fc.option(fc.integer({ min: 1, max: 99 })),
  timezone: fc.constantFrom('UTC', 'America/New_York', 'Asia/Kolkata'),
  threshold: fc.option(fc.integer({ min: 1, max: 3000 })),
});
const call = fc.record({
  day: fc.integer({ min: 1, max: 31 }),
  hour: fc.integer({ min: 0, max: 23 }),
  model: fc.constantFrom(...MODELS),
  tokens: fc.integer({ min: 0, max: 900 }),
  team: fc.constantFrom('red', 'blue'),
});
const change = fc.record({ place: fc.nat(30), isRetracted: fc.boolean(), tokens: fc.integer({ min: 0, max: 900 }) });
const given = fc.record({
  terms,
  calls: fc.array(call, { minLength: 1, maxLength: 30 }),
  changes: fc.uniqueArray(change, { maxLength: 4, selector: ({ place }) => place }),
  cut: fc.integer({ min: 2, max: 31 }),
});
type Given = typeof given extends fc.Arbitrary<infer Value> ? Value : never;

/** A third of a cent and a bit a token, so that nearly nothing is whole. */
const COSTS = { alpha: '0.0033333', beta: '0.0071', gamma: '0.01' };

async function sell(
  story: Story,
  { model, markup, betaMarkup, isGrouped, minimum, coupon, timezone, threshold }: Given['terms'],
) {
  await story.customer({ timezone });
  const { svc_id } = await story.metric('ai_usage', {
    aggregation_type: 'sum_agg',
    field_name: 'calls',
    filters: [{ key: 'model', values: [...MODELS] }],
  });
  const properties = {
    dynamic: (rate: number) => ({ markup_rate: String(rate) }),
    standard: (rate: number) => ({ amount: String(Math.abs(rate) / 100) }),
    package: (rate: number) => ({ amount: String(Math.abs(rate) / 10), package_size: 3, free_units: 0 }),
  }[model]!;
  const grouped = isGrouped ? { pricing_group_keys: ['team'] } : {};
  await story.plan({
    amount_cents: 0,
    ...(threshold === null ? {} : { usage_thresholds: [{ amount_cents: threshold }] }),
    charges: [
      {
        billable_metric_id: svc_id,
        charge_model: model,
        properties: { ...properties(markup), ...grouped },
        min_amount_cents: minimum,
        ...(betaMarkup === null
          ? {}
          : { filters: [{ values: { model: ['beta'] }, properties: { ...properties(betaMarkup), ...grouped } }] }),
      },
    ],
  });
  await ok(story.subscribe());
  const entries = Object.entries(COSTS).map(([name, cost]) => ({
    provider: 'openai',
    model: name,
    kind: 'input',
    cost,
    per: 1,
    valid_from: '2026-01-01T00:00:00Z',
  }));
  await ok(story.client.post('/price_book/entries', { entries }));
  if (coupon === null) return;
  const fields = { name: 'Some', code: 'some', coupon_type: 'percentage', percentage_rate: String(coupon) };
  await ok(story.client.post('/coupons', { coupon: { ...fields, frequency: 'forever', expiration: 'no_expiration' } }));
  await ok(
    story.client.post('/applied_coupons', { applied_coupon: { external_customer_id: 'acme', coupon_code: 'some' } }),
  );
}

async function use(story: Story, made: Given) {
  const sent = made.calls.map(
    ({ day, hour, model, tokens, team }, index): Call => ({
      id: `c${index}`,
      model,
      at: new Date(Date.UTC(2026, 2, day, hour, 30)).toISOString(),
      parts: { tokens_input: tokens },
      properties: { team },
    }),
  );
  const { store } = storage(service.sql);
  await store(calls(story.organizationId, sent, { sandbox: true, received_at: '2026-03-01T00:00:01.000000Z' }));
  await finishAll(service.sql, story.organizationId);
  for (const { place, isRetracted, tokens } of made.changes) {
    if (place >= sent.length) continue;
    const what = isRetracted
      ? { kind: 'retract' }
      : { kind: 'amend', properties: { tokens_input: String(tokens), tokens: String(tokens) } };
    const correction = { reason: 'wrong', external_subscription_id: 'sub', transaction_id: `c${place}`, ...what };
    await ok(story.client.post('/events/corrections', { correction }));
  }
}

/** What invoices ask before taxes, less their notes; and how many fees they have, of which each is rounded. */
async function billed(story: Story): Promise<{ cents: number; fees: number }> {
  const { invoices } = await ok(story.client.get('/invoices?per_page=100'));
  const whole = await Promise.all(invoices.map(({ svc_id }: Shown) => story.invoice(svc_id)));
  const { credit_notes } = await ok(story.client.get('/credit_notes?per_page=100'));
  const totals = [
    ...whole.map((invoice) => invoice.sub_total_excluding_taxes_amount_cents),
    ...credit_notes.map((note: Shown) => -note.sub_total_excluding_taxes_amount_cents),
  ];
  return {
    cents: totals.reduce((sum, each) => sum + each, 0),
    fees: whole.reduce((sum, { fees }) => sum + fees.length, 0) + credit_notes.length,
  };
}

const revenueOf = (rows: Shown[]): number =>
  rows.reduce((sum, { precise_revenue_cents: text }) => sum + Number(text), 0);

test('cells of margins sum to the fees, and sums of hours to the live events (P5)', async () => {
  await fc.assert(
    fc.asyncProperty(given, async (made) => {
      const story = await openStory(service, '2026-03-01T00:00:00Z');
      await sell(story, made.terms);
      await use(story, made);
      await story.advanceTo('2026-03-20T00:00:00Z');
      await story.advanceTo('2026-04-02T12:00:00Z');
      const margins = async (query: string, from = '2026-02-20', to = '2026-04-10') =>
        (await ok(story.client.get(`/ai/margin?from=${from}&to=${to}&basis=billed&per_page=1000&${query}`))).margins;
      const { cents, fees: parts } = await billed(story);
      const fees = revenueOf(await margins(''));
      // Without a coupon every fee is whole.
      expect(Math.abs(fees - cents)).toBeLessThanOrEqual(made.terms.coupon === null ? 0 : parts / 2);
      const check = async () => {
        for (const query of ['group_by[]=day&group_by[]=model', 'group_by[]=customer', 'group_by[]=week'])
          expect(revenueOf(await margins(query))).toBe(fees);
        const cut = `2026-03-${String(made.cut).padStart(2, '0')}`;
        const before = `2026-03-${String(made.cut - 1).padStart(2, '0')}`;
        expect(
          revenueOf(await margins('', '2026-02-20', before)) + revenueOf(await margins('', cut, '2026-04-10')),
        ).toBe(fees);
      };
      await check();
      await sumAiDays.sweep({ sql: service.sql } as never, undefined as never);
      await check();
      const audited = { db: service.sql, organizationId: story.organizationId } as Context;
      for (const { find } of AI_CHECKS) expect(await find(audited)).toEqual([]);
      const { body } = await story.client.get('/events?per_page=100');
      const usage = await ok(story.client.get('/ai/margin?from=2026-02-20&to=2026-04-10'));
      expect(usage.totals.events).toBe(body.events.length);
      expect(usage.totals.input_tokens).toBe(
        body.events.reduce((sum: number, { properties }: Shown) => sum + Number(properties.tokens_input), 0),
      );
    }),
    { numRuns: STORIES },
  );
});
