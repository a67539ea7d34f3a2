import type { Cents } from '../money/cents.ts';
import type { Decimal } from '../money/decimal.ts';

/** The result of computing stored inputs again. */
export interface Computed {
  /** By the engine function that made the fee. */
  amountCents: Cents;
  preciseAmountCents: Decimal;
  units: Decimal;
  /** By the recorded steps; equal unless the explanation is wrong. */
  explainedCents: Cents;
}
