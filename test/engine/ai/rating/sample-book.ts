import type { Kind } from '../../../../src/engine/ai/kinds.ts';
import type { Layer, PriceRow } from '../../../../src/engine/ai/rating/price-row.ts';
import { decimal } from '../../../../src/engine/money/decimal.ts';

interface SamplePrice {
  model: string;
  kind: Kind;
  cost: string;
  sell?: string;
  min?: number;
  per?: number;
}

const perThousand = { per: 1000 };
const above = { min: 200_000 };

/** Sample book S of the rules: main units of USD for a million tokens unless said. */
export const SAMPLE_BOOK: readonly SamplePrice[] = [
  { model: 'alpha', kind: 'input', cost: '2.5', sell: '3' },
  { model: 'alpha', kind: 'cache_read', cost: '1.25' },
  { model: 'alpha', kind: 'cache_write', cost: '3.125' },
  { model: 'alpha', kind: 'output', cost: '10', sell: '12' },
  { model: 'alpha', kind: 'input_audio', cost: '40' },
  { model: 'alpha', kind: 'output_audio', cost: '80' },
  { model: 'beta', kind: 'input', cost: '3' },
  { model: 'beta', kind: 'cache_read', cost: '0.3' },
  { model: 'beta', kind: 'cache_write', cost: '3.75' },
  { model: 'beta', kind: 'cache_write_1h', cost: '6' },
  { model: 'beta', kind: 'output', cost: '15' },
  { model: 'beta', kind: 'web_search', cost: '10', ...perThousand },
  { model: 'beta', kind: 'input', cost: '6', ...above },
  { model: 'beta', kind: 'cache_read', cost: '0.6', ...above },
  { model: 'beta', kind: 'cache_write', cost: '7.5', ...above },
  { model: 'beta', kind: 'cache_write_1h', cost: '12', ...above },
  { model: 'beta', kind: 'output', cost: '22.5', ...above },
  { model: 'gamma', kind: 'input', cost: '1.25' },
  { model: 'gamma', kind: 'cache_read', cost: '0.125' },
  { model: 'gamma', kind: 'input_audio', cost: '1' },
  { model: 'gamma', kind: 'output', cost: '10' },
  { model: 'gamma', kind: 'input', cost: '2.5', ...above },
  { model: 'gamma', kind: 'cache_read', cost: '0.25', ...above },
  { model: 'gamma', kind: 'output', cost: '15', ...above },
  { model: 'delta', kind: 'input', cost: '0.06' },
  { model: 'delta', kind: 'cache_read', cost: '0.015' },
  { model: 'delta', kind: 'output', cost: '0.24' },
  { model: 'epsilon', kind: 'input', cost: '2' },
  { model: 'epsilon', kind: 'output', cost: '6' },
  { model: 'epsilon', kind: 'audio_seconds', cost: '0.001', per: 1 },
  { model: 'zeta', kind: 'input', cost: '0.15' },
  { model: 'zeta', kind: 'output', cost: '0.6' },
  { model: 'zeta', kind: 'search_units', cost: '2', ...perThousand },
];

/** A price that holds since 2026 began, with what a test says. */
export const priceRow = (given: Partial<PriceRow> & { kind: Kind }): PriceRow => ({
  id: `${given.layer ?? 'deployment'} ${given.kind}`,
  layer: 'deployment' as Layer,
  tier: 'standard',
  min_input_tokens: 0,
  cost: decimal('1'),
  sell: null,
  per: 1_000_000,
  valid_from: '2026-01-01T00:00:00.000000Z',
  book_version: 1,
  ...given,
});

/** Rows of a model of the sample book, as the deployment's. */
export const sampleRows = (model: string): PriceRow[] =>
  SAMPLE_BOOK.filter((price) => price.model === model).map(({ kind, cost, sell, min = 0, per = 1_000_000 }) =>
    priceRow({
      kind,
      cost: decimal(cost),
      sell: sell === undefined ? null : decimal(sell),
      min_input_tokens: min,
      per,
    }),
  );
