import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { Kind } from '../../../../src/engine/ai/kinds.ts';
import { bookedName } from '../../../../src/engine/ai/rating/model-name.ts';
import { type PriceRow, unitPrice } from '../../../../src/engine/ai/rating/price-row.ts';
import { priceAt, priceTable } from '../../../../src/engine/ai/rating/price-table.ts';
import { allPrices, type PriceQuestion, resolvePrices } from '../../../../src/engine/ai/rating/resolve-prices.ts';
import { decimal } from '../../../../src/engine/money/decimal.ts';
import { priceRow, sampleRows } from './sample-book.ts';

const asked = (rows: readonly PriceRow[], question: Partial<PriceQuestion> = {}) =>
  resolvePrices(priceTable(rows), {
    tier: 'standard',
    at: '2026-06-01T00:00:00.000000Z',
    inputTokens: 1000,
    usesDeployment: true,
    ...question,
  });

const costOf = (rows: readonly PriceRow[], kind: Kind, question?: Partial<PriceQuestion>) =>
  asked(rows, question).priceOf(kind)?.row.cost.toFixed();

describe('time', () => {
  const march = [
    priceRow({ kind: 'input', cost: decimal('2.5'), valid_from: '2026-03-01T00:00:00.000000Z' }),
    priceRow({ kind: 'input', cost: decimal('2'), valid_from: '2026-03-10T00:00:00.000000Z', book_version: 2 }),
  ];

  test.each([
    ['2026-02-28T23:59:59.999999Z', undefined],
    ['2026-03-01T00:00:00.000000Z', '2.5'],
    ['2026-03-09T23:59:59.999000Z', '2.5'],
    ['2026-03-10T00:00:00.000000Z', '2'],
  ])('the price at %s is %s (PB4)', (at, cost) => {
    expect(costOf(march, 'input', { at })).toBe(cost);
  });

  test('of two rows from the same instant the later written one is in force', () => {
    const corrected = [...march, { ...march[1]!, cost: decimal('1.9'), book_version: 3 }];
    expect(costOf(corrected, 'input')).toBe('1.9');
  });

  test('the row in force is the first one that has begun, whatever the number of rows', () => {
    fc.assert(
      fc.property(
        fc.uniqueArray(fc.integer({ min: 10, max: 99 }), { maxLength: 40 }),
        fc.integer({ min: 10, max: 99 }),
        (seconds, now) => {
          const at = (second: number) => `2026-01-01T00:00:00.0000${second}Z`;
          const rows = seconds
            .sort((a, b) => b - a)
            .map((second) => unitPrice(priceRow({ kind: 'input', valid_from: at(second) })));
          expect(priceAt(rows, at(now))).toBe(rows.find(({ row }) => row.valid_from <= at(now)));
        },
      ),
    );
  });
});

describe('layers', () => {
  const own = priceRow({ kind: 'input', layer: 'organization', cost: decimal('2.2') });

  test('the organization has a price of its own for input alone, the deployment has the others (PB9)', () => {
    const rows = [...sampleRows('alpha'), own];
    expect(['input', 'output', 'cache_read'].map((kind) => costOf(rows, kind as Kind))).toEqual(['2.2', '10', '1.25']);
  });

  test('without prices of the deployment a kind that only it prices has none', () => {
    const rows = [...sampleRows('alpha'), own];
    expect(costOf(rows, 'output', { usesDeployment: false })).toBeUndefined();
  });

  test('an own price that has not begun leaves the deployment its price', () => {
    const later = { ...own, valid_from: '2027-01-01T00:00:00.000000Z' };
    expect(costOf([...sampleRows('alpha'), later], 'input')).toBe('2.5');
  });

  test('an own price replaces that of its threshold and leaves the one above', () => {
    const rows = [...sampleRows('beta'), { ...own, cost: decimal('2') }];
    expect(costOf(rows, 'input', { inputTokens: 200_000 })).toBe('2');
    expect(costOf(rows, 'input', { inputTokens: 200_001 })).toBe('6');
  });
});

describe('size', () => {
  test.each([
    [0, '3'],
    [200_000, '3'],
    [200_001, '6'],
  ])('of a call with %i input tokens: input costs %s', (inputTokens, cost) => {
    expect(costOf(sampleRows('beta'), 'input', { inputTokens })).toBe(cost);
  });

  test('a kind without a row for the threshold keeps its lower one', () => {
    expect(costOf(sampleRows('beta'), 'web_search', { inputTokens: 300_000 })).toBe('10');
  });
});

