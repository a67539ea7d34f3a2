import { decimalText, sum } from '../money/decimal.ts';
import { amountOf } from './amount-text.ts';
import type { ChargeModel, Properties } from './charge-model.ts';
import type { Priced, Usage } from './priced.ts';
import { enteredRanges, type RangeRules, rangeFaults, rangesOf, shownBounds, storedRanges } from './ranges.ts';
import { unitAmountOf } from './unit-amount.ts';

const RULES: RangeRules = {
  key: 'graduated_percentage_ranges',
  amounts: [
    { name: 'rate', code: 'invalid_rate' },
    { name: 'flat_amount', code: 'invalid_amount' },
  ],
  isLoose: true,
};

/**
 * Price of usage in ranges, each a percentage of the units that fall into it plus its flat amount once it is entered.
 *
 *   0–100 at 5 %, 101–∞ at 2 % + 10; 150 units → 5 + 11 = 16
 *
 * Rule: usage-and-charges D.5 "graduated_percentage".
 */
export function graduatedPercentagePrice(usage: Usage, properties: Properties): Priced {
  const priced = enteredRanges(rangesOf(properties, RULES.key), usage.units).map((range) => {
    const rate = amountOf(range.properties.rate);
    const flat = amountOf(range.properties.flat_amount);
    const unitsTotal = range.units.times(rate).div(100);
    return { range, rate, flat, unitsTotal, total: unitsTotal.plus(flat) };
  });
  const amount = sum(priced.map(({ total }) => total));
  const ranges = priced.map(({ range, rate, flat, unitsTotal, total }) => ({
    ...shownBounds(range),
    flat_unit_amount: decimalText(flat),
    rate: decimalText(rate),
    units: decimalText(range.units),
    per_unit_total_amount: decimalText(unitsTotal),
    total_with_flat_amount: decimalText(total),
  }));
  return { amount, unitAmount: unitAmountOf(amount, usage), details: { graduated_percentage_ranges: ranges } };
}

export const graduatedPercentage: ChargeModel = {
  defaults: { graduated_percentage_ranges: [{ from_value: 0, to_value: null, rate: '0', flat_amount: '0' }] },
  keys: [RULES.key],
  faults: (properties) => rangeFaults(properties, RULES),
  stored: (properties) => storedRanges(properties, RULES),
  price: (properties, usage) => graduatedPercentagePrice(usage, properties),
};
