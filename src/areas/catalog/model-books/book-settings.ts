import { COST_SOURCES, type CostSource } from '../../../engine/ai/rating/rate.ts';
import { type Currency, isCurrency } from '../../../engine/money/currency.ts';
import { own } from '../../../engine/own.ts';

/** What the price book needs of an organization's settings. Rule: price-book.md#settings. */
export interface BookSettings {
  currency: Currency;
  /** Whether prices of the deployment count where the organization has none. */
  usesDeployment: boolean;
  costSource: CostSource;
  /** Properties by which margins are shown apart. */
  marginDimensions: readonly string[];
}

/** In which the deployment's prices stand. */
const DEPLOYMENT_CURRENCY: Currency = 'USD';
const DEFAULTS: BookSettings = { currency: 'USD', usesDeployment: true, costSource: 'book', marginDimensions: [] };

/**
 * Settings of the book from those that were stored; what was not set has its default. Prices of the deployment count in
 * no book of another currency.
 */
export function bookSettings(stored: Readonly<Record<string, unknown>>): BookSettings {
  const set = own(stored, 'book_currency');
  const source = own(stored, 'cost_source');
  const currency = typeof set === 'string' && isCurrency(set) ? set : DEFAULTS.currency;
  return {
    currency,
    usesDeployment: own(stored, 'use_deployment_prices') !== false && currency === DEPLOYMENT_CURRENCY,
    costSource: COST_SOURCES.find((each) => each === source) ?? DEFAULTS.costSource,
    marginDimensions: (own(stored, 'margin_dimensions') as string[] | undefined) ?? DEFAULTS.marginDimensions,
  };
}
