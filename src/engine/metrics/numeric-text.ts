import { type Decimal, decimal } from '../money/decimal.ts';

/** Texts that numeric aggregations accept; events with another text are ignored. The same pattern serves SQL. */
export const NUMERIC_TEXT = '^-?[0-9]+(\\.[0-9]+)?$';
const NUMERIC = new RegExp(NUMERIC_TEXT);

/**
 * The number that a property's text stands for, or undefined when an aggregation ignores it ("1e3", ".5", "+1", "").
 * Rule: aggregation.md#selecting-events (3).
 */
export const numericValue = (text: string | null): Decimal | undefined =>
  text !== null && NUMERIC.test(text) ? decimal(text) : undefined;
