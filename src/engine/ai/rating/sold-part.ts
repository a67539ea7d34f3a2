import { type ChargeFilter, type FilterValues, filterChooser, type Texts } from '../../metrics/choose-filter.ts';
import { type Decimal, ONE, ZERO } from '../../money/decimal.ts';
import type { Properties } from '../../pricing/charge-model.ts';
import { dynamicTerms, markedUp } from '../../pricing/dynamic.ts';

/** A charge that bills calls by their own amounts, with what its filters need. */
export interface SellingCharge {
  properties: Properties;
  filters: readonly (ChargeFilter & { properties: Properties })[];
  /** Values that the metric declares. */
  declared: FilterValues;
}

/**
 * How much of the amounts of calls is asked for, in the book's currency, by the charges that take them: 1.2 with a
 * markup of 20 percent, 0 where no charge takes them, 2 where two do. For many texts of the same charges.
 *
 * texts  properties of the calls, as far as their group knows them
 *
 * Rule: margins.md#revenue.
 */
export function soldPart(charges: readonly SellingCharge[]): (texts: Texts) => Decimal {
  const sellers = charges.map(({ properties, filters, declared }) => {
    const choose = filterChooser(filters, declared);
    return (texts: Texts) => markedUp(ONE, dynamicTerms((choose(texts) ?? { properties }).properties));
  });
  return (texts) => sellers.reduce((sum, part) => sum.plus(part(texts)), ZERO);
}
