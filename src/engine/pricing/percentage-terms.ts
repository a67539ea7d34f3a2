import { type Decimal, decimal, ZERO } from '../money/decimal.ts';
import { amountOf, isAmountText } from './amount-text.ts';
import type { Properties } from './charge-model.ts';
import type { FreeUnits } from './running-totals.ts';
import type { TransactionTerms } from './transaction-limits.ts';

/** The properties of a percentage charge, as numbers. */
export interface PercentageTerms extends TransactionTerms {
  free: FreeUnits;
}

const isBlank = (value: unknown): boolean =>
  value === undefined || value === null || (typeof value === 'string' && value.trim() === '');
const optionalAmount = (value: unknown): Decimal | null => (isBlank(value) ? null : amountOf(value));

/** The terms of properties that passed validation. */
export const percentageTerms = (properties: Properties): PercentageTerms => ({
  rate: amountOf(properties.rate),
  fixedAmount: optionalAmount(properties.fixed_amount) ?? ZERO,
  minAmount: optionalAmount(properties.per_transaction_min_amount),
  maxAmount: optionalAmount(properties.per_transaction_max_amount),
  free: {
    perEvents: (properties.free_units_per_events as number | null | undefined) ?? 0,
    perTotal: optionalAmount(properties.free_units_per_total_aggregation) ?? ZERO,
  },
});

/**
 * Blank properties become null, except a blank fixed amount, which is dropped because the contract allows no null for
 * it.
 */
export const storedPercentage = (properties: Properties): Properties =>
  Object.fromEntries(
    Object.entries(properties)
      .filter(([key, value]) => key !== 'fixed_amount' || !isBlank(value))
      .map(([key, value]) => [key, isBlank(value) ? null : value]),
  );

/** Codes of what is wrong with the properties of a percentage charge. Rule: charges.md#properties. */
export function percentageFaults(properties: Properties): string[] {
  const { per_transaction_min_amount: least, per_transaction_max_amount: most } = properties;
  const isAbsentOr = (isFine: (value: unknown) => boolean, value: unknown) =>
    value === undefined || value === null || isFine(value);
  const isCount = (value: unknown) => Number.isSafeInteger(value) && (value as number) > 0;
  const isLimit = (value: unknown) => isBlank(value) || isAmountText(value);
  const areCrossed = isAmountText(least) && isAmountText(most) && decimal(least).gt(decimal(most));

  const checks: [boolean, string][] = [
    [isAmountText(properties.rate), 'invalid_rate'],
    [isAbsentOr(isAmountText, properties.fixed_amount), 'invalid_fixed_amount'],
    [isAbsentOr(isCount, properties.free_units_per_events), 'invalid_free_units_per_events'],
    [isAbsentOr(isAmountText, properties.free_units_per_total_aggregation), 'invalid_free_units_per_total_aggregation'],
    [isLimit(least), 'invalid_amount'],
    [isLimit(most), 'invalid_amount'],
    [!areCrossed, 'per_transaction_max_lower_than_per_transaction_min'],
  ];
  return checks.filter(([isFine]) => !isFine).map(([, code]) => code);
}
