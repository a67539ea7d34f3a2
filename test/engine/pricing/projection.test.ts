import { describe, expect, test } from 'vitest';
import { decimal, decimalText } from '../../../src/engine/money/decimal.ts';
import type { Properties } from '../../../src/engine/pricing/charge-model.ts';
import type { ChargeModelName } from '../../../src/engine/pricing/charge-models.ts';
import type { Usage } from '../../../src/engine/pricing/priced.ts';
import { elapsedDays, projectFee, projectUnits } from '../../../src/engine/pricing/projection.ts';
import { usageFee } from '../../../src/engine/pricing/usage-fee.ts';
import { instant } from '../calendar/build.ts';
import { between } from '../metrics/build.ts';

const MAY = between('2024-05-01', '2024-06-01');
const TENTH = elapsedDays(MAY, instant('2024-05-10T12:00'), 'UTC');

interface Options {
  recurring?: boolean;
  conversionRate?: string;
  elapsed?: typeof TENTH;
}
function project(
  charge_model: ChargeModelName,
  properties: Properties,
  usage: Partial<Usage> & { units: Usage['units'] },
  options: Options = {},
) {
  const { recurring = false, conversionRate, elapsed = TENTH } = options;
  const denomination = { exponent: 2, conversionRate: conversionRate ? decimal(conversionRate) : null };
  const metric = { rounding_function: null, rounding_precision: null };
  const charge = { charge_model, properties, ...denomination };
  const projected = projectFee(
    usageFee({ ...charge, usage: { eventsCount: 1, ...usage }, metric }),
    { ...charge, recurring },
    elapsed,
  );
  return [decimalText(projected.units), projected.amountCents, projected.pricingUnitAmountCents];
}

describe('elapsed days', () => {
  test.each([
    ['2024-04-30T23:00', 0],
    ['2024-05-01T00:00', 1],
    ['2024-05-10T23:59', 10],
    ['2024-05-31T23:59', 31],
    ['2024-06-03', 31],
  ])('elapsed days until %s are %i of 31', (now, days) => {
    expect(elapsedDays(MAY, instant(now), 'UTC')).toEqual({ days, of: 31 });
  });

  test('elapsed days count from a start inside a day', () => {
    expect(elapsedDays(between('2024-05-10T18:00', '2024-06-01'), instant('2024-05-11T09:00'), 'UTC')).toEqual({
      days: 2,
      of: 22,
    });
  });
});

describe('projected usage (usage-reads.md#projected-usage)', () => {
  const units = (value: string) => ({ units: decimal(value) });

  test('10 units at 1.00 on day 10 of 31 are projected (golden case 116)', () => {
    expect(project('standard', { amount: '1' }, units('10'))).toEqual(['31.0', 3100, null]);
  });

  test('projected units are rounded to two digits', () => {
    expect(projectUnits(decimal('1'), { days: 3, of: 31 }).toFixed()).toBe('10.33');
    expect(project('standard', { amount: '1' }, units('1'), { elapsed: { days: 3, of: 31 } })).toEqual([
      '10.33',
      1033,
      null,
    ]);
  });

  const RANGES = {
    graduated_ranges: [
      { from_value: 0, to_value: 10, per_unit_amount: '10', flat_amount: '2' },
      { from_value: 11, to_value: null, per_unit_amount: '5', flat_amount: '3' },
    ],
  };

  test('ranges are filled by projected units', () => {
    expect(project('graduated', RANGES, units('5'))).toEqual(['15.5', 13250, null]); // 102 + 5.5 × 5 + 3
  });

  test('zero usage is projected to zero, even where a flat amount is due', () => {
    expect(project('graduated', RANGES, units('0'))).toEqual(['0.0', 0, null]);
  });

  test('amounts of models that need single events are extrapolated', () => {
    const usage = { units: decimal(100), aggregation: 'sum_agg' as const, values: [decimal(100)] };
    expect(project('percentage', { rate: '1', fixed_amount: '1' }, usage)).toEqual(['310.0', 620, null]);
    expect(project('dynamic', {}, { ...usage, preciseTotalAmount: decimal('1.005') })).toEqual(['310.0', 312, null]);
  });

  test('recurring usage is not extrapolated', () => {
    expect(project('standard', { amount: '1' }, units('10'), { recurring: true })).toEqual(['10.0', 1000, null]);
  });

  test('a period is not projected before its start', () => {
    expect(project('standard', { amount: '1' }, units('10'), { elapsed: { days: 0, of: 31 } })).toEqual([
      '10.0',
      1000,
      null,
    ]);
  });

  test('usage in a pricing unit is projected in that unit', () => {
    expect(project('standard', { amount: '1' }, units('10'), { conversionRate: '0.5' })).toEqual(['31.0', 1550, 3100]);
    const usage = { units: decimal(100), aggregation: 'sum_agg' as const, values: [decimal(100)] };
    expect(project('percentage', { rate: '1' }, usage, { conversionRate: '0.5' })).toEqual(['310.0', 155, 310]);
    expect(project('standard', { amount: '1' }, units('10'), { conversionRate: '0.5', recurring: true })).toEqual([
      '10.0',
      500,
      1000,
    ]);
  });
});
