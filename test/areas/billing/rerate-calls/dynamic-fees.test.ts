import fc from 'fast-check';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { AI_CHECKS } from '../../../../src/areas/reporting/audit-books/ai-checks.ts';
import { Decimal } from '../../../../src/engine/money/decimal.ts';
import type { Context } from '../../../../src/platform/context.ts';
import { type Call, calls, finishAll } from '../../../support/ai-calls.ts';
import { startService, type TestService } from '../../../support/service.ts';
import { openStory, type Story } from '../../../support/story.ts';
import { ok, type Shown } from '../../../support/words.ts';
import { storage } from '../../usage/ingest-events/build.ts';

let service: TestService;
beforeAll(async () => {
  service = await startService();
});
afterAll(() => service.stop());

const digits = (most: number, fraction: number) =>
  fc
    .tuple(fc.integer({ min: 1, max: most }), fc.integer({ min: 0, max: fraction }))
    .map(([whole, part]) => `${whole}.${part}`);

/** Terms of a charge, and calls between changes of their price. */
const history = fc.record({
  rate: digits(3, 999),
  markup: fc.integer({ min: -90, max: 300 }),
  steps: fc.array(
    fc.record({
      price: digits(40, 999_999),
      tokens: fc.array(fc.integer({ min: 1, max: 3_000_000 }), { minLength: 1, maxLength: 4 }),
    }),
    { minLength: 2, maxLength: 4 },
  ),
});
type History = typeof history extends fc.Arbitrary<infer Each> ? Each : never;

test('amounts are what their book gives (P3), and a fee is the formula of its terms over them in every view (P4)', async () => {
  for (const each of fc.sample(history, 3)) await follow(each);
});

async function follow({ rate, markup, steps }: History): Promise<void> {
  const story = await openStory(service, '2026-03-01T00:00:00Z');
  await story.customer({ currency: 'EUR' });
  const { svc_id } = await story.metric('ai_usage', { aggregation_type: 'sum_agg', field_name: 'calls' });
  const properties = { amount_currency: 'USD', conversion_rate: rate, markup_rate: String(markup) };
  await story.plan({
    amount_cents: 0,
    amount_currency: 'EUR',
    charges: [{ billable_metric_id: svc_id, charge_model: 'dynamic', properties }],
  });
  await ok(story.subscribe());
  let sum = new Decimal(0);
  for (const [number, { price, tokens }] of steps.entries()) {
    const entry = {
      provider: 'openai',
      model: 'alpha',
      kind: 'input',
      cost: price,
      valid_from: '2026-01-01T00:00:00Z',
    };
    await ok(story.client.post('/price_book/entries', { entries: [entry] }));
    await send(
      story,
      tokens.map(
        (input, index): Call => ({
          id: `${number}-${index}`,
          at: '2026-03-02T10:00:00Z',
          parts: { tokens_input: input },
        }),
      ),
    );
    for (const input of tokens)
      sum = sum.plus(new Decimal(input).times(price).div(10_000).toDecimalPlaces(15, Decimal.ROUND_HALF_UP));
  }
  for (const [number, { tokens }] of steps.entries())
    for (const index of tokens.keys())
      expect((await ok(story.client.get(`/ai/usage/${number}-${index}`))).ai_usage).toMatchObject({ matches: true });
  for (const { find } of AI_CHECKS)
    expect(await find({ db: service.sql, organizationId: story.organizationId } as Context)).toEqual([]);

  const precise = sum.times(rate).times(new Decimal(markup).div(100).plus(1));
  const wanted = precise.toDecimalPlaces(0, Decimal.ROUND_HALF_UP).toNumber();
  const usage = await ok(story.client.get('/customers/acme/current_usage?external_subscription_id=sub'));
  expect(usage.customer_usage.charges_usage[0].amount_cents).toBe(wanted);
  await story.advanceTo('2026-04-01T12:00:00Z');
  const [invoice] = await story.invoices(1);
  const fee = invoice!.fees.find(({ item }: Shown) => item.type === 'charge');
  expect(fee.amount_cents).toBe(wanted);
  const { explanation } = await ok(story.client.get(`/fees/${fee.svc_id}/explanation`));
  expect(explanation.check).toMatchObject({ equal: true, explained_amount_cents: wanted });
  const verify = story.client.post(`/invoices/${invoice!.svc_id}/verify`, { verification: { level: 'events' } });
  expect((await ok(verify)).verification).toMatchObject({ status: 'equal', differences: [] });
}

async function send(story: Story, given: Call[]): Promise<void> {
  const { store } = storage(service.sql);
  await store(calls(story.organizationId, given, { sandbox: true, received_at: '2026-03-02T12:00:00.000000Z' }));
  await finishAll(service.sql, story.organizationId);
}
