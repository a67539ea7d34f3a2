import { expect, test } from 'vitest';
import { decimal } from '../../../src/engine/money/decimal.ts';
import { toMainUnit } from '../../../src/engine/money/units.ts';
import { price } from '../../../src/engine/pricing/price.ts';
import { usageFee } from '../../../src/engine/pricing/usage-fee.ts';

const fee = (units: string, amounts: string, exponent = 2) =>
  usageFee({
    charge_model: 'dynamic',
    properties: {},
    usage: { units: decimal(units), eventsCount: 2, preciseTotalAmount: toMainUnit(decimal(amounts), exponent) },
    metric: { rounding_function: null, rounding_precision: null },
    exponent,
  });

test.each([
  ['golden case 12', '6', '1236.66', 1237],
  ['events without an amount', '6', '0', 0],
  ['no units', '0', '100', 0],
  ['amounts below 0', '6', '-5', 0],
])('a dynamic charge (%s) of %s units whose amounts sum up to %s costs %s cents', (_case, units, amounts, expected) => {
  expect(fee(units, amounts).amountCents).toBe(expected);
});

test('the amount of a dynamic event is in smallest units of the currency', () => {
  expect([fee('6', '1236.66', 0).amountCents, fee('6', '1236.66', 3).amountCents]).toEqual([1237, 1237]);
  expect(fee('6', '1236.66', 0).preciseUnitAmount.toFixed()).toBe('206.11');
});

test('usage without amounts is a defect', () => {
  expect(() => price('dynamic', {}, { units: decimal(1), eventsCount: 1 })).toThrow('amounts of its events');
});
