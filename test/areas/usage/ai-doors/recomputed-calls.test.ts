import { afterAll, beforeAll, expect, test } from 'vitest';
import { finishAll } from '../../../support/ai-calls.ts';
import { inLongRun } from '../../../support/long-run.ts';
import { startService, type TestService } from '../../../support/service.ts';
import { openStory } from '../../../support/story.ts';
import { ok, type Shown } from '../../../support/words.ts';

// Random calls with caches, tiers, thresholds and dated prices, priced here by whole numbers alone, from the text of
// the rules: what the service stores, sums and bills of them is the same.

let service: TestService;
beforeAll(async () => {
  service = await startService();
});
afterAll(() => service.stop());

const CALLS = inLongRun(500, 50);

/** A generator of its own, so that a failure can be repeated. */
let seed = Number(process.env.SEED ?? 20260301);
function below(most: number): number {
  seed = (Math.imul(seed, 1664525) + 1013904223) >>> 0;
  return Math.floor((seed / 2 ** 32) * most);
}
const pick = <One>(list: readonly One[]): One => list[below(list.length)]!;

const DIGITS = 18;
interface Row {
  model: string;
  tier: string;
  kind: string;
  min_input_tokens: number;
  cost: string;
  sell: string | null;
  valid_from: string;
}

const priceText = () => `${below(30)}.${String(below(1_000_000_000)).padStart(9, '0')}${below(2) ? '123456789' : ''}`;
const TIMES = ['2026-01-01T00:00:00Z', '2026-03-10T00:00:00Z', '2026-03-20T12:00:00Z'];

/** Some kinds have no price of their own, some have one above 10 000 tokens, some change. */
function book(): Row[] {
  const rows: Row[] = [];
  for (const model of ['m1', 'm2', 'm3'])
    for (const tier of model === 'm3' ? ['standard'] : ['standard', 'batch'])
      for (const kind of ['input', 'output', 'cache_read', 'cache_write', 'input_audio', 'reasoning']) {
        const isOwn = kind === 'input' || kind === 'output' || kind === 'input_audio' || below(3) > 0;
        if (!isOwn) continue;
        for (const min_input_tokens of below(2) ? [0, 10_000] : [0])
          for (const valid_from of TIMES.slice(0, 1 + below(3)))
            rows.push({
              model,
              tier,
              kind,
              min_input_tokens,
              cost: priceText(),
              sell: below(2) ? priceText() : null,
              valid_from,
            });
      }
  return rows;
}

/** In 10^-18 main units for a million. */
function scaled(price: string): bigint {
  const [whole, fraction = ''] = price.split('.');
  return BigInt(whole! + fraction.padEnd(DIGITS, '0'));
}

const STANDS_IN: Record<string, string> = { cache_read: 'input', cache_write: 'input', reasoning: 'output' };

function priceOf(rows: Row[], of: { model: string; tier: string; kind: string; at: string; input: number }): Row {
  const ofModel = rows.filter(({ model, valid_from }) => model === of.model && valid_from <= of.at);
  const tier = ofModel.some((row) => row.tier === of.tier) ? of.tier : 'standard';
  const found = ofModel
    .filter(
      (row) =>
        row.tier === tier && row.kind === of.kind && (row.min_input_tokens === 0 || row.min_input_tokens < of.input),
    )
    .sort((a, b) => b.min_input_tokens - a.min_input_tokens || (a.valid_from < b.valid_from ? 1 : -1));
  return found[0] ?? priceOf(rows, { ...of, kind: STANDS_IN[of.kind]! });
}

/** 10^-24 main units as cents with 15 digits, half up. */
function cents(sum: bigint): string {
  const drop = 10n ** 7n; // 24 digits of main units are 22 of cents
  const rounded = (sum * 2n + drop) / (drop * 2n);
  const text = rounded.toString().padStart(16, '0');
  return `${text.slice(0, -15)}.${text.slice(-15)}`.replace(/0+$/, '').replace(/\.$/, '.0');
}

