import { Temporal } from 'temporal-polyfill';
import type { DayRange } from '../facts.ts';
import { isAmount, isFilled, type Rule, rulesOf } from './rule.ts';

const isInOrder = (range: DayRange | null): boolean =>
  range === null || Temporal.PlainDate.compare(range.from, range.to) <= 0;

/** What the document and each of its lines name: numbers, units, prices, periods, reasons and terms. */
export const documentRules: readonly Rule[] = rulesOf(
  ['en16931'],
  [
    {
      id: 'BR-02',
      side: 'document',
      field: 'number',
      text: 'A document has a number.',
      test: ({ number }) => isFilled(number),
    },
    {
      id: 'BR-16',
      side: 'document',
      field: 'fees',
      text: 'A document has at least one line.',
      test: ({ lines }) => lines.length > 0,
    },
    {
      id: 'BR-22',
      side: 'document',
      field: 'fees.units',
      text: 'Every line has a quantity.',
      test: ({ lines }) => lines.every(({ quantity }) => quantity.isFinite()),
    },
    {
      id: 'BR-23',
      side: 'document',
      field: 'unit_code',
      text: 'Every line has a unit.',
      test: ({ lines }) => lines.every(({ unit }) => isFilled(unit)),
    },
    {
      id: 'BR-24',
      side: 'document',
      field: 'fees.amount_cents',
      text: 'Every line has an amount.',
      test: ({ lines }) => lines.every(({ amountCents }) => isAmount(amountCents)),
    },
    {
      id: 'BR-25',
      side: 'document',
      field: 'fees.item.name',
      text: 'Every line has a name.',
      test: ({ lines }) => lines.every(({ name }) => isFilled(name)),
    },
    {
      id: 'BR-26',
      side: 'document',
      field: 'fees.precise_unit_amount',
      text: 'Every line has a price.',
      test: ({ lines }) => lines.every(({ price }) => !price.isNaN()),
    },
    {
      id: 'BR-27',
      side: 'document',
      field: 'fees.precise_unit_amount',
      text: 'No price is negative.',
      test: ({ lines }) => lines.every(({ price }) => !price.lt(0)),
    },
    {
      id: 'BR-29',
      side: 'document',
      field: 'fees.to_date',
      text: 'The document’s period does not end before it begins.',
      test: ({ period }) => isInOrder(period),
    },
    {
      id: 'BR-30',
      side: 'document',
      field: 'fees.to_date',
      text: 'No line’s period ends before it begins.',
      test: ({ lines }) => lines.every(({ period }) => isInOrder(period)),
    },
    {
      id: 'BR-33',
      side: 'document',
      field: 'coupons',
      text: 'Every allowance has a reason.',
      test: ({ allowances }) => allowances.every((each) => each.isCharge || isFilled(each.reason ?? each.reasonCode)),
    },
    {
      id: 'BR-38',
      side: 'document',
      field: 'coupons',
      text: 'Every charge has a reason.',
      test: ({ allowances }) => allowances.every((each) => !each.isCharge || isFilled(each.reason ?? each.reasonCode)),
    },
    {
      id: 'BR-55',
      side: 'document',
      field: 'number',
      text: 'A preceding invoice is named by its number.',
      test: ({ preceding }) => preceding.every(({ number }) => isFilled(number)),
    },
    {
      id: 'BR-CO-25',
      side: 'document',
      field: 'payment_due_date',
      text: 'An amount due has a date or terms.',
      test: ({ kind, totals, dueOn, terms }) =>
        kind === 'CreditNote' || !(totals.payableCents > 0) || dueOn !== null || isFilled(terms),
    },
  ],
);
