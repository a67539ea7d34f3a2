import fc from 'fast-check';
import { Temporal } from 'temporal-polyfill';
import { describe, expect, test } from 'vitest';
import { aggregate, isAggregated } from '../../../src/engine/metrics/aggregate.ts';
import {
  AGGREGATION_TRAITS,
  AGGREGATION_TYPES,
  isAggregationType,
} from '../../../src/engine/metrics/aggregation-types.ts';
import { ALL_FILTER_VALUES, type ChargeFilter, filterChooser } from '../../../src/engine/metrics/choose-filter.ts';
import { gatherGroups, groupKeys } from '../../../src/engine/metrics/group-values.ts';
import { splitUsage } from '../../../src/engine/metrics/split-usage.ts';

const filter = (id: string, values: ChargeFilter['values'], minute = 0): ChargeFilter => ({
  id,
  values,
  created_at: Temporal.Instant.fromEpochMilliseconds(minute * 60_000),
});

const F1 = filter('F1', { region: ['eu'] });
const F2 = filter('F2', { region: ['eu'], cloud: ['aws'] });
const G1 = filter('G1', { cloud: ['aws', 'gcp'] });
const G2 = filter('G2', { cloud: ['aws'] }, 1);
const H1 = filter('H1', { cloud: ['aws'] });
const H2 = filter('H2', { cloud: ['aws'] }, 1);
const K1 = filter('K1', { cloud: [ALL_FILTER_VALUES] });
const K2 = filter('K2', { cloud: ['aws', 'gcp'] }, 1);
const REGION = filter('REGION', { region: ['eu'] }, 1);
const CLOUD = filter('CLOUD', { cloud: ['aws'] });
/** The first loses to the last, which loses to the second by its age: the first does not beat the second. */
const THREE = [
  filter('REGIONS', { region: ['eu', 'us'] }),
  filter('CLOUDS', { cloud: [ALL_FILTER_VALUES] }, 1),
  filter('EU', { region: ['eu'] }, 2),
];
const DECLARED = { cloud: ['aws', 'gcp'], region: ['eu', 'us'] };

describe('the one bucket of an event (groups-and-filters.md#matching-filters)', () => {
  test.each<[string, ChargeFilter[], Record<string, string | null>, string | undefined]>([
    ['the filter with most keys', [F1, F2], { region: 'eu', cloud: 'aws' }, 'F2'],
    ['the only filter that matches', [F1, F2], { region: 'eu', cloud: 'gcp' }, 'F1'],
    ['the default where no filter matches', [F1, F2], { region: 'us' }, undefined],
    ['the default of an event without properties', [F1, F2], {}, undefined],
    ['the default of an event whose property is absent', [F1, F2], { region: null }, undefined],
    ['the filter with the narrower values', [G1, G2], { cloud: 'aws' }, 'G2'],
    ['the only filter with its value', [G1, G2], { cloud: 'gcp' }, 'G1'],
    ['the older of two equal filters', [H2, H1], { cloud: 'aws' }, 'H1'],
    ['the default of a value that the metric does not declare', [K1], { cloud: 'azure' }, undefined],
    ['a wildcard of declared values', [K1], { cloud: 'gcp' }, 'K1'],
    ['explicit narrower than the wildcard', [K1, G2], { cloud: 'aws' }, 'G2'],
    ['a wildcard equal to explicit values is tied', [K2, K1], { cloud: 'aws' }, 'K1'],
    ['the older of two filters with as many other keys', [REGION, CLOUD], { region: 'eu', cloud: 'aws' }, 'CLOUD'],
    [
      'the smaller id of two filters made at the same instant',
      [filter('b', { cloud: ['aws'] }), filter('a', { cloud: ['aws'] })],
      { cloud: 'aws' },
      'a',
    ],
    ['of three tied ones the older of two whose third is narrower', THREE, { region: 'eu', cloud: 'gcp' }, 'CLOUDS'],
    ['the same of three tied ones in another order', THREE.toReversed(), { region: 'eu', cloud: 'gcp' }, 'CLOUDS'],
    ['the default of a key that objects inherit', [filter('odd', { constructor: ['x'] })], {}, undefined],
  ])('an event falls into one bucket: %s', (_name, filters, texts, chosen) => {
    expect(filterChooser(filters, DECLARED)(texts)?.id).toBe(chosen);
  });

  test('the order of the given filters does not matter', () => {
    const all = [F1, F2, G1, G2, H1, H2, K1, K2];
    const texts = fc.record({
      cloud: fc.constantFrom('aws', 'gcp', 'azure', null),
      region: fc.constantFrom('eu', 'us', null),
    });
    fc.assert(
      fc.property(fc.shuffledSubarray(all, { minLength: all.length }), texts, (filters, given) => {
        expect(filterChooser(filters, DECLARED)(given)?.id).toBe(filterChooser(all, DECLARED)(given)?.id);
      }),
    );
  });
});

