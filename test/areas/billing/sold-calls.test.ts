import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Call, calls, finishAll } from '../../support/ai-calls.ts';
import { startService, type TestService } from '../../support/service.ts';
import { openStory } from '../../support/story.ts';
import { ok, type Shown } from '../../support/words.ts';
import { storage } from '../usage/ingest-events/build.ts';

// Calls of models on an invoice, in the currency of the book and in others.

let service: TestService;
beforeAll(async () => {
  service = await startService();
});
afterAll(() => service.stop());

const AT = '2026-03-02T10:00:00Z';
const CALLS: Call[] = [
  { id: 'AI1', at: AT, parts: { tokens_input: 1000, tokens_output: 200 } },
  { id: 'AI2', at: AT, parts: { tokens_input: 107, tokens_cache_read: 3712, tokens_output: 20 } },
  { id: 'AI3', at: AT, parts: { tokens_input: 33, tokens_output: 747, tokens_reasoning: 832 } },
];
const PRICES = [
  { kind: 'input', cost: '2.5', sell: '3' },
  { kind: 'cache_read', cost: '1.25' },
  { kind: 'output', cost: '10', sell: '12' },
];

test.each([
  ['PB1', 'EUR', { amount_currency: 'USD', conversion_rate: '0.92', markup_rate: '20' }, '0.032731392', 3],
  ['PB2', 'JPY', { amount_currency: 'USD', conversion_rate: '150' }, '4.4472', 4],
  ['PB3', 'USD', {}, '0.029648', 3],
])(
  'three calls on an invoice are converted, marked up and rounded once (%s, %s)',
  async (_, currency, properties, precise, cents) => {
    const story = await openStory(service, '2026-03-01T00:00:00Z');
    await story.customer({ currency });
    const { svc_id } = await story.metric('ai_usage', { aggregation_type: 'sum_agg', field_name: 'calls' });
    const charges = [{ billable_metric_id: svc_id, charge_model: 'dynamic', properties }];
    const plan = await story.plan({ amount_cents: 0, amount_currency: currency, charges });
    expect(plan.charges[0].properties).toEqual(properties);
    await ok(story.subscribe());
    const common = { provider: 'openai', model: 'alpha', valid_from: '2026-01-01T00:00:00Z' };
    await ok(story.client.post('/price_book/entries', { entries: PRICES.map((price) => ({ ...price, ...common })) }));
    const { store } = storage(service.sql);
    await store(calls(story.organizationId, CALLS, { sandbox: true, received_at: '2026-03-02T12:00:00.000000Z' }));
    await finishAll(service.sql, story.organizationId);
    await story.advanceTo('2026-04-02T00:00:00Z');
    const [invoice] = await story.invoices(1);
    const fee = invoice!.fees.find(({ item }: Shown) => item.type === 'charge');
    expect(fee).toMatchObject({
      units: '3.0',
      precise_amount: precise,
      amount_cents: cents,
      amount_currency: currency,
    });
  },
);
