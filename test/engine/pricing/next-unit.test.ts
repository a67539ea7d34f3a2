import { expect, test } from 'vitest';
import { decimal } from '../../../src/engine/money/decimal.ts';
import type { ChargeModelName } from '../../../src/engine/pricing/charge-models.ts';
import { nextUnitOf } from '../../../src/engine/pricing/next-unit.ts';

const G = {
  graduated_ranges: [
    { from_value: 0, to_value: 1000, per_unit_amount: '0', flat_amount: '0' },
    { from_value: 1001, to_value: 10_000, per_unit_amount: '0.005', flat_amount: '0' },
    { from_value: 10_001, to_value: null, per_unit_amount: '0.003', flat_amount: '10' },
  ],
};
const V = {
  volume_ranges: [
    { from_value: 0, to_value: 100, per_unit_amount: '2', flat_amount: '1' },
    { from_value: 101, to_value: null, per_unit_amount: '1', flat_amount: '0' },
  ],
};
const P = { amount: '100', package_size: 10, free_units: 5 };

test.each<[ChargeModelName, object, string, unknown]>([
  ['standard', { amount: '0.05' }, '7', { price: '0.05', per: null, freeLeft: null, tier: null }],
  ['graduated', G, '400', { price: '0', per: null, freeLeft: '600', tier: { number: 1, of: 3 } }],
  ['graduated', G, '1000', { price: '0.005', per: null, freeLeft: '0', tier: { number: 2, of: 3 } }],
  ['graduated', G, '12500', { price: '0.003', per: null, freeLeft: '0', tier: { number: 3, of: 3 } }],
  ['volume', V, '99.5', { price: '2', per: null, freeLeft: null, tier: { number: 1, of: 2 } }],
  ['volume', V, '100', { price: '1', per: null, freeLeft: null, tier: { number: 2, of: 2 } }],
  ['package', P, '3', { price: '0', per: null, freeLeft: '2', tier: null }],
  ['package', P, '15', { price: '100', per: '10', freeLeft: '0', tier: null }],
  ['percentage', { rate: '1.3' }, '15', undefined],
])('the next unit of a charge %s %j after %s units is %j', (model, properties, units, expected) => {
  const next = nextUnitOf(model, properties as Record<string, unknown>, decimal(units));
  const text = (value: { toFixed(): string } | null | undefined) => value?.toFixed() ?? null;
  expect(
    next && { price: text(next.price), per: text(next.per), freeLeft: text(next.freeLeft), tier: next.tier },
  ).toEqual(expected);
});
