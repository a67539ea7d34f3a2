import { type Decimal, decimal, decimalText, max, ZERO } from '../money/decimal.ts';
import { amountOf, isAmountText } from './amount-text.ts';
import type { ChargeModel } from './charge-model.ts';
import type { Priced, Usage } from './priced.ts';

export interface Package {
  /** Units in a package, > 0. */
  size: Decimal;
  freeUnits: Decimal;
  /** The price of a package, in the main unit. */
  price: Decimal;
}

/**
 * Price of usage sold in whole packages, after free units.
 *
 *   15.01 units, 5 free, packages of 10 at 100 → 2 packages, 200
 *
 * Rule: charge-models.md#package.
 */
export function packagePrice({ units }: Usage, { size, freeUnits, price }: Package): Priced {
  const paidUnits = max(units.minus(freeUnits), ZERO);
  const amount = paidUnits.div(size).ceil().times(price);
  return {
    amount,
    unitAmount: paidUnits.isZero() ? ZERO : amount.div(paidUnits),
    details: units.isZero()
      ? { free_units: '0.0', paid_units: '0.0', per_package_size: 0, per_package_unit_amount: '0.0' }
      : {
          free_units: decimalText(freeUnits),
          paid_units: decimalText(paidUnits),
          per_package_size: size.toNumber(),
          per_package_unit_amount: decimalText(price),
        },
  };
}

const isCount = (value: unknown, least: number): boolean => Number.isSafeInteger(value) && (value as number) >= least;

export const packages: ChargeModel = {
  defaults: { package_size: 1, amount: '0', free_units: 0 },
  keys: ['amount', 'package_size', 'free_units'],
  faults: ({ amount, package_size, free_units }) => [
    ...(isAmountText(amount) ? [] : ['invalid_amount']),
    ...(isCount(package_size, 1) ? [] : ['invalid_package_size']),
    ...(isCount(free_units, 0) ? [] : ['invalid_free_units']),
  ],
  price: ({ amount, package_size, free_units }, usage) =>
    packagePrice(usage, {
      size: decimal(package_size as number),
      freeUnits: decimal(free_units as number),
      price: amountOf(amount),
    }),
};
