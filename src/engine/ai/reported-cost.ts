import { isKeptNumber } from '../metrics/property-text.ts';
import { Decimal, decimal } from '../money/decimal.ts';

const COST = /^\d+(?:\.\d+)?(?:[eE][+-]?\d{1,3})?$/;
/** Main units that one call may cost, and fractional digits of what it cost. */
const MOST = new Decimal('1e12');
const DIGITS = 18;

/**
 * What a producer says that a call cost: plain decimal text, rounded to 18 digits; null if it says nothing, undefined
 * for what is no amount.
 */
export function reportedCost(value: unknown): string | null | undefined {
  if (value === undefined || value === null) return null;
  const text = typeof value === 'number' ? String(value) : isKeptNumber(value) ? value.value : value;
  if (typeof text !== 'string' || text.length > 1100 || !COST.test(text)) return undefined;
  const cost = decimal(text);
  return cost.gt(MOST) ? undefined : cost.toDecimalPlaces(DIGITS).toFixed();
}
