import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { decimal, sum } from '../../../src/engine/money/decimal.ts';
import type { Properties } from '../../../src/engine/pricing/charge-model.ts';
import type { ChargeModelName } from '../../../src/engine/pricing/charge-models.ts';
import { price } from '../../../src/engine/pricing/price.ts';
import { feesOfCount, feesOfSum } from './in-advance.ts';

const amount = fc.integer({ min: 0, max: 5000 }).map((cents) => decimal(cents).div(100).toFixed());
/** Ranges with increasing bounds, stepped or adjacent. */
const ranges = (key: string, price: string): fc.Arbitrary<Properties> =>
  fc
    .tuple(
      fc.array(fc.record({ size: fc.integer({ min: 1, max: 20 }), price: amount, flat: amount }), {
        minLength: 1,
        maxLength: 4,
      }),
      fc.boolean(),
    )
    .map(([rows, isAdjacent]) => {
      let from = 0;
      return {
        [key]: rows.map((row, index) => {
          const isLast = index === rows.length - 1;
          const range = {
            from_value: from,
            to_value: isLast ? null : from + row.size,
            [price]: row.price,
            flat_amount: row.flat,
          };
          from += row.size + (isAdjacent ? 0 : 1);
          return range;
        }),
      };
    });
const packages = fc.record({
  amount,
  package_size: fc.integer({ min: 1, max: 9 }),
  free_units: fc.integer({ min: 0, max: 9 }),
});
const orNull = <Value>(value: fc.Arbitrary<Value>) => fc.option(value, { nil: null });
const freeEvents = orNull(fc.integer({ min: 1, max: 4 }));
const percentages = fc.record({
  rate: amount,
  fixed_amount: orNull(amount),
  free_units_per_events: freeEvents,
  free_units_per_total_aggregation: orNull(amount),
});
const limited = fc.tuple(percentages, amount, amount).map(([properties, a, b]): Properties => {
  const [low, high] = decimal(a).lte(b) ? [a, b] : [b, a];
  return { ...properties, per_transaction_min_amount: low, per_transaction_max_amount: high };
});

const MODELS: [ChargeModelName, fc.Arbitrary<Properties>][] = [
  ['standard', fc.record({ amount })],
  ['graduated', ranges('graduated_ranges', 'per_unit_amount')],
  ['graduated_percentage', ranges('graduated_percentage_ranges', 'rate')],
  ['package', packages],
  ['percentage', percentages],
  ['percentage', limited],
];

describe('fees in advance sum to the amount in arrears (golden-usage.md#invariants (1))', () => {
  // Of events that use nothing at all nothing is billed in advance, not even a first flat amount.
  const values = fc
    .array(
      fc.integer({ min: 0, max: 3000 }).map((hundredths) => decimal(hundredths).div(100)),
      { minLength: 1, maxLength: 8 },
    )
    .filter((given) => given.some((value) => !value.isZero()));

  test.each(MODELS)('a sum in advance equals the amount in arrears: %s (%#)', (charge_model, arbitrary) => {
    fc.assert(
      fc.property(arbitrary, values, (properties, given) => {
        const fees = feesOfSum({ charge_model, properties }, given);
        const usage = { units: sum(given), eventsCount: given.length, aggregation: 'sum_agg' as const, values: given };
        expect(sum(fees.map(({ preciseAmountCents }) => preciseAmountCents)).toFixed()).toBe(
          price(charge_model, properties, usage).amount.times(100).toFixed(),
        );
      }),
      { numRuns: 60 },
    );
  });

  // Of counted units, free events beyond the free total make the price fall with a further event (charge-models.md, the
  // F-th entry).
  const onlyOneKind = ({ free_units_per_events, free_units_per_total_aggregation }: Properties) =>
    free_units_per_events === null || free_units_per_total_aggregation === null;

  test.each(MODELS)('a count in advance equals the amount in arrears: %s (%#)', (charge_model, arbitrary) => {
    const fitting = charge_model === 'percentage' ? arbitrary.filter(onlyOneKind) : arbitrary;
    fc.assert(
      fc.property(fitting, fc.integer({ min: 1, max: 12 }), (properties, count) => {
        const fees = feesOfCount({ charge_model, properties }, count);
        const usage = { units: decimal(count), eventsCount: count, aggregation: 'count_agg' as const };
        expect(sum(fees.map(({ preciseAmountCents }) => preciseAmountCents)).toFixed()).toBe(
          price(charge_model, properties, usage).amount.times(100).toFixed(),
        );
      }),
      { numRuns: 60 },
    );
  });
});

describe('amounts (golden-usage.md#invariants (4))', () => {
  const cases: [ChargeModelName, fc.Arbitrary<Properties>][] = [
    ...MODELS.filter(([name]) => name === 'graduated' || name === 'package'),
    ['volume', ranges('volume_ranges', 'per_unit_amount')],
  ];
  const units = fc.integer({ min: 0, max: 10_000 }).map((hundredths) => decimal(hundredths).div(100));

  test.each(cases)('amounts of %s are never negative and, except for volume, never fall', (name, arbitrary) => {
    fc.assert(
      fc.property(arbitrary, units, units, (properties, a, b) => {
        const [less, more] = a.lte(b) ? [a, b] : [b, a];
        const amounts = [less, more].map((each) => price(name, properties, { units: each, eventsCount: 1 }).amount);
        expect(amounts[0]!.gte(0)).toBe(true);
        if (name !== 'volume') expect(amounts[1]!.gte(amounts[0]!)).toBe(true);
      }),
    );
  });
});
