import { decimalText, sum, ZERO } from '../money/decimal.ts';
import { amountOf } from './amount-text.ts';
import type { ChargeModel, Properties } from './charge-model.ts';
import type { Priced, Usage } from './priced.ts';
import { proratedGraduatedPrice } from './prorated-graduated.ts';
import { enteredRanges, type RangeRules, rangeFaults, rangesOf, shownBounds, storedRanges } from './ranges.ts';
import { unitAmountOf } from './unit-amount.ts';

const RULES: RangeRules = {
  key: 'graduated_ranges',
  amounts: [
    { name: 'per_unit_amount', code: 'invalid_amount' },
    { name: 'flat_amount', code: 'invalid_amount' },
  ],
  isLoose: true,
};

/**
 * Price of usage in ranges: each range prices its units plus its flat amount once the range is entered. The first flat
 * amount is due even without units.
 *
 *   0–10 at 10 + 2, 11–20 at 5 + 3; 12 units → 102 + 13 = 115
 *
 * Rule: charge-models.md#graduated.
 */
export function graduatedPrice(usage: Usage, properties: Properties): Priced {
  const priced = enteredRanges(rangesOf(properties, RULES.key), usage.units).map((range) => {
    const perUnit = range.units.isZero() ? ZERO : amountOf(range.properties.per_unit_amount);
    const flat = amountOf(range.properties.flat_amount);
    const unitsTotal = range.units.times(perUnit);
    return { range, perUnit, flat, unitsTotal, total: unitsTotal.plus(flat) };
  });
  const amount = sum(priced.map(({ total }) => total));
  const ranges = priced.map(({ range, perUnit, flat, unitsTotal, total }) => ({
    ...shownBounds(range),
    flat_unit_amount: decimalText(flat),
    per_unit_amount: decimalText(perUnit),
    units: decimalText(range.units),
    per_unit_total_amount: decimalText(unitsTotal),
    total_with_flat_amount: decimalText(total),
  }));
  return { amount, unitAmount: unitAmountOf(amount, usage), details: { graduated_ranges: ranges } };
}

export const graduated: ChargeModel = {
  defaults: { graduated_ranges: [{ from_value: 0, to_value: null, per_unit_amount: '0', flat_amount: '0' }] },
  keys: [RULES.key],
  faults: (properties) => rangeFaults(properties, RULES),
  stored: (properties) => storedRanges(properties, RULES),
  price: (properties, usage) =>
    usage.moves === undefined
      ? graduatedPrice(usage, properties)
      : proratedGraduatedPrice(usage, usage.moves, rangesOf(properties, RULES.key)),
  priceEvent: (properties, { including, before, due }) => {
    const amountOfRun = (usage: Usage, isDue: boolean) => (isDue ? graduatedPrice(usage, properties).amount : ZERO);
    return { amount: amountOfRun(including, due.including).minus(amountOfRun(before, due.before)), details: {} };
  },
};
