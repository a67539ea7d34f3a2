import fc from 'fast-check';
import type { Model, Properties, Range } from './prices.ts';
import type { WorldCharge, WorldEvent } from './usage.ts';

// Random charges and events, in the form in which the interface takes them.
export const DECLARED = { region: ['eu', 'us'], cloud: ['aws', 'gcp'] };
const WILDCARD = '__ALL_FILTER_VALUES__';

const hundredths = (max: number) => fc.integer({ min: 0, max }).map((n) => String(n / 100));
const optional = <Value>(value: fc.Arbitrary<Value>) => fc.oneof(fc.constant(null), value);

const bounds = fc
  .uniqueArray(fc.integer({ min: 1, max: 40 }), { maxLength: 3 })
  .map((all) => all.sort((a, b) => a - b));
const ranges = (isAdjacentAllowed: boolean) =>
  fc
    .tuple(
      bounds,
      isAdjacentAllowed ? fc.boolean() : fc.constant(false),
      fc.array(fc.tuple(hundredths(900), hundredths(5000)), { minLength: 4, maxLength: 4 }),
    )
    .filter(([ends, isAdjacent]) => isAdjacent || ends.every((end, n) => n === 0 || end > ends[n - 1]! + 1))
    .map(([ends, isAdjacent, prices]) =>
      [...ends, null].map(
        (to_value, n): Range => ({
          from_value: n === 0 ? 0 : ends[n - 1]! + (isAdjacent ? 0 : 1),
          to_value,
          per_unit_amount: prices[n]![0],
          rate: prices[n]![0],
          flat_amount: prices[n]![1],
        }),
      ),
    );
const without = (list: Range[], key: 'rate' | 'per_unit_amount') =>
  list.map((range) => Object.fromEntries(Object.entries(range).filter(([name]) => name !== key)) as unknown as Range);

const percentage = fc
  .record({
    rate: hundredths(2000),
    fixed_amount: optional(hundredths(300)),
    free_units_per_events: optional(fc.integer({ min: 1, max: 4 })),
    free_units_per_total_aggregation: optional(hundredths(3000)),
    low: optional(hundredths(300)),
    high: optional(fc.integer({ min: 300, max: 900 }).map((n) => String(n / 100))),
  })
  .map(
    ({ low, high, ...rest }): Properties => ({
      ...rest,
      per_transaction_min_amount: low,
      per_transaction_max_amount: high,
    }),
  );

/** Properties of a charge of a model. */
const propertiesOf: Record<Model, fc.Arbitrary<Properties>> = {
  standard: hundredths(2000).map((amount) => ({ amount })),
  graduated: ranges(true).map((list) => ({ graduated_ranges: without(list, 'rate') })),
  graduated_percentage: ranges(true).map((list) => ({ graduated_percentage_ranges: without(list, 'per_unit_amount') })),
  volume: ranges(false).map((list) => ({ volume_ranges: without(list, 'rate') })),
  package: fc.record({
    amount: hundredths(2000),
    package_size: fc.integer({ min: 1, max: 20 }),
    free_units: fc.integer({ min: 0, max: 10 }),
  }),
  percentage,
  dynamic: fc.constant({}),
};

const groupKeys = fc.constantFrom<string[]>([], [], ['team'], ['team', 'region']);
const values = fc.oneof(fc.constant([WILDCARD]), fc.constant(['eu']), fc.constant(['eu', 'us']));
const clouds = fc.oneof(fc.constant([WILDCARD]), fc.constant(['gcp']), fc.constant(['aws', 'gcp']));
const filterValues = fc
  .record({ region: values, cloud: clouds }, { requiredKeys: [] })
  .filter((given) => Object.keys(given).length > 0) as fc.Arbitrary<Record<string, string[]>>;

type Kind = Pick<WorldCharge, 'aggregation' | 'recurring' | 'prorated' | 'model'>;
const MODELS: Model[] = ['standard', 'graduated', 'volume', 'package', 'percentage', 'graduated_percentage'];
const METERED = ['count_agg', 'sum_agg', 'max_agg', 'latest_agg', 'unique_count_agg', 'weighted_sum_agg'] as const;

/** What goes together. Rule: charges.md#combinations. */
const KINDS: Kind[] = [
  ...METERED.flatMap((aggregation) =>
    MODELS.filter((model) => aggregation !== 'latest_agg' || !model.includes('percentage')).map((model) => ({
      aggregation,
      model,
      recurring: false,
      prorated: false,
    })),
  ),
  { aggregation: 'sum_agg', model: 'dynamic', recurring: false, prorated: false },
  ...(['sum_agg', 'unique_count_agg'] as const).flatMap((aggregation) => [
    ...(['standard', 'graduated', 'volume'] as const).map((model) => ({
      aggregation,
      model,
      recurring: true,
      prorated: true,
    })),
    ...(['standard', 'graduated', 'package'] as const).map((model) => ({
      aggregation,
      model,
      recurring: true,
      prorated: false,
    })),
  ]),
];

export const charges: fc.Arbitrary<WorldCharge> = fc.constantFrom(...KINDS).chain((kind) => {
  // Limits of single events go with aggregations that tell what an event is worth.
  const isLimited = kind.aggregation === 'sum_agg' || kind.aggregation === 'count_agg';
  const unlimited = { per_transaction_min_amount: null, per_transaction_max_amount: null };
  const properties = fc.tuple(propertiesOf[kind.model], groupKeys).map(
    ([own, keys]): Properties => ({
      ...own,
      ...(kind.model !== 'percentage' || isLimited ? {} : unlimited),
      ...(keys.length === 0 ? {} : { pricing_group_keys: keys }),
    }),
  );
  return fc
    .record({
      rounding: optional(
        fc.record({ how: fc.constantFrom('round', 'ceil', 'floor'), digits: fc.integer({ min: 0, max: 2 }) }),
      ),
      properties,
      filters: fc.uniqueArray(fc.record({ values: filterValues, properties }), {
        maxLength: 3,
        selector: ({ values: own }) => JSON.stringify(own),
      }),
    })
    .map((rest): WorldCharge => ({ ...kind, ...rest, declared: DECLARED }));
});

const NUMBERS = ['1', '2.5', '7', '12', '0.25', '30', '-1', '-4.5', '0'];
const NO_NUMBERS = ['abc', '1e3', '.5', '+1', ''];

/** Events between two instants, none of which share a millisecond. */
export const eventsBetween = (
  from: number,
  to: number,
  maxLength: number,
  hasNegative = true,
): fc.Arbitrary<WorldEvent[]> =>
  fc
    .uniqueArray(
      fc.record({
        at: fc.integer({ min: from, max: to - 1 }),
        value: fc.oneof(
          { weight: 6, arbitrary: fc.constantFrom(...NUMBERS.filter((text) => hasNegative || !text.startsWith('-'))) },
          { weight: 1, arbitrary: fc.constantFrom(...NO_NUMBERS) },
          { weight: 1, arbitrary: fc.constant(null) },
        ),
        operation_type: fc.constantFrom('add', 'remove', null),
        region: fc.constantFrom('eu', 'us', 'mars', '', null),
        cloud: fc.constantFrom('aws', 'gcp', null),
        team: fc.constantFrom('a', 'b', '', null),
        cents: fc.constantFrom('12.5', '1234', '0.4', null),
      }),
      { selector: ({ at }) => at, maxLength },
    )
    .map((all) =>
      all.map(({ at, cents, ...texts }) => ({
        at,
        cents,
        properties: Object.fromEntries(Object.entries(texts).filter(([, text]) => text !== null)) as Record<
          string,
          string
        >,
      })),
    );
