import { expect, test } from 'vitest';
import { decimal, ZERO } from '../../../src/engine/money/decimal.ts';
import { projectedBand, projectFee } from '../../../src/engine/pricing/projection.ts';
import { usageFee } from '../../../src/engine/pricing/usage-fee.ts';

const properties = {
  graduated_ranges: [
    { from_value: 0, to_value: 1000, per_unit_amount: '0', flat_amount: '0' },
    { from_value: 1001, to_value: 10_000, per_unit_amount: '0.005', flat_amount: '0' },
    { from_value: 10_001, to_value: null, per_unit_amount: '0.003', flat_amount: '10' },
  ],
};
const metric = { rounding_function: null, rounding_precision: null };
const elapsed = { days: 18, of: 30 };
const days = ['500', '600', '700', '650', '800', '550', '600'].map(decimal);

test('the range of a projection comes from the least and the most of the last days (CO10)', () => {
  const terms = { exponent: 2, conversionRate: null };
  const usage = { units: decimal('12500'), eventsCount: 9, aggregation: 'sum_agg' as const };
  const fee = usageFee({ charge_model: 'graduated', properties, usage, metric, ...terms } as never);
  const charge = { charge_model: 'graduated' as const, properties, recurring: false, ...terms };
  const middle = projectFee(fee, charge, elapsed);
  expect([middle.units.toFixed(), middle.amountCents]).toEqual(['20833.33', 8750]);
  const { low, high } = projectedBand(fee, charge, { elapsed, days });
  expect([low.units.toFixed(), low.amountCents]).toEqual(['18500', 8050]);
  expect([high.units.toFixed(), high.amountCents]).toEqual(['22100', 9130]);
});

test('a charge that prices single events has no range (CO11)', () => {
  const terms = { exponent: 2, conversionRate: null };
  const percentage = { rate: '1.3', fixed_amount: '0.5' };
  const usage = { units: decimal('1000'), eventsCount: 3, aggregation: 'sum_agg' as const, values: [] };
  const fee = usageFee({ charge_model: 'percentage', properties: percentage, usage, metric, ...terms } as never);
  expect(fee.amountCents).toBe(1450);
  const charge = { charge_model: 'percentage' as const, properties: percentage, recurring: false, ...terms };
  const { low, high } = projectedBand(fee, charge, { elapsed, days: [ZERO, decimal('900')] });
  expect([low.units.toFixed(), low.amountCents, high.amountCents]).toEqual(['1666.67', 2417, 2417]);
});
