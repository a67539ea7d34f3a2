import { assert } from '../assert.ts';
import { type Currency, exponentOf, isCurrency } from '../money/currency.ts';
import { type Decimal, decimal, ONE, ZERO } from '../money/decimal.ts';
import { amountOf, isAmountText } from './amount-text.ts';
import type { ChargeModel, Properties } from './charge-model.ts';
import { type Denomination, priceExponent } from './fee-amounts.ts';
import type { Priced, Usage } from './priced.ts';
import { unitAmountOf } from './unit-amount.ts';

/** Fractional digits of a conversion rate. */
const RATE_DIGITS = 15;
const MARKUP = /^-?\d+(?:\.\d+)?$/;
/** Longest text of a markup. */
const MARKUP_TEXT_MAX = 64;
const [MARKUP_MIN, MARKUP_MAX] = [-100, 10_000];
const HUNDRED = 100;

/** What a dynamic charge makes of the amounts of its events. */
export interface DynamicTerms {
  /** Main units of the plan's currency for one of the events' currency. */
  conversionRate: Decimal;
  /** Percent. */
  markupRate: Decimal;
}

/** The terms of properties that passed validation; without any, events are billed as they are. */
export const dynamicTerms = ({ conversion_rate: rate, markup_rate: markup }: Properties): DynamicTerms => ({
  conversionRate: isBlank(rate) ? ONE : amountOf(rate),
  markupRate: isBlank(markup) ? ZERO : decimal(markup as string),
});

/** Decimals of the currency of the events' amounts: that of `amount_currency`, else that of the charge's prices. */
export const eventAmountExponent = ({ amount_currency: currency }: Properties, denomination: Denomination): number =>
  isBlank(currency) ? priceExponent(denomination) : exponentOf(currency as Currency);

/** An amount of events in the currency of the charge's prices, before the markup. */
export const converted = (amount: Decimal, { conversionRate }: DynamicTerms): Decimal => amount.times(conversionRate);

/** The same with the markup. */
export const markedUp = (amount: Decimal, { markupRate }: DynamicTerms): Decimal =>
  amount.times(markupRate.div(HUNDRED).plus(ONE));

/**
 * Price of usage whose events name their own amounts: the sum of these, converted and marked up, 0 without units.
 *
 *   1234.56 and 2.1 cents → 12.3666; at 0.92 and 20 % → 13.6527264
 *
 * Rule: charge-models.md#dynamic.
 */
export function dynamicPrice(usage: Usage, terms: DynamicTerms): Priced {
  assert(usage.preciseTotalAmount, 'usage of a dynamic charge comes with the amounts of its events');
  const amount = usage.units.isZero() ? ZERO : markedUp(converted(usage.preciseTotalAmount, terms), terms);
  return { amount, unitAmount: unitAmountOf(amount, usage), details: {} };
}

/** Codes of what is wrong with the properties of a dynamic charge. */
function faults({ amount_currency: currency, conversion_rate: rate, markup_rate: markup }: Properties): string[] {
  const checks: [boolean, string][] = [
    [isBlank(currency) || (typeof currency === 'string' && isCurrency(currency)), 'invalid_amount_currency'],
    [isBlank(rate) || isRate(rate), 'invalid_conversion_rate'],
    [isBlank(markup) || isMarkup(markup), 'invalid_markup_rate'],
  ];
  return checks.filter(([isFine]) => !isFine).map(([, code]) => code);
}

const isRate = (rate: unknown): boolean =>
  isAmountText(rate) && decimal(rate).gt(0) && decimal(rate).decimalPlaces() <= RATE_DIGITS;

const isMarkup = (markup: unknown): boolean =>
  typeof markup === 'string' &&
  markup.length <= MARKUP_TEXT_MAX &&
  MARKUP.test(markup) &&
  decimal(markup).gte(MARKUP_MIN) &&
  decimal(markup).lte(MARKUP_MAX);

const isBlank = (value: unknown): boolean => value === undefined || value === null || value === '';

export const dynamic: ChargeModel = {
  defaults: {},
  keys: ['amount_currency', 'conversion_rate', 'markup_rate'],
  faults,
  stored: (properties) => Object.fromEntries(Object.entries(properties).filter(([, value]) => !isBlank(value))),
  price: (properties, usage) => dynamicPrice(usage, dynamicTerms(properties)),
};

/** Why a rate has to be there, or must not: whether both currencies are one. Rule: charge-models.md#dynamic. */
export function conversionFaults(
  { amount_currency: amounts, conversion_rate: rate }: Properties,
  { currency, hasPricingUnit }: { currency: string; hasPricingUnit: boolean },
): Record<string, string[]> {
  if (hasPricingUnit) return isBlank(rate) ? {} : { conversion_rate: ['value_must_be_blank'] };
  const isOther = !isBlank(amounts) && amounts !== currency;
  return isOther && isBlank(rate) ? { conversion_rate: ['value_is_mandatory'] } : {};
}
