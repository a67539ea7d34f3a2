import { expect, test } from 'vitest';
import type { UnitRounding } from '../../../src/engine/metrics/round-units.ts';
import { decimal } from '../../../src/engine/money/decimal.ts';
import { instantFee } from '../../../src/engine/pricing/instant-fee.ts';

const AS_IS: UnitRounding = { rounding_function: null, rounding_precision: null };
const percentage = (properties: object, units: string) =>
  instantFee({
    charge_model: 'percentage',
    properties: { ...properties },
    units: decimal(units),
    metric: AS_IS,
    exponent: 2,
  });

test.each([
  // units, rate, fixed, min, max → amount (estimates.md#instant-fees)
  ['20', { rate: '2.99' }, '0.598'],
  ['20', { rate: '2.99', fixed_amount: '10' }, '10.598'],
  ['20', { rate: '2.99', per_transaction_max_amount: '0.1' }, '0.1'],
  ['20', { rate: '2.99', per_transaction_min_amount: '5.5' }, '5.5'],
  ['-1', { rate: '2.99', fixed_amount: '10', per_transaction_min_amount: '5.5' }, '0'],
  ['400', { rate: '0.1' }, '0.4'],
  ['20', { rate: '2.99', free_units_per_events: 3 }, '0.598'],
])('an instant estimate of %s units of %j costs %s', (units, properties, amount) => {
  const fee = percentage(properties, units);
  expect([fee.preciseAmount.toFixed(), fee.units.toFixed()]).toEqual([amount, units]);
});

test('400 units at 0.1 % cost 40 cents (golden case 115)', () => {
  const fee = percentage({ rate: '0.1' }, '400');
  expect([fee.amountCents, fee.preciseUnitAmount.toFixed()]).toEqual([40, '0.1']);
});

test('an instant estimate of a standard charge rounds the units like the metric', () => {
  const fee = instantFee({
    charge_model: 'standard',
    properties: { amount: '2.5' },
    units: decimal('3.2'),
    metric: { rounding_function: 'ceil', rounding_precision: null },
    exponent: 2,
  });
  expect([fee.units.toFixed(), fee.amountCents, fee.preciseUnitAmount.toFixed()]).toEqual(['4', 1000, '250']);
});

test('an instant estimate without units has no unit price', () => {
  const fee = percentage({ rate: '1', fixed_amount: '2' }, '0');
  expect([fee.amountCents, fee.preciseUnitAmount.toFixed()]).toEqual([200, '0']);
});
