import type { Decimal } from '../money/decimal.ts';
import { amountOf, isAmountText } from './amount-text.ts';
import type { ChargeModel } from './charge-model.ts';
import type { Priced, Usage } from './priced.ts';
import { unitAmountOf } from './unit-amount.ts';

/**
 * Price of usage at one price a unit.
 *
 *   12.5 units at 0.01 → 0.125
 *
 * Rule: charge-models.md#standard.
 */
export function standardPrice(usage: Usage, pricePerUnit: Decimal): Priced {
  const amount = usage.units.times(pricePerUnit);
  return { amount, unitAmount: unitAmountOf(amount, usage), details: {} };
}

export const standard: ChargeModel = {
  defaults: { amount: '0' },
  keys: ['amount'],
  faults: ({ amount }) => (isAmountText(amount) ? [] : ['invalid_amount']),
  price: ({ amount }, usage) => standardPrice(usage, amountOf(amount)),
};
