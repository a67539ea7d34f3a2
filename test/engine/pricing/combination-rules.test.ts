import { describe, expect, test } from 'vitest';
import { AGGREGATION_TYPES, type AggregationType } from '../../../src/engine/metrics/aggregation-types.ts';
import { CHARGE_MODELS, type ChargeModelName, isChargeModel } from '../../../src/engine/pricing/charge-models.ts';
import { type Combination, combinationFaults } from '../../../src/engine/pricing/combination-rules.ts';

const combination = (changes: Partial<Combination> = {}): Combination => ({
  charge_model: 'standard',
  aggregation_type: 'count_agg',
  recurring: false,
  pay_in_advance: false,
  prorated: false,
  invoiceable: true,
  regroup_paid_fees: null,
  min_amount_cents: 0,
  ...changes,
});

const METRICS = ['count', 'sum', 'unique_count', 'max', 'latest', 'weighted_sum', 'custom'];
const typed = (name: string) => `${name}_agg` as AggregationType;
const INCOMPATIBLE = ['invalid_aggregation_type_or_charge_model'];

describe('in advance (charges.md#combinations)', () => {
  test.each<[ChargeModelName, string]>([
    // in the order of METRICS; "-" cannot be combined at all
    ['standard', 'yes yes yes no no no yes'],
    ['graduated', 'yes yes yes no no no yes'],
    ['graduated_percentage', 'yes yes yes no no no yes'],
    ['package', 'yes yes yes no no no yes'],
    ['percentage', 'yes yes yes no no no yes'],
    ['volume', 'no no no no no no no'],
    ['dynamic', '- yes - - - - -'],
    ['custom', '- - - - - - yes'],
  ])('a charge in advance with the model %s may combine the aggregations: %s', (charge_model, row) => {
    for (const [index, answer] of row.split(' ').entries()) {
      const faults = combinationFaults(
        combination({ charge_model, aggregation_type: typed(METRICS[index]!), pay_in_advance: true }),
      );
      const expected = { yes: {}, no: { pay_in_advance: INCOMPATIBLE }, '-': { charge_model: INCOMPATIBLE } }[answer];
      expect(faults).toEqual(expected);
    }
  });
});

describe('in arrears (charges.md#combinations)', () => {
  test('in arrears every model combines with every aggregation except a few', () => {
    const wrong = CHARGE_MODELS.flatMap((charge_model) =>
      AGGREGATION_TYPES.flatMap((aggregation_type) => {
        const faults = combinationFaults(combination({ charge_model, aggregation_type }));
        return Object.entries(faults).map(([field, codes]) => `${charge_model} ${aggregation_type} ${field} ${codes}`);
      }),
    );
    const other = (model: string, but: string) =>
      AGGREGATION_TYPES.filter((type) => type !== but).map((type) => `${model} ${type} charge_model ${INCOMPATIBLE}`);
    expect(wrong.toSorted()).toEqual(
      [
        'percentage latest_agg properties invalid_value',
        'graduated_percentage latest_agg properties invalid_value',
        ...other('dynamic', 'sum_agg'),
        ...other('custom', 'custom_agg'),
      ].toSorted(),
    );
  });
});

describe('prorated (charges.md#combinations)', () => {
  const faults = (changes: Partial<Combination>) =>
    combinationFaults(combination({ aggregation_type: 'sum_agg', recurring: true, prorated: true, ...changes }))
      .prorated;

  test.each(CHARGE_MODELS.filter((model) => model !== 'custom'))(
    'a prorated charge may have the model %s only as the table allows',
    (charge_model) => {
      const inArrears = ['standard', 'graduated', 'volume'].includes(charge_model);
      expect(faults({ charge_model }) === undefined).toBe(inArrears);
      expect(faults({ charge_model, pay_in_advance: true }) === undefined).toBe(charge_model === 'standard');
    },
  );

  test.each<Partial<Combination>>([{ recurring: false }, { aggregation_type: 'weighted_sum_agg' }])(
    'a prorated charge may not combine %o',
    (changes) => {
      expect(faults(changes)).toEqual(['invalid_billable_metric_or_charge_model']);
    },
  );
});

describe('other rules (charges.md#combinations)', () => {
  test.each<[Partial<Combination>, Record<string, string[]>]>([
    [{ invoiceable: false }, { invoiceable: ['must_be_true_unless_pay_in_advance'] }],
    [{ invoiceable: false, pay_in_advance: true }, {}],
    [
      { regroup_paid_fees: 'invoice' },
      { regroup_paid_fees: ['only_compatible_with_pay_in_advance_and_non_invoiceable'] },
    ],
    [
      { regroup_paid_fees: 'invoice', pay_in_advance: true },
      { regroup_paid_fees: ['only_compatible_with_pay_in_advance_and_non_invoiceable'] },
    ],
    [{ regroup_paid_fees: 'invoice', pay_in_advance: true, invoiceable: false }, {}],
    [{ min_amount_cents: 1, pay_in_advance: true }, { min_amount_cents: ['not_compatible_with_pay_in_advance'] }],
    [{ min_amount_cents: 1 }, {}],
  ])('%o is refused with: %o', (changes, expected) => {
    expect(combinationFaults(combination(changes))).toEqual(expected);
  });

  test('only known model names are accepted', () => {
    expect(['standard', 'custom', 'tiered', null].map(isChargeModel)).toEqual([true, true, false, false]);
  });
});
