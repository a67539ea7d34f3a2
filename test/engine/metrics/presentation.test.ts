import { describe, expect, test } from 'vitest';
import type { Texts } from '../../../src/engine/metrics/choose-filter.ts';
import {
  type PresentedUnits,
  presentationKeys,
  presentFewer,
  presentUnits,
  presentWeightedSum,
} from '../../../src/engine/metrics/presentation.ts';
import { weightedSum } from '../../../src/engine/metrics/weighted-sum.ts';
import { type Decimal, decimal, sum, ZERO } from '../../../src/engine/money/decimal.ts';
import { instant } from '../calendar/build.ts';
import { between } from './build.ts';

interface Row {
  texts: Texts;
  value: Decimal;
}
const row = (team: string | null, region: string | null, value: number): Row => ({
  texts: { team, region },
  value: decimal(value),
});
const sumOf = (rows: readonly Row[]) => sum(rows.map(({ value }) => value));
const shown = (breakdown: readonly PresentedUnits[]) =>
  breakdown.map(({ presentationBy, units }) => [...Object.values(presentationBy), units.toFixed()]);

const ROWS = [row('b', 'eu', 1), row('a', 'us', 2), row('a', 'eu', 4), row(null, 'eu', 8), row('a', 'us', 16)];

describe('presentation breakdown (groups-and-filters.md#presentation)', () => {
  test('every combination of presentation keys has its own units', () => {
    expect(shown(presentUnits(['team', 'region'], ROWS, ({ texts }) => texts, sumOf))).toEqual([
      ['a', 'eu', '4'],
      ['a', 'us', '18'],
      ['b', 'eu', '1'],
      [null, 'eu', '8'],
    ]);
  });

  test('usage without a key or without events has no breakdown', () => {
    expect(presentUnits([], ROWS, ({ texts }) => texts, sumOf)).toEqual([]);
    expect(presentUnits(['team'], [], ({ texts }: Row) => texts, sumOf)).toEqual([]);
  });

  test('the breakdown in advance is the one event with the billed units', () => {
    const breakdown = presentUnits(
      ['team'],
      [ROWS[0]!],
      ({ texts }) => texts,
      () => decimal(0),
    );
    expect(shown(breakdown)).toEqual([['b', '0']]);
  });

  test('fees show displayed keys only, with their units summed', () => {
    const keys = presentationKeys({
      presentation_group_keys: [
        { value: 'team', options: { display_in_invoice: true } },
        { value: 'region', options: { display_in_invoice: false } },
      ],
    });
    expect(keys).toEqual({ all: ['team', 'region'], displayed: ['team'] });
    const breakdown = presentUnits(keys.all, ROWS, ({ texts }) => texts, sumOf);
    expect(shown(presentFewer(breakdown, keys.displayed))).toEqual([
      ['a', '22'],
      ['b', '1'],
      [null, '8'],
    ]);
    expect(presentFewer(breakdown, [])).toEqual([]);
  });

  test('a presentation key without options is not displayed', () => {
    expect(presentationKeys({ presentation_group_keys: [{ value: 'team' }] }).displayed).toEqual([]);
    expect(presentationKeys({})).toEqual({ all: [], displayed: [] });
  });
});

describe('breakdown of a recurring weighted sum', () => {
  const APRIL = { period: between('2023-04-01', '2023-05-01'), periodDays: 30 };
  const saved = [
    { presentationBy: { team: 'a' }, units: decimal(10) },
    { presentationBy: { team: 'b' }, units: decimal(6) },
  ];
  const weigh = (rows: readonly Row[], initial: Decimal) =>
    weightedSum(
      rows.map(({ value }) => ({ timestamp: instant('2023-04-16'), value })),
      { ...APRIL, initial },
    );
  const present = (rows: Row[]) =>
    presentWeightedSum({ keys: ['team'], rows, textsOf: ({ texts }) => texts }, saved, weigh);

  test('each combination continues from its saved total', () => {
    const { shown: weighed, totals } = present([row('b', null, 4), row('c', null, 2)]);
    expect(shown(weighed)).toEqual([
      ['a', '10'],
      ['b', '8'],
      ['c', '1'],
    ]);
    expect(shown(totals)).toEqual([
      ['a', '10'],
      ['b', '10'],
      ['c', '2'],
    ]);
  });

  test('a period without events shows the saved totals', () => {
    expect(present([])).toEqual({ shown: saved, totals: saved });
  });

  test('a new combination starts from zero', () => {
    const { totals } = presentWeightedSum(
      { keys: ['team'], rows: [row(null, null, 3)], textsOf: ({ texts }) => texts },
      [],
      (rows, initial) => ({ units: initial, totalUnits: initial.plus(sumOf(rows)) }),
    );
    expect(totals).toEqual([{ presentationBy: { team: null }, units: ZERO.plus(3) }]);
  });
});
