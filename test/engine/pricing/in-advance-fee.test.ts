import { describe, expect, test } from 'vitest';
import { eventUnits } from '../../../src/engine/metrics/running-record.ts';
import { decimal, decimalText, ONE, ZERO } from '../../../src/engine/money/decimal.ts';
import { toMainUnit } from '../../../src/engine/money/units.ts';
import { inAdvanceFee } from '../../../src/engine/pricing/in-advance-fee.ts';
import { instant } from '../calendar/build.ts';
import { proration } from '../metrics/build.ts';
import { type Charge, feesOfCount, feesOfSum, feesOfUniqueCount } from './in-advance.ts';

const standard = (amount: string): Charge => ({ charge_model: 'standard', properties: { amount } });
const graduated = (...rows: [number, number | null, string, string][]): Charge => ({
  charge_model: 'graduated',
  properties: {
    graduated_ranges: rows.map(([from_value, to_value, per_unit_amount, flat_amount]) => ({
      from_value,
      to_value,
      per_unit_amount,
      flat_amount,
    })),
  },
});
const percentage = (properties: object): Charge => ({ charge_model: 'percentage', properties: { ...properties } });
const PERCENT_RANGES: Charge = {
  charge_model: 'graduated_percentage',
  properties: {
    graduated_percentage_ranges: [
      { from_value: 0, to_value: 100, rate: '20', flat_amount: '10' },
      { from_value: 101, to_value: 200, rate: '30', flat_amount: '7' },
      { from_value: 201, to_value: null, rate: '40', flat_amount: '5' },
    ],
  },
};
const cents = (fees: readonly { amountCents: number }[]) => fees.map(({ amountCents }) => amountCents);

