import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { KINDS, type Kind, type Parts } from '../../../../src/engine/ai/kinds.ts';
import type { PriceRow } from '../../../../src/engine/ai/rating/price-row.ts';
import { priceTable } from '../../../../src/engine/ai/rating/price-table.ts';
import { type RatingInput, rate } from '../../../../src/engine/ai/rating/rate.ts';
import { ratedParts } from '../../../../src/engine/ai/rating/rated-parts.ts';
import { inputTokensOf, resolvePrices } from '../../../../src/engine/ai/rating/resolve-prices.ts';
import { type Decimal, decimal, sum } from '../../../../src/engine/money/decimal.ts';
import { priceRow, SAMPLE_BOOK, sampleRows } from './sample-book.ts';

type Numbers = Partial<Record<Kind, number | string>>;

const partsOf = (numbers: Numbers): Parts =>
  Object.fromEntries(Object.entries(numbers).map(([kind, quantity]) => [kind, decimal(quantity)]));

function rated(rows: readonly PriceRow[], numbers: Numbers, more: Partial<RatingInput> & { tier?: string } = {}) {
  const parts = partsOf(numbers);
  const { tier = 'standard', ...input } = more;
  return rate({ parts, prices: pricesFor(rows, parts, tier), currency: 'USD', flags: [], ...input });
}

const pricesFor = (rows: readonly PriceRow[], parts: Parts, tier = 'standard') =>
  resolvePrices(priceTable(rows), {
    tier,
    at: '2026-03-05T00:00:00.000000Z',
    inputTokens: inputTokensOf(parts),
    usesDeployment: true,
  });

const text = (value: Decimal | null): string | null => value?.toFixed() ?? null;

const AI10 = {
  input: 50,
  cache_write: 4000,
  cache_write_1h: 6000,
  cache_read: 40_000,
  output: 500,
  reasoning: 700,
  web_search: 3,
};
const AI11 = { input: 50, cache_write: 10_000, cache_read: 40_000, output: 1200 };

