import { decimalText, ZERO } from '../money/decimal.ts';
import { amountOf } from './amount-text.ts';
import type { ChargeModel, Properties } from './charge-model.ts';
import type { Priced, Usage } from './priced.ts';
import { type RangeRules, rangeFaults, rangesOf, storedRanges } from './ranges.ts';

const RULES: RangeRules = {
  key: 'volume_ranges',
  amounts: [
    { name: 'per_unit_amount', code: 'invalid_amount' },
    { name: 'flat_amount', code: 'invalid_amount' },
  ],
  isLoose: false,
};

/**
 * Price of all units at the price of the one range that contains their number, plus its flat amount; the first flat
 * amount is due even without units. A prorated charge finds the range by its full units and prices the prorated ones.
 *
 *   0–100 at 2 + 10, 101–200 at 1; 100.5 units → range 101–200, 100.5
 *
 * Rule: charge-models.md#volume.
 */
export function volumePrice({ units, fullUnits }: Usage, properties: Properties): Priced {
  const quantity = fullUnits ?? units;
  const reached = quantity.ceil();
  const ranges = rangesOf(properties, RULES.key);
  // Validated ranges leave no gap and the last is open, so one always fits.
  const range = ranges.find(({ from, to }) => from.lte(reached) && (to === null || quantity.lte(to))) ?? ranges.at(-1)!;
  const flat = amountOf(range.properties.flat_amount);
  const unitsTotal = units.times(amountOf(range.properties.per_unit_amount));
  const amount = unitsTotal.plus(flat);
  const perUnit = (total: typeof amount) => (quantity.isZero() ? ZERO : total.div(quantity));
  return {
    amount,
    unitAmount: perUnit(amount),
    details: {
      flat_unit_amount: decimalText(flat),
      per_unit_amount: decimalText(perUnit(unitsTotal)),
      per_unit_total_amount: decimalText(unitsTotal),
    },
  };
}

export const volume: ChargeModel = {
  defaults: { volume_ranges: [{ from_value: 0, to_value: null, per_unit_amount: '0', flat_amount: '0' }] },
  keys: [RULES.key],
  faults: (properties) => rangeFaults(properties, RULES),
  stored: (properties) => storedRanges(properties, RULES),
  price: (properties, usage) => volumePrice(usage, properties),
};