describe('tier', () => {
  const batch = [
    ...sampleRows('alpha'),
    priceRow({ kind: 'input', tier: 'batch', cost: decimal('1.5') }),
    priceRow({ kind: 'output', tier: 'batch', cost: decimal('7.5') }),
  ];

  test('a tier of the model has its prices, and a kind that it lacks falls back within the tier', () => {
    const prices = asked(batch, { tier: 'batch' });
    expect(prices.flags).toEqual([]);
    expect(prices.priceOf('cache_read')).toMatchObject({ fallback: 'input', row: { tier: 'batch' } });
  });

  test('a tier that the model has no price in force for is charged as standard, with a flag', () => {
    expect(asked(batch, { tier: 'flex' })).toMatchObject({ flags: ['tier_fallback'] });
    const future = [
      ...sampleRows('alpha'),
      priceRow({ kind: 'input', tier: 'flex', valid_from: '2027-01-01T00:00:00.000000Z' }),
    ];
    expect(asked(future, { tier: 'flex' }).flags).toEqual(['tier_fallback']);
    expect(costOf(future, 'input', { tier: 'flex' })).toBe('2.5');
  });
});

describe('kinds that stand in', () => {
  test.each([
    [['input'], 'cache_read', 'input'],
    [['input'], 'cache_write', 'input'],
    [['input', 'cache_write'], 'cache_write_1h', 'cache_write'],
    [['input'], 'cache_write_1h', 'input'],
    [['output'], 'reasoning', 'output'],
    [['input'], 'input_image', 'input'],
    [['input'], 'input_video', 'input'],
    [['input', 'input_audio'], 'cache_read_audio', 'input_audio'],
    [['input'], 'cache_read_audio', undefined],
    [['input'], 'input_audio', undefined],
    [['output'], 'output_audio', undefined],
    [['output'], 'output_image', undefined],
    [['input', 'output'], 'web_search', undefined],
    [['input', 'output'], 'requests', undefined],
  ] as [Kind[], Kind, Kind | undefined][])('of %j, the price of %s is that of %s', (kinds, kind, fallback) => {
    const rows = kinds.map((each) => priceRow({ kind: each }));
    expect(asked(rows).priceOf(kind)?.fallback).toBe(fallback);
  });

  test('all prices of a model are those of its kinds and of the kinds that these stand in for', () => {
    expect(allPrices(asked(sampleRows('delta'))).map(([kind, { fallback }]) => [kind, fallback])).toEqual([
      ['input', null],
      ['cache_read', null],
      ['cache_write', 'input'],
      ['cache_write_1h', 'input'],
      ['input_image', 'input'],
      ['input_video', 'input'],
      ['output', null],
      ['reasoning', 'output'],
    ]);
  });
});

describe('names', () => {
  const known = new Set(['openai alpha', 'openai dated-2025-01-01', 'azure alpha']);
  const aliases = new Map([
    ['alpha', { provider: 'openai', model: 'nowhere' }],
    ['mine', { provider: 'openai', model: 'nowhere' }],
    ['mine-big', { provider: 'azure', model: 'alpha' }],
  ]);
  const booked = (model: string) =>
    bookedName({ provider: 'openai', model }, aliases.get(model), ({ provider, model: name }) =>
      known.has(`${provider} ${name}`),
    );

  // biome-ignore format: a table
  test.each([
    ['alpha',                'openai', 'alpha',              null],
    ['alpha-2026-01-31',     'openai', 'alpha',              'model_without_date'],
    ['alpha-20260131',       'openai', 'alpha',              'model_without_date'],
    ['alpha-mini',           'openai', 'alpha-mini',         'model_unknown'],
    ['alpha-2026-01',        'openai', 'alpha-2026-01',      'model_unknown'],
    ['dated-2025-01-01',     'openai', 'dated-2025-01-01',   null],
    ['dated-2025-01-02',     'openai', 'dated-2025-01-02',   'model_unknown'],
    ['mine-big',             'azure',  'alpha',              null],
    ['mine',                 'openai', 'nowhere',            'model_unknown'],
    ['-2026-01-31',          'openai', '-2026-01-31',        'model_unknown'],
  ])('%s is looked up at %s as %s (PB10)', (model, provider, name, flag) => {
    expect(booked(model)).toEqual({ provider, model: name, flag });
  });
});