function call(rows: Row[], index: number) {
  const model = pick(['m1', 'm2', 'm3']);
  const tier = pick(['default', 'batch', 'flex']);
  const at = new Date(Date.UTC(2026, 2, 1 + below(28), below(24), below(60))).toISOString();
  const [cached, written, audio] = [below(9000), below(3000), below(2000)];
  const input = cached + written + audio + below(4000);
  const reasoning = below(500);
  const output = reasoning + below(2000);
  const parts: Record<string, number> = {
    input: input - cached - written - audio,
    cache_read: cached,
    cache_write: written,
    input_audio: audio,
    output: output - reasoning,
    reasoning,
  };
  const ourTier = tier === 'default' ? 'standard' : tier;
  let [cost, amount] = [0n, 0n];
  for (const [kind, quantity] of Object.entries(parts)) {
    const price = priceOf(rows, { model, tier: ourTier, kind, at, input });
    cost += BigInt(quantity) * scaled(price.cost);
    amount += BigInt(quantity) * scaled(price.sell ?? price.cost);
  }
  return {
    cost: cents(cost),
    amount: cents(amount),
    sent: {
      transaction_id: `c${index}`,
      external_subscription_id: 'sub',
      timestamp: Date.parse(at) / 1000,
      body: {
        id: `c${index}`,
        model,
        service_tier: tier,
        usage: {
          prompt_tokens: input,
          completion_tokens: output,
          total_tokens: input + output,
          prompt_tokens_details: { cached_tokens: cached, cache_write_tokens: written, audio_tokens: audio },
          completion_tokens_details: { reasoning_tokens: reasoning },
        },
      },
    },
  };
}

/** Cents as a whole number of 10^-20. */
const whole = (text: string): bigint => {
  const [main, fraction = ''] = text.split('.');
  return BigInt(main! + fraction.padEnd(20, '0'));
};

test('random calls are rated, summed and billed as whole numbers say', async () => {
  const story = await openStory(service, '2026-03-01T00:00:00Z');
  await story.customer();
  const { svc_id } = await story.metric('ai_usage', { aggregation_type: 'sum_agg', field_name: 'calls' });
  const charge = { billable_metric_id: svc_id, charge_model: 'dynamic', properties: { markup_rate: '25' } };
  await story.plan({ amount_cents: 0, charges: [charge] });
  await ok(story.subscribe());
  const rows = book();
  await ok(story.client.post('/price_book/entries', { entries: rows.map((row) => ({ ...row, provider: 'openai' })) }));
  const made = Array.from({ length: CALLS }, (_, index) => call(rows, index));
  for (let from = 0; from < CALLS; from += 100) {
    const ai_usages = made.slice(from, from + 100).map(({ sent }) => sent);
    const answer = await ok(story.client.post('/ai/usage/batch', { ai_usages }));
    for (const [index, shown] of answer.ai_usages.entries()) {
      const { cost, amount } = made[from + index]!;
      expect(shown).toMatchObject({ precise_cost_cents: cost, precise_amount_cents: amount, status: 'priced' });
    }
  }
  await finishAll(service.sql, story.organizationId);
  const total = (name: 'cost' | 'amount') => made.reduce((sum, each) => sum + whole(each[name]), 0n);
  const usage = await ok(story.client.get('/ai/margin?from=2026-03-01&to=2026-03-31'));
  expect(whole(usage.totals.precise_cost_cents)).toBe(total('cost'));
  expect(whole(usage.totals.precise_revenue_cents)).toBe((total('amount') * 125n) / 100n);
  await story.advanceTo('2026-04-02T00:00:00Z');
  const [invoice] = await story.invoices(1);
  const fee = invoice!.fees.find(({ item }: Shown) => item.type === 'charge');
  const owed = (total('amount') * 125n) / 100n;
  expect(fee.amount_cents).toBe(Number((owed * 2n + 10n ** 20n) / (2n * 10n ** 20n)));
  expect(fee.units).toBe(`${CALLS}.0`);
});