describe('one fee per event (golden-usage.md#in-advance)', () => {
  test.each<[string, Charge, number[], number[], string[]?]>([
    ['golden case 88', standard('1'), [10, -4, 8], [1000, 0, 400], ['10.0', '0.0', '4.0']],
    ['golden case 90', graduated([0, 5, '0.02', '0.01'], [6, null, '0.01', '0.01']), [3, 1, 2], [7, 2, 4]],
    [
      'golden case 91',
      { charge_model: 'package', properties: { amount: '100', free_units: 3, package_size: 2 } },
      [3, 1, 2],
      [0, 10000, 10000],
    ],
    ['golden case 92', percentage({ rate: '5', fixed_amount: '1', free_units_per_events: 2 }), [8, 5, 3], [0, 0, 115]],
    [
      'golden case 93',
      percentage({ rate: '5', fixed_amount: '1', free_units_per_total_aggregation: '120' }),
      [100, 10, 20, 20],
      [0, 0, 150, 200],
    ],
    [
      'golden case 94',
      percentage({ rate: '5', fixed_amount: '1', free_units_per_total_aggregation: '3' }),
      [5, 1],
      [110, 105],
    ],
    [
      'golden case 95',
      percentage({
        rate: '1',
        fixed_amount: '0.5',
        per_transaction_min_amount: '1.75',
        per_transaction_max_amount: '2',
      }),
      [100, 1000, 10000],
      [175, 200, 200],
    ],
    ['golden case 97', PERCENT_RANGES, [50, 100, 300], [2000, 3200, 12000]],
    ['golden case 100', standard('20'), [10], [20000]],
    ['golden case 101', standard('10'), [10], [10000]],
    ['a first event of value 0 uses nothing and pays nothing', graduated([0, null, '1', '5']), [0, 2], [0, 700]],
    [
      'a first event with a negative value uses nothing and pays nothing',
      graduated([0, null, '1', '50']),
      [-6, 10, 3],
      [0, 5400, 300],
    ],
    ['events that never use anything pay nothing', graduated([0, null, '1', '50']), [-6, 6, -1], [0, 0, 0]],
    ['what was given back as a whole is used again', graduated([0, null, '1', '50']), [2, -2, 3], [5200, 0, 100]],
  ])('each event of a sum costs its own fee: %s', (_case, charge, values, expected, units) => {
    const fees = feesOfSum(charge, values);
    expect(cents(fees)).toEqual(expected);
    expect(fees.map(({ eventsCount }) => eventsCount)).toEqual(values.map(() => 1));
    if (units) expect(fees.map((fee) => decimalText(fee.units))).toEqual(units);
  });

  test.each<[string, Charge, number, number[]]>([
    ['golden case 87', standard('10'), 2, [1000, 1000]],
    ['golden case 89', graduated([0, 2, '0', '0'], [3, null, '2', '0']), 3, [0, 0, 200]],
    ['golden case 96', percentage({ rate: '1', fixed_amount: '1', free_units_per_events: 1 }), 2, [0, 101]],
  ])('each event of a count costs its own fee: %s', (_case, charge, count, expected) => {
    expect(cents(feesOfCount(charge, count))).toEqual(expected);
  });

  test('a dynamic charge costs the amount of each event (golden case 98)', () => {
    const amounts = ['1234.56', '2.1'].map((text) => toMainUnit(decimal(text), 2));
    const fees = amounts.map((preciseTotalAmount, index) => {
      const total = amounts.slice(0, index + 1).reduce((sum, amount) => sum.plus(amount), ZERO);
      return inAdvanceFee({
        charge_model: 'dynamic',
        properties: {},
        usage: { units: decimal(index + 1), eventsCount: index + 1, preciseTotalAmount: total },
        event: { billed: ONE, units: ONE, preciseTotalAmount, billedBefore: index > 0 },
        exponent: 2,
      });
    });
    expect(cents(fees)).toEqual([1235, 2]);
  });

  test('a unique count bills a member once that comes and goes (golden case 99)', () => {
    const fees = feesOfUniqueCount(standard('12'), [
      'add 1',
      'remove 1',
      'add 1',
      'add 2',
      'add 2',
      'add 3',
      'remove 3',
    ]);
    expect(cents(fees)).toEqual([1200, 0, 0, 1200, 0, 1200, 0]);
    expect(fees.map(({ units }) => units.toNumber())).toEqual([1, 0, 1, 1, 0, 1, 0]);
  });

  test('an event that raises no unique count pays no fixed amount', () => {
    const once = ['add 1', 'add 2', 'add 2', 'remove 1', 'remove 1', 'add 1', 'add 3', 'remove 3'];
    const fixed = percentage({ rate: '10', fixed_amount: '1' });
    expect(cents(feesOfUniqueCount(fixed, once))).toEqual([110, 110, 0, 0, 0, 0, 110, 0]);
    const least = percentage({ rate: '10', per_transaction_min_amount: '1.75' });
    expect(cents(feesOfUniqueCount(least, once))).toEqual([175, 175, 0, 0, 0, 0, 175, 0]);
    const free = percentage({ rate: '0', fixed_amount: '1', free_units_per_events: 1 });
    expect(cents(feesOfUniqueCount(free, once))).toEqual([0, 100, 0, 0, 0, 0, 100, 0]);
  });

  test.each([
    ['golden case 84', '1', '1', '2024-02-23T01:02', ['2024-02-23T01:00', '2024-02-29'], 24, '0.24138'],
    ['golden case 85', '29', '10', '2024-02-06T08:00', ['2024-02-01', '2024-02-29'], 24000, '240.00023'],
    ['a seat of June', '30', '1', '2024-06-11T10:00', ['2024-06-05T12:12', '2024-06-30'], 2000, '20.0001'],
  ] as const)(
    'a fee in advance is weighted by days (%s): at a price of %s a change of %s costs its share',
    (_case, amount, change, at, [from, last], expected, precise) => {
      const periodDays = from.startsWith('2024-02') ? 29 : 30;
      const weighing = { at: instant(at), proration: proration(from, last, { periodDays }) };
      const event = { ...eventUnits(decimal(change), undefined, weighing), billedBefore: false };
      const usage = { units: decimal(change), eventsCount: 1 };
      const fee = inAdvanceFee({ ...standard(amount), usage, event, exponent: 2 });
      expect([fee.amountCents, fee.preciseAmountCents.div(100).toFixed()]).toEqual([expected, precise]);
      expect(fee.units.toFixed()).toBe(change);
    },
  );
});