describe('figures of calls under the sample book', () => {
  // biome-ignore format: a table
  test.each([
    // case  model      parts                                                                cost        amount
    ['AI1',  'alpha',   { input: 1000, output: 200 },                                        '0.45',     '0.54'],
    ['AI2',  'alpha',   { input: 107, cache_read: 3712, output: 20 },                        '0.51075',  '0.5201'],
    ['AI3',  'alpha',   { input: 33, output: 747, reasoning: 832 },                          '1.58725',  '1.9047'],
    ['AI4',  'alpha',   { input: 100, input_audio: 400, output: 50, output_audio: 250 },     '3.675',    '3.69'],
    ['AI5',  'alpha',   { input: 0, cache_read: 100, input_audio: 300, cache_read_audio: 100, output: 10 },
                                                                                             '1.6225',   '1.6245'],
    ['AI6',  'alpha',   { input: 2000, cache_read: 8000, cache_write: 2000, output: 661, reasoning: 320 },
                                                                                             '3.106',    '3.4022'],
    ['AI7',  'alpha',   { input: 100, cache_read: 160, output: 5 },                          '0.05',     '0.056'],
    ['AI8',  'alpha',   { input: 260, cache_read: 640, output: 100 },                        '0.245',    '0.278'],
    ['AI9',  'beta',    { input: 13, cache_write: 2803, output: 30, cache_read: 0 },         '1.100025', '1.100025'],
    ['AI10', 'beta',    AI10,                                                                '11.115',   '11.115'],
    ['AI11', 'beta',    AI11,                                                                '6.765',    '6.765'],
    ['AI12', 'beta',    { input: 25, cache_read: 900, output: 310 },                         '0.4995',   '0.4995'],
    ['AI13', 'beta',    { input: 150_000, cache_read: 60_000, output: 2000 },                '98.1',     '98.1'],
    ['AI14', 'beta',    { input: 140_000, cache_read: 60_000, output: 2000 },                '46.8',     '46.8'],
    ['AI15', 'gamma',   { input: 27, output: 1003, reasoning: 1546 },                        '2.552375', '2.552375'],
    ['AI16', 'gamma',   { input: 2500, cache_read: 8000, output: 400, reasoning: 100 },      '0.9125',   '0.9125'],
    ['AI17', 'gamma',   { input: 1100, cache_read: 400, cache_read_audio: 600, input_audio: 2900, output: 100 },
                                                                                             '0.5925',   '0.5925'],
    ['AI18', 'gamma',   { input: 250_000, output: 1000 },                                    '64',       '64'],
    ['AI19', 'delta',   { input: 21, output: 37 },                                           '0.001014', '0.001014'],
    ['AI20', 'beta',    { input: 100, cache_read: 5000, cache_write: 2000, cache_write_1h: 1000, output: 200 },
                                                                                             '1.83',     '1.83'],
    ['AI21', 'epsilon', { input: 186, cache_read: 1024, output: 14 },                        '0.2504',   '0.2504'],
    ['AI22', 'epsilon', { input: 30, output: 120, audio_seconds: 203 },                      '20.378',   '20.378'],
    ['AI23', 'zeta',    { input: 98, output: 250, search_units: 2 },                         '0.41647',  '0.41647'],
    ['AI24', 'alpha',   { input: 107, cache_read: 3712, output: 747, reasoning: 832 },       '2.06975',  '2.3909'],
    ['AI25', 'beta',    AI11,                                                                '6.765',    '6.765'],
    ['AI26', 'beta',    { input: 50, cache_read: 40_000, output: 1200 },                     '3.015',    '3.015'],
    ['AI27', 'beta',    AI11,                                                                '6.765',    '6.765'],
    ['AI30', 'alpha',   { input: 8 },                                                        '0.002',    '0.0024'],
    ['AI31', 'alpha',   { input: 500, cache_read: 50, input_audio: 600, output: 10 },        '2.54125',  '2.56825'],
  ] as [string, string, Numbers, string, string][])('the parts of %s under %s cost what the rules say', (
    _case, model, parts, cost, amount,
  ) => {
    const rating = rated(sampleRows(model), parts);
    expect([text(rating.costCents), text(rating.amountCents), rating.status]).toEqual([cost, amount, 'priced']);
  });

  test('a part that another kind prices is flagged, one of 0 is not (AI3, AI21, AI9)', () => {
    expect(rated(sampleRows('alpha'), { input: 33, output: 747, reasoning: 832 }).flags).toEqual([
      'price_fallback:reasoning',
    ]);
    expect(rated(sampleRows('epsilon'), { input: 186, cache_read: 1024 }).flags).toEqual(['price_fallback:cache_read']);
    expect(rated(sampleRows('epsilon'), { input: 13, cache_read: 0 }).flags).toEqual([]);
  });

  test('audio has no price to fall back on, so the call has neither cost nor amount (AI28)', () => {
    const rating = rated(sampleRows('delta'), { input: 40, input_audio: 60, output: 6, output_audio: 4 });
    expect(rating).toMatchObject({
      status: 'partial',
      costCents: null,
      amountCents: null,
      missingKinds: ['input_audio', 'output_audio'],
      flags: ['price_missing:input_audio', 'price_missing:output_audio'],
    });
  });

  test('a total that was not reported leaves no amount, though each known part has a price (AI29)', () => {
    const rating = rated(sampleRows('alpha'), { input: 100 }, { flags: ['missing:output_tokens'] });
    expect(rating).toMatchObject({ status: 'partial', costCents: null, amountCents: null, missingKinds: [] });
    expect(rating.flags).toEqual(['missing:output_tokens']);
  });
});

test('seven tokens at a price of twelve digits are rounded once, at the fifteenth digit (PB11)', () => {
  const rating = rated([priceRow({ kind: 'input', cost: decimal('0.333333333333') })], { input: 7 });
  expect(text(rating.amountCents)).toBe('0.000233333333333');
});

test('a model without any price is unpriced, and a call of nothing costs nothing', () => {
  expect(rated([], { input: 1000, output: 500 })).toMatchObject({ status: 'unpriced', amountCents: null });
  expect(rated([], { input: 0, output: 0 })).toMatchObject({ status: 'priced' });
  expect(text(rated([], { input: 0 }).amountCents)).toBe('0');
});

test('an amount of a currency without cents is in its main unit', () => {
  const row = priceRow({ kind: 'input', cost: decimal('150') });
  expect(text(rated([row], { input: 1000 }, { currency: 'JPY' }).amountCents)).toBe('0.15');
});

test('each part is shown with its price and what it costs, exactly (AI2, AI28)', () => {
  const parts = partsOf({ input: 107, cache_read: 3712, output: 20, input_audio: 0 });
  const shown = ratedParts(parts, pricesFor(sampleRows('alpha'), parts), 'USD');
  expect(shown.map((part) => [part.kind, text(part.costCents), text(part.amountCents)])).toEqual([
    ['input', '0.02675', '0.0321'],
    ['cache_read', '0.464', '0.464'],
    ['input_audio', '0', '0'],
    ['output', '0.02', '0.024'],
  ]);
  expect(ratedParts(partsOf({ input_audio: 60 }), pricesFor(sampleRows('delta'), {}), 'USD')).toMatchObject([
    { kind: 'input_audio', price: null, costCents: null, amountCents: null },
  ]);
});

