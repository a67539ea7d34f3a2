import { type Decimal, decimal, decimalText, min, ONE, ZERO } from '../money/decimal.ts';
import { AMOUNT_TEXT_MAX, isAmountText } from './amount-text.ts';
import type { Properties } from './charge-model.ts';

/** A range of units with its bounds; `to` null = no end. */
export interface Range {
  from: Decimal;
  to: Decimal | null;
  /** As stored: prices and flat amount. */
  properties: Properties;
}

const BOUND = /^\d+(\.\d+)?$/;
const isBound = (value: unknown): boolean =>
  (typeof value === 'number' && Number.isFinite(value) && value >= 0) ||
  (typeof value === 'string' && value.length <= AMOUNT_TEXT_MAX && BOUND.test(value.trim()));
const boundOf = (value: unknown): Decimal => decimal(typeof value === 'string' ? value.trim() : (value as number));

/** The names and allowed gaps of a model's ranges. */
export interface RangeRules {
  key: 'graduated_ranges' | 'volume_ranges' | 'graduated_percentage_ranges';
  /** Names of a range's prices, with the error code for a bad one. */
  amounts: readonly { name: string; code: string }[];
  /** Whether the first range may start at 1, and a next one at the end of the former (adjacent). */
  isLoose: boolean;
}

/** Codes of what is wrong with a list of ranges. Rule: charges.md#properties, charges.md#range-bounds. */
export function rangeFaults(properties: Properties, { key, amounts, isLoose }: RangeRules): string[] {
  const list = properties[key];
  if (!Array.isArray(list) || list.length === 0) return [`missing_${key}`];
  const ranges = list.map((each) => (typeof each === 'object' && each !== null ? (each as Properties) : {}));
  const amountFaults = ranges.flatMap((range) =>
    amounts.filter(({ name }) => !isAmountText(range[name])).map(({ code }) => code),
  );
  return areBounded(ranges, isLoose) ? amountFaults : [...amountFaults, `invalid_${key}`];
}

function areBounded(ranges: readonly Properties[], isLoose: boolean): boolean {
  let former: Decimal | undefined;
  for (const [index, { from_value, to_value }] of ranges.entries()) {
    const isLast = index === ranges.length - 1;
    if (!isBound(from_value) || (isLast ? to_value !== null && to_value !== undefined : !isBound(to_value)))
      return false;
    const from = boundOf(from_value);
    const starts =
      former === undefined ? [ZERO, ...(isLoose ? [ONE] : [])] : [former.plus(ONE), ...(isLoose ? [former] : [])];
    if (!starts.some((start) => start.eq(from))) return false;
    if (isLast) return true;
    former = boundOf(to_value);
    if (!former.gt(from)) return false;
  }
  return true;
}

/** The ranges of properties that passed validation. */
export const rangesOf = (properties: Properties, key: RangeRules['key']): Range[] =>
  (properties[key] as Properties[]).map((range) => ({
    from: boundOf(range.from_value),
    to: range.to_value === null || range.to_value === undefined ? null : boundOf(range.to_value),
    properties: range,
  }));

/** The ranges as they are stored: bounds as JSON numbers, known keys only. Rule: charges.md#range-bounds. */
export const storedRanges = (properties: Properties, { key, amounts }: RangeRules): Properties => ({
  [key]: rangesOf(properties, key).map(({ from, to, properties: given }) => ({
    from_value: from.toNumber(),
    to_value: to?.toNumber() ?? null,
    ...Object.fromEntries(amounts.map(({ name }) => [name, given[name]])),
  })),
});

/** One range that was entered, and the units that fall into it. */
export interface EnteredRange extends Range {
  units: Decimal;
}

/**
 * The ranges that `units` enter, from the first one on, with the units that fall into each. Adjacent ranges (each
 * starts where the former ends) hold `top − from`, stepped ones `top − from + 1`, and a range from 0 holds `top`.
 *
 *   10.5 units, 0–10 and 11–20 → 10 and 0.5
 *
 * Rule: charges.md#range-bounds, charge-models.md#graduated.
 */
export function enteredRanges(ranges: readonly Range[], units: Decimal): EnteredRange[] {
  const isAdjacent =
    ranges.length > 1 && ranges.every((range, index) => index === 0 || range.from.eq(ranges[index - 1]!.to!));
  const last = ranges.findIndex(({ to }) => to === null || to.gte(units));
  return ranges.slice(0, last + 1).map((range) => {
    const top = range.to === null ? units : min(units, range.to);
    const inside = range.from.isZero() ? top : top.minus(range.from).plus(isAdjacent ? ZERO : ONE);
    return { ...range, units: inside.isNegative() ? ZERO : inside };
  });
}

/** Bounds in the form of `amount_details`. */
export const shownBounds = ({ from, to }: Range) => ({
  from_value: decimalText(from),
  to_value: to === null ? null : decimalText(to),
});