describe('figures of a fee in advance', () => {
  test('the unit price is the rounded amount divided by the units', () => {
    const charge = percentage({ rate: '5', fixed_amount: '1', free_units_per_total_aggregation: '120' });
    const fee = feesOfSum(charge, [100, 10, 20])[2]!;
    expect([fee.preciseUnitAmount.toFixed(), fee.unitAmountCents]).toEqual(['0.075', 7]);
    const [rounded] = feesOfSum(standard('0.333'), [1]);
    expect([rounded!.preciseAmountCents.toFixed(), rounded!.preciseUnitAmount.toFixed()]).toEqual(['33.3', '0.33']);
  });

  test('units given back and used again are shown without an amount', () => {
    const fees = feesOfSum(standard('1'), [10, -4, 2]);
    expect(fees.map(({ units, unitAmountCents }) => [units.toNumber(), unitAmountCents])).toEqual([
      [10, 100],
      [0, 0],
      [2, 0],
    ]);
  });

  test('a fee in advance is priced in a pricing unit and converted', () => {
    const [fee] = feesOfSum({ ...standard('1'), conversionRate: decimal('0.5') }, [300]);
    expect([fee!.amountCents, fee!.pricingUnit?.amountCents, fee!.pricingUnit?.preciseUnitAmount.toFixed()]).toEqual([
      15000,
      30000,
      '1',
    ]);
  });

  test('an estimate adds the event to the existing usage', () => {
    const charge = percentage({ rate: '50', free_units_per_events: 1 });
    const four = decimal(4);
    const event = { ...eventUnits(four, { current: four, max: four, maxProrated: ZERO }), billedBefore: true };
    const usage = {
      units: four.plus(event.billed),
      eventsCount: 2,
      aggregation: 'sum_agg' as const,
      values: [four, four],
    };
    expect(inAdvanceFee({ ...charge, usage, event, exponent: 2 }).amountCents).toBe(200);
  });

  test('models without details in advance show none', () => {
    expect(feesOfSum(standard('1'), [1])[0]!.amountDetails).toEqual({});
    expect(feesOfSum(graduated([0, null, '1', '5']), [1])[0]!.amountDetails).toEqual({});
  });
});

describe('details in advance', () => {
  test('a percentage shows the free units that its third event uses up (golden case 93)', () => {
    const charge = percentage({ rate: '5', fixed_amount: '1', free_units_per_total_aggregation: '120' });
    expect(feesOfSum(charge, [100, 10, 20])[2]!.amountDetails).toEqual({
      units: '20.0',
      free_units: '10.0',
      paid_units: '10.0',
      free_events: 0,
      paid_events: 1,
      rate: '5.0',
      fixed_fee_unit_amount: '1.0',
      fixed_fee_total_amount: '1.0',
      per_unit_total_amount: '0.5',
      min_max_adjustment_total_amount: '0.0',
    });
  });

  test('details show a free event and the first paid one (golden case 92)', () => {
    const charge = percentage({ rate: '5', fixed_amount: '1', free_units_per_events: 2 });
    const fees = feesOfSum(charge, [8, 5, 3]);
    expect(fees[0]!.amountDetails).toMatchObject({
      units: '8.0',
      free_units: '8.0',
      paid_units: '0.0',
      free_events: 1,
      paid_events: 0,
      fixed_fee_unit_amount: '0.0',
      per_unit_total_amount: '0.0',
    });
    expect(fees[1]!.amountDetails).toMatchObject({ free_units: '5.0', paid_units: '0.0', free_events: 1 });
    expect(fees[2]!.amountDetails).toMatchObject({
      units: '3.0',
      free_units: '0.0',
      paid_units: '3.0',
      free_events: 0,
      paid_events: 1,
      fixed_fee_unit_amount: '1.0',
      fixed_fee_total_amount: '1.0',
      per_unit_total_amount: '0.15',
    });
  });

  test('details show what the limits change (golden case 95)', () => {
    const charge = percentage({
      rate: '1',
      fixed_amount: '0.5',
      per_transaction_min_amount: '1.75',
      per_transaction_max_amount: '2',
    });
    const adjustments = feesOfSum(charge, [100, 1000]).map(
      ({ amountDetails }) => amountDetails.min_max_adjustment_total_amount,
    );
    expect(adjustments).toEqual(['0.25', '-8.5']);
  });

  test('details show what each event adds to each range (golden case 97)', () => {
    const [first, second, third] = feesOfSum(PERCENT_RANGES, [50, 100, 300]).map(
      ({ amountDetails }) => amountDetails.graduated_percentage_ranges,
    );
    expect(first).toEqual([
      {
        from_value: '0.0',
        to_value: '100.0',
        flat_unit_amount: '10.0',
        rate: '20.0',
        units: '50.0',
        per_unit_total_amount: '0.4',
        total_with_flat_amount: '20.0',
      },
    ]);
    expect(second).toEqual([
      {
        from_value: '0.0',
        to_value: '100.0',
        flat_unit_amount: '0.0',
        rate: '20.0',
        units: '50.0',
        per_unit_total_amount: '0.2',
        total_with_flat_amount: '10.0',
      },
      {
        from_value: '101.0',
        to_value: '200.0',
        flat_unit_amount: '7.0',
        rate: '30.0',
        units: '50.0',
        per_unit_total_amount: '0.44',
        total_with_flat_amount: '22.0',
      },
    ]);
    expect(third).toMatchObject([
      { units: '0.0', per_unit_total_amount: '0.0', total_with_flat_amount: '0.0' },
      { units: '50.0', total_with_flat_amount: '15.0' },
      { units: '250.0', total_with_flat_amount: '105.0' },
    ]);
  });
});
