import { describe, expect, test } from 'vitest';
import { readLitellm } from '../../../../src/engine/ai/price-files/litellm.ts';
import { readModelsDev } from '../../../../src/engine/ai/price-files/models-dev.ts';
import type { PriceFile } from '../../../../src/engine/ai/price-files/read-price.ts';

const shown = ({ prices }: PriceFile) =>
  prices.map(({ provider, model, tier, kind, min_input_tokens: min, cost, per }) => [
    `${provider}/${model}`,
    tier,
    kind,
    min,
    cost.toFixed(),
    per,
  ]);
const strict = { acceptZero: false };

describe('a LiteLLM price map', () => {
  test('is read exactly, with prices above thresholds and of tiers (PB7)', () => {
    const file = readLitellm(
      {
        sample_spec: { input_cost_per_token: 1, litellm_provider: 'x' },
        'anthropic/beta': {
          litellm_provider: 'anthropic',
          max_tokens: 8192,
          input_cost_per_token: 3e-6,
          output_cost_per_token: 1.5e-5,
          cache_read_input_token_cost: 3e-7,
          cache_creation_input_token_cost: 3.75e-6,
          cache_creation_input_token_cost_above_1hr: 6e-6,
          input_cost_per_token_above_200k_tokens: 6e-6,
          output_cost_per_token_above_200k_tokens: 2.25e-5,
          input_cost_per_token_batches: 1.5e-6,
          output_cost_per_token_priority: '3e-05',
          search_context_cost_per_query: { search_context_size_low: 0.03, search_context_size_medium: 0.035 },
        },
      },
      strict,
    );
    expect(shown(file)).toEqual([
      ['anthropic/beta', 'standard', 'input', 0, '3', 1_000_000],
      ['anthropic/beta', 'standard', 'output', 0, '15', 1_000_000],
      ['anthropic/beta', 'standard', 'cache_read', 0, '0.3', 1_000_000],
      ['anthropic/beta', 'standard', 'cache_write', 0, '3.75', 1_000_000],
      ['anthropic/beta', 'standard', 'cache_write_1h', 0, '6', 1_000_000],
      ['anthropic/beta', 'standard', 'input', 200_000, '6', 1_000_000],
      ['anthropic/beta', 'standard', 'output', 200_000, '22.5', 1_000_000],
      ['anthropic/beta', 'batch', 'input', 0, '1.5', 1_000_000],
      ['anthropic/beta', 'priority', 'output', 0, '30', 1_000_000],
      ['anthropic/beta', 'standard', 'web_search', 0, '0.035', 1],
    ]);
    expect(file.skipped).toEqual({ sample_spec: 1 });
  });

  test.each([
    [2.1875e-6, '2.1875'],
    [5.46875e-7, '0.546875'],
    [1e-25, null],
    [-1, null],
    ['0x1', null],
    [{}, null],
  ])('with a price of %j for a token has %s for a million (PB7)', (value, cost) => {
    const file = readLitellm({ m: { litellm_provider: 'p', input_cost_per_token: value } }, strict);
    expect(file.prices.map((price) => price.cost.toFixed())).toEqual(cost === null ? [] : [cost]);
    expect(file.skipped).toEqual(cost === null ? { invalid_price: 1 } : {});
  });

  test('leaves out zeros unless they are accepted, and counts what the book has no place for', () => {
    const content = {
      m: {
        litellm_provider: 'p',
        input_cost_per_token: 0,
        input_cost_per_second: 0.0001,
        input_cost_per_pixel: 1e-8,
        mode: 'chat',
      },
      n: { input_cost_per_token: 1 },
      o: 'no model',
    };
    const file = readLitellm(content, strict);
    expect(shown(file)).toEqual([['p/m', 'standard', 'audio_seconds', 0, '0.0001', 1]]);
    expect(file.skipped).toEqual({ zero: 1, other_price: 1, no_provider: 1, unnamed_model: 1 });
    expect(shown(readLitellm(content, { acceptZero: true }))).toHaveLength(2);
  });
});

test('a file of models.dev has prices for a million, and others above 200 000 tokens', () => {
  const cost = { input: 1.25, output: 10, cache_read: 0, context_over_200k: { input: 2.5 }, training: 3 };
  const file = readModelsDev(
    { google: { name: 'Google', models: { gamma: { cost }, free: { name: 'x' } } }, broken: [] },
    strict,
  );
  expect(shown(file)).toEqual([
    ['google/gamma', 'standard', 'input', 0, '1.25', 1_000_000],
    ['google/gamma', 'standard', 'output', 0, '10', 1_000_000],
    ['google/gamma', 'standard', 'input', 200_000, '2.5', 1_000_000],
  ]);
  expect(file.skipped).toEqual({ zero: 1, other_price: 1, no_price: 1 });
});

test.each([[null], [[]], ['text'], [7], [{ a: null }]])('a file that holds %j has no price', (content) => {
  expect(readLitellm(content, strict).prices).toEqual([]);
  expect(readModelsDev(content, strict).prices).toEqual([]);
});
