import { type Decimal, ZERO } from '../money/decimal.ts';
import type { Usage } from './priced.ts';

/** Amount divided by units, by full units if they are known; 0 without units. Rule: charge-models.md. */
export function unitAmountOf(amount: Decimal, { units, fullUnits }: Usage): Decimal {
  const divisor = fullUnits ?? units;
  return divisor.isZero() ? ZERO : amount.div(divisor);
}
