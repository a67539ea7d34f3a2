import { afterAll, beforeAll, expect, test } from 'vitest';
import { GOLDEN_CALLS } from '../../../engine/ai/golden-calls.ts';
import { SAMPLE_BOOK } from '../../../engine/ai/rating/sample-book.ts';
import type { Client } from '../../../support/client.ts';
import { startService, type TestService } from '../../../support/service.ts';
import { ok } from '../../../support/words.ts';

// What a provider reported, by the door, under the sample book: its cost and amount as they are stored.

let service: TestService;
let client: Client;
beforeAll(async () => {
  service = await startService({ pools: ['events', 'writes', 'billing', 'aggregation'] });
  client = await service.org();
  const entries = SAMPLE_BOOK.flatMap(({ min = 0, ...price }) =>
    [PROVIDERS[price.model as keyof typeof PROVIDERS]].flat().map((provider) => ({
      ...price,
      provider,
      min_input_tokens: min,
      valid_from: '2020-01-01T00:00:00Z',
    })),
  );
  await ok(client.post('/price_book/entries', { entries }));
});
afterAll(() => service.stop());

const PROVIDERS = {
  alpha: ['openai', 'someone'],
  beta: ['anthropic', 'bedrock', 'someone'],
  gamma: 'google',
  delta: ['bedrock', 'openai'],
  epsilon: 'mistral',
  zeta: 'cohere',
};

/** Cost and amount in cents, by the rules. */
const FIGURES: Record<string, [cost: string | null, amount: string | null]> = {
  AI1: ['0.45', '0.54'],
  AI2: ['0.51075', '0.5201'],
  AI3: ['1.58725', '1.9047'],
  AI4: ['3.675', '3.69'],
  AI5: ['1.6225', '1.6245'],
  AI6: ['3.106', '3.4022'],
  AI7: ['0.05', '0.056'],
  AI8: ['0.245', '0.278'],
  AI9: ['1.100025', '1.100025'],
  AI10: ['11.115', '11.115'],
  AI11: ['6.765', '6.765'],
  AI12: ['0.4995', '0.4995'],
  AI13: ['98.1', '98.1'],
  AI14: ['46.8', '46.8'],
  AI15: ['2.552375', '2.552375'],
  AI16: ['0.9125', '0.9125'],
  AI17: ['0.5925', '0.5925'],
  AI18: ['64.0', '64.0'],
  AI19: ['0.001014', '0.001014'],
  AI20: ['1.83', '1.83'],
  AI21: ['0.2504', '0.2504'],
  AI22: ['20.378', '20.378'],
  AI23: ['0.41647', '0.41647'],
  AI24: ['2.06975', '2.3909'],
  AI25: ['6.765', '6.765'],
  AI26: ['3.015', '3.015'],
  AI27: ['6.765', '6.765'],
  AI28: [null, null],
  AI29: [null, null],
  AI30: ['0.002', '0.0024'],
  AI31: ['2.54125', '2.56825'],
};

test.each(GOLDEN_CALLS)(
  'a call costs and is sold for what the rules say ($number)',
  async ({ number, input, parts }) => {
    const provider =
      input.provider ?? (['vercel_ai', 'otel', 'litellm'].includes(input.format as string) ? 'someone' : undefined);
    const ai_usage = { ...input, provider, transaction_id: number, external_subscription_id: 'ada' };
    const sent = await ok(client.post('/ai/usage', { ai_usage }));
    const [cost, amount] = FIGURES[number]!;
    expect(sent.ai_usage).toMatchObject({ precise_cost_cents: cost, precise_amount_cents: amount });
    const stored = (await ok(client.get(`/ai/usage/${number}`))).ai_usage;
    expect(stored).toMatchObject({ precise_cost_cents: cost, precise_amount_cents: amount, matches: true });
    expect(Object.fromEntries(stored.parts.map(({ kind, quantity }: Part) => [kind, Number(quantity)]))).toEqual(parts);
  },
);
interface Part {
  kind: string;
  quantity: string;
}

test('every golden call has its figures', () => {
  expect(GOLDEN_CALLS.map(({ number }) => number)).toEqual(Object.keys(FIGURES));
  expect(GOLDEN_CALLS).toHaveLength(31);
});