describe('groups (groups-and-filters.md#groups)', () => {
  const rows = [{ region: 'us' }, { region: null }, { region: 'eu' }, { region: 'us' }, {}, { region: '' }];

  test('groups come in ascending order with null last, and empty text and absent are null', () => {
    const groups = gatherGroups(['region'], rows, (row) => row);
    expect(groups.map((group) => [group.groupedBy.region, group.rows.length])).toEqual([
      ['eu', 1],
      ['us', 2],
      [null, 3],
    ]);
  });

  test('usage without events has one group of nulls', () => {
    expect(gatherGroups(['a', 'b'], [], () => ({}))).toEqual([{ groupedBy: { a: null, b: null }, rows: [] }]);
  });

  test('usage without group keys is one group', () => {
    expect(gatherGroups([], rows, (row) => row)).toEqual([{ groupedBy: {}, rows }]);
  });

  test('groups are ordered by the first key that differs', () => {
    const pairs = [
      { a: '1', b: '2' },
      { a: '1', b: null },
      { a: null, b: '0' },
      { a: '0', b: '9' },
      { a: '1', b: '1' },
    ];
    const order = gatherGroups(['a', 'b'], pairs, (row) => row).map(({ groupedBy }) => `${groupedBy.a}${groupedBy.b}`);
    expect(order).toEqual(['09', '11', '12', '1null', 'null0']);
  });

  test('group keys have a former name and may include the wallet', () => {
    expect(groupKeys({ grouped_by: ['a'] }, { acceptsTargetWallet: false })).toEqual(['a']);
    expect(groupKeys({ pricing_group_keys: ['a', 'a'], grouped_by: ['b'] }, { acceptsTargetWallet: true })).toEqual([
      'a',
      'target_wallet_code',
    ]);
    expect(groupKeys({}, { acceptsTargetWallet: false })).toEqual([]);
  });
});

describe('usage of a charge', () => {
  const NONE = { max: null, last_ts: null, last_created_at: null, last_id: null, last_value: null };
  const bucket = (cloud: string, value: number, count = 1) => ({
    ...NONE,
    cloud,
    events_count: count,
    valid_count: count,
    sum: String(value),
  });

  test('each filter gets its own units and the default bucket the rest (golden case 102)', () => {
    const shares = splitUsage({
      filters: [G1, G2],
      declaredValues: DECLARED,
      groupKeysOf: () => [],
      rows: [bucket('aws', 4), bucket('gcp', 7), bucket('aws', 6)],
      textsOf: (row) => ({ cloud: row.cloud }),
    });
    expect(shares.map((share) => [share.filter?.id, aggregate('sum_agg', share.rows).units.toFixed()])).toEqual([
      ['G1', '7'],
      ['G2', '10'],
      [undefined, '0'],
    ]);
  });

  test('every event lands in exactly one share', () => {
    const row = fc.record({ cloud: fc.constantFrom('aws', 'gcp', 'azure', ''), size: fc.constantFrom('s', 'l') });
    fc.assert(
      fc.property(fc.array(row), fc.subarray([G1, G2, H1, K1]), (rows, filters) => {
        const shares = splitUsage({
          filters,
          declaredValues: DECLARED,
          groupKeysOf: (chosen) => (chosen === G1 ? ['size'] : []),
          rows,
          textsOf: (texts) => texts,
        });
        expect(shares.flatMap((share) => share.rows)).toHaveLength(rows.length);
        expect(new Set(shares.map((share) => share.filter)).size).toBe(filters.length + 1);
      }),
    );
  });

  test('texts that are not numbers are neither summed nor counted (golden case 11)', () => {
    const buckets = [
      { ...NONE, events_count: 3, valid_count: 1, sum: '5' },
      { ...NONE, events_count: 1, valid_count: 1, sum: '2' },
    ];
    expect(aggregate('sum_agg', buckets)).toMatchObject({ eventsCount: 2 });
    expect(aggregate('sum_agg', buckets).units.toFixed()).toBe('7');
    expect(aggregate('count_agg', buckets)).toMatchObject({ eventsCount: 4 });
    expect(aggregate('count_agg', []).units.toFixed()).toBe('0');
  });

  test('sums are exact in any order of events', () => {
    const buckets = ['0.1', '0.2', '-0.3', '1e-18'].map((sum) => ({ ...NONE, events_count: 1, valid_count: 1, sum }));
    expect(aggregate('sum_agg', buckets).units.toFixed()).toBe('0.000000000000000001');
    expect(aggregate('sum_agg', buckets.toReversed()).units.toFixed()).toBe('0.000000000000000001');
  });

  test('aggregations that cannot be computed yet say so', () => {
    expect(AGGREGATION_TYPES.filter((type) => !isAggregated(type))).toEqual(['custom_agg']);
    expect(() => aggregate('custom_agg', [])).toThrow('custom_agg');
  });
});

test.each([
  // type, may recur, in advance, needs a number
  ['count_agg', false, true, false],
  ['sum_agg', true, true, true],
  ['max_agg', false, false, true],
  ['unique_count_agg', true, true, false],
  ['latest_agg', false, false, true],
  ['weighted_sum_agg', true, false, true],
  ['custom_agg', true, true, false],
] as const)(
  '%s may recur: %s, may be billed in advance: %s, needs a number: %s (billable-metrics.md#aggregation-types)',
  (type, canRecur, isPayableInAdvance, needsNumber) => {
    expect(AGGREGATION_TRAITS[type]).toMatchObject({ canRecur, isPayableInAdvance, needsNumber });
    expect(isAggregationType(type)).toBe(true);
  },
);

test('other aggregation types are unknown', () => {
  expect(['average_agg', '', null, 1].map(isAggregationType)).toEqual([false, false, false, false]);
});
