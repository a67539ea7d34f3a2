import { assert } from '../assert.ts';
import { ZERO } from '../money/decimal.ts';
import type { ChargeModel } from './charge-model.ts';
import type { Priced, Usage } from './priced.ts';
import { unitAmountOf } from './unit-amount.ts';

/**
 * Price of usage whose events name their own amounts: the sum of these, 0 without units.
 *
 *   1234.56 and 2.1 cents → 12.3666
 *
 * Rule: charge-models.md#dynamic.
 */
export function dynamicPrice(usage: Usage): Priced {
  assert(usage.preciseTotalAmount, 'usage of a dynamic charge comes with the amounts of its events');
  const amount = usage.units.isZero() ? ZERO : usage.preciseTotalAmount;
  return { amount, unitAmount: unitAmountOf(amount, usage), details: {} };
}

export const dynamic: ChargeModel = {
  defaults: {},
  keys: [],
  faults: () => [],
  price: (_properties, usage) => dynamicPrice(usage),
};
