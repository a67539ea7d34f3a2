import { type Decimal, decimalText, sum, ZERO } from '../money/decimal.ts';
import { roundToDigits } from '../money/precision.ts';
import { amountOf } from './amount-text.ts';
import type { ChargeModel, Properties } from './charge-model.ts';
import type { EventPrice, EventUsage, Priced, Usage } from './priced.ts';
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

/** Fractional digits of the price of a unit in the details of one event. */
const EVENT_UNIT_DIGITS = 2;

/**
 * Price of usage in ranges, each a percentage of its units plus its flat amount once the range is entered.
 *
 *   0–100 at 5 %, 101–∞ at 2 % + 10; 150 units → 5 + 11 = 16
 *
 * Rule: charge-models.md#graduated_percentage.
 */
export function graduatedPercentagePrice(usage: Usage, properties: Properties): Priced {
  const ranges = pricedRanges(usage, properties);
  const amount = totalOf(ranges);
  return {
    amount,
    unitAmount: unitAmountOf(amount, usage),
    details: {
      graduated_percentage_ranges: ranges.map(({ range, rate, flat, unitsTotal, total }) => ({
        ...shownBounds(range),
        flat_unit_amount: decimalText(flat),
        rate: decimalText(rate),
        units: decimalText(range.units),
        per_unit_total_amount: decimalText(unitsTotal),
        total_with_flat_amount: decimalText(total),
      })),
    },
  };
}

/**
 * Price of one event in advance, with what it adds to each range.
 * Rules: in-advance.md#units-of-one-event, charge-models.md#in-advance-details.
 */
export function graduatedPercentageEventPrice(
  { including, before, due }: EventUsage,
  properties: Properties,
): EventPrice {
  const ranges = due.including ? pricedRanges(including, properties) : [];
  const former = due.before ? pricedRanges(before, properties) : [];
  const added = ranges.map(({ range, rate, flat, total }, index) => ({
    range,
    rate,
    units: range.units.minus(former[index]?.range.units ?? ZERO),
    flat: flat.minus(former[index]?.flat ?? ZERO),
    total: total.minus(former[index]?.total ?? ZERO),
  }));
  return {
    amount: totalOf(ranges).minus(totalOf(former)),
    details: {
      graduated_percentage_ranges: added.map(({ range, rate, units, flat, total }) => ({
        ...shownBounds(range),
        flat_unit_amount: decimalText(flat),
        rate: decimalText(rate),
        units: decimalText(units),
        per_unit_total_amount: decimalText(units.isZero() ? ZERO : roundToDigits(total.div(units), EVENT_UNIT_DIGITS)),
        total_with_flat_amount: decimalText(total),
      })),
    },
  };
}

const pricedRanges = (usage: Usage, properties: Properties) =>
  enteredRanges(rangesOf(properties, RULES.key), usage.units).map((range) => {
    const rate = amountOf(range.properties.rate);
    const flat = amountOf(range.properties.flat_amount);
    const unitsTotal = range.units.times(rate).div(100);
    return { range, rate, flat, unitsTotal, total: unitsTotal.plus(flat) };
  });

const totalOf = (ranges: readonly { total: Decimal }[]): Decimal => sum(ranges.map(({ total }) => total));

export const graduatedPercentage: ChargeModel = {
  defaults: { graduated_percentage_ranges: [{ from_value: 0, to_value: null, rate: '0', flat_amount: '0' }] },
  keys: [RULES.key],
  faults: (properties) => rangeFaults(properties, RULES),
  stored: (properties) => storedRanges(properties, RULES),
  price: (properties, usage) => graduatedPercentagePrice(usage, properties),
  priceEvent: (properties, usage) => graduatedPercentageEventPrice(usage, properties),
};
