import type { Temporal } from 'temporal-polyfill';
import type { Period } from '../../../engine/calendar/period.ts';
import { type Currency, exponentOf } from '../../../engine/money/currency.ts';
import { type Decimal, decimal } from '../../../engine/money/decimal.ts';
import { toMainUnit } from '../../../engine/money/units.ts';

/** Decimals of a unit price and of units that are still shown; prices of a fraction of a cent are common. */
const PRICE_DIGITS = 12;
const UNIT_DIGITS = 6;

export type Format = ReturnType<typeof formatOf>;

/**
 * Formats figures and dates in a language exactly: figures are passed as text, never as floats. Decimals of amounts are
 * those of ISO 4217, whatever `Intl` says.
 *
 * @param zone in which the days of a period are counted
 */
export function formatOf(locale: string, currency: Currency, zone: string) {
  const exponent = exponentOf(currency);
  const money = (maximumFractionDigits: number) =>
    new Intl.NumberFormat(locale, {
      style: 'currency',
      currency,
      minimumFractionDigits: exponent,
      maximumFractionDigits,
    });
  const [amounts, prices] = [money(exponent), money(PRICE_DIGITS)];
  const plain = new Intl.NumberFormat(locale, { maximumFractionDigits: UNIT_DIGITS });
  const percents = new Intl.NumberFormat(locale, { style: 'percent', maximumFractionDigits: UNIT_DIGITS });
  const days = new Intl.NumberFormat(locale, { style: 'unit', unit: 'day', unitDisplay: 'long' });
  const countries = new Intl.DisplayNames(locale, { type: 'region' });
  const date = (day: Temporal.PlainDate): string => day.toLocaleString(locale, { dateStyle: 'medium' });
  return {
    /** In the smallest unit: 123456 → 1,234.56. */
    amount: (cents: number): string => amounts.format(exactly(toMainUnit(decimal(cents), exponent))),
    /** In the main unit, with the digits that it has. */
    price: (price: Decimal | string): string => prices.format(exactly(decimal(price))),
    units: (units: Decimal | string | number): string => plain.format(exactly(decimal(units))),
    /** 20 → 20%. */
    percent: (rate: Decimal | string | number): string => percents.format(exactly(decimal(rate).div(100))),
    days: (count: number): string => days.format(count),
    date,
    /** First and last day of a half-open period; one day stands alone. */
    period({ from, to }: Period): string {
      const day = (at: Temporal.Instant) => at.toZonedDateTimeISO(zone).toPlainDate();
      const [first, last] = [day(from), day(to.subtract({ microseconds: 1 }))];
      return first.equals(last) ? date(first) : `${date(first)} – ${date(last)}`;
    },
    country: (code: string): string => countries.of(code) ?? code,
  };
}

// The formatter takes decimal texts of any length; its type names numbers only in this form.
const exactly = (value: Decimal) => value.toFixed() as unknown as number;

/** Puts values into the braces of a text: `Page {page}`. */
export const fill = (text: string, values: Record<string, string>): string =>
  text.replace(/\{(\w+)\}/g, (brace, name: string) => values[name] ?? brace);