describe('the cost that a producer reports', () => {
  const alpha = sampleRows('alpha');
  // biome-ignore format: a table
  test.each([
    // source                reported  cost
    ['book',                'none',    '0.45'],
    ['book',                '0.5',     '0.45'],
    ['reported',            '0.5',     '0.5'],
    ['reported',            'none',    null],
    ['reported_else_book',  '0.5',     '0.5'],
    ['reported_else_book',  'none',    '0.45'],
  ] as const)('under %s, reported %s, the cost of AI1 is %s and its amount stays 0.54', (costSource, reported, cost) => {
    const reportedCostCents = reported === 'none' ? null : decimal(reported);
    const rating = rated(alpha, { input: 1000, output: 200 }, { costSource, reportedCostCents });
    expect([text(rating.costCents), text(rating.amountCents)]).toEqual([cost, '0.54']);
  });

  test.each([
    ['0.4545', []],
    ['0.454500000000001', ['cost_differs']],
    ['0.4455', []],
    ['0', ['cost_differs']],
  ])('of %s beside 0.45 gets the flags %j', (reported, flags) => {
    const reportedCostCents = decimal(reported);
    expect(rated(alpha, { input: 1000, output: 200 }, { reportedCostCents }).flags).toEqual(flags);
  });

  test('counts for a call without prices where the setting takes it', () => {
    const reportedCostCents = decimal('3');
    const unpriced = rated([], { input: 1 }, { costSource: 'reported', reportedCostCents });
    expect([text(unpriced.costCents), unpriced.amountCents]).toEqual(['3', null]);
  });

  test.each([
    ['book', null],
    ['reported', null],
    ['reported', '0.45'],
    ['reported_else_book', null],
  ] as const)('is 0 under %s, reported %s, for a call that a cache answered, which is sold as usual', (...given) => {
    const [costSource, reported] = given;
    const reportedCostCents = reported === null ? null : decimal(reported);
    const flags = ['served_from_cache'];
    const rating = rated(alpha, { input: 1000, output: 200 }, { flags, costSource, reportedCostCents });
    expect([text(rating.costCents), text(rating.amountCents)]).toEqual(['0', '0.54']);
  });
});

const quantities = fc.dictionary(fc.constantFrom(...KINDS), fc.integer({ min: 0, max: 10_000 }));
/** A row of every kind, without thresholds. */
const everyKind = KINDS.map((kind, index) => {
  const known = SAMPLE_BOOK.find((price) => price.kind === kind && price.min === undefined);
  return priceRow({ kind, cost: decimal(known?.cost ?? `0.${index + 1}`), sell: decimal(index) });
});

describe('laws of rating', () => {
  test('the cost of several calls together is the sum of their costs, below one threshold (P2)', () => {
    fc.assert(
      fc.property(fc.array(quantities, { minLength: 1, maxLength: 5 }), (calls) => {
        const together: Numbers = {};
        for (const call of calls)
          for (const [kind, quantity] of Object.entries(call) as [Kind, number][])
            together[kind] = Number(together[kind] ?? 0) + quantity;
        const each = calls.map((call) => rated(everyKind, call));
        const whole = rated(everyKind, together);
        expect(text(whole.costCents)).toBe(sum(each.map((rating) => rating.costCents!)).toFixed());
        expect(text(whole.amountCents)).toBe(sum(each.map((rating) => rating.amountCents!)).toFixed());
      }),
    );
  });

  test('a rating does not depend on the order of parts or of rows (P2)', () => {
    fc.assert(
      fc.property(quantities, (call) => {
        const turned = Object.fromEntries(Object.entries(call).reverse()) as Numbers;
        expect(rated([...everyKind].reverse(), turned)).toEqual(rated(everyKind, call));
      }),
    );
  });

  test('the lines of a priced call add up to its figures, rounded once (P3)', () => {
    fc.assert(
      fc.property(quantities, fc.bigInt({ min: 1n, max: 10n ** 18n }), (call, digits) => {
        const rows = everyKind.map((row) => ({
          ...row,
          cost: decimal(digits.toString())
            .div(10 ** 9)
            .div(10 ** 9),
        }));
        const parts = partsOf(call);
        const { costCents, amountCents } = rated(rows, call);
        const lines = ratedParts(parts, pricesFor(rows, parts), 'USD');
        const exact = (figures: (Decimal | null)[]) => sum(figures.map((figure) => figure!)).toDecimalPlaces(15, 4);
        expect(text(costCents)).toBe(exact(lines.map((line) => line.costCents)).toFixed());
        expect(text(amountCents)).toBe(exact(lines.map((line) => line.amountCents)).toFixed());
      }),
    );
  });
});
