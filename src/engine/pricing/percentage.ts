import { type Decimal, decimalText, max, ZERO } from '../money/decimal.ts';
import type { ChargeModel, Properties } from './charge-model.ts';
import { type PercentageTerms, percentageFaults, percentageTerms, storedPercentage } from './percentage-terms.ts';
import type { AmountDetails, EventPrice, EventsNeeded, EventUsage, Priced, Usage } from './priced.ts';
import { freeEvents, freeUnits, type RunningTotals, runningTotals } from './running-totals.ts';
import { type TransactionTerms, transactionsPrice } from './transaction-limits.ts';
import { unitAmountOf } from './unit-amount.ts';

/** Figures of a price, before they become texts. */
export interface Figures {
  amount: Decimal;
  units: Decimal;
  paidUnits: Decimal;
  freeEvents: number;
  paidEvents: number;
  unitsTotal: Decimal;
  fixedTotal: Decimal;
  adjustment: Decimal;
}

/**
 * Price of usage as a percentage of its units and a fixed amount for each event, after free units and events; with
 * limits per event, each event is priced alone.
 *
 *   1.3 % + 2, the first 3 events or 250 units free; 50, 100, 250, 400 → 550 × 1.3 % + 2 × 2 = 11.15
 *
 * Rule: charge-models.md#percentage.
 */
export function percentagePrice(usage: Usage, properties: Properties): Priced {
  const terms = percentageTerms(properties);
  const figures = figuresOf(usage, terms, runningTotals(usage, terms.free));
  return {
    amount: figures.amount,
    unitAmount: unitAmountOf(figures.amount, usage),
    details: detailsOf(figures, terms),
  };
}

/**
 * Price of one event in advance. For the price without the event, its value is left out of the events priced alone, but
 * not of the running totals.
 *
 * Rules: in-advance.md#units-of-one-event, charge-models.md#in-advance-details.
 */
export function percentageEventPrice({ including, before }: EventUsage, properties: Properties): EventPrice {
  const terms = percentageTerms(properties);
  const totals = runningTotals(including, terms.free);
  const after = figuresOf(including, terms, totals);
  const former = figuresOf({ ...before, values: including.values?.slice(0, -1) }, terms, totals);
  const difference: Figures = {
    amount: after.amount.minus(former.amount),
    units: after.units.minus(former.units),
    paidUnits: after.paidUnits.minus(former.paidUnits),
    freeEvents: after.freeEvents - former.freeEvents,
    paidEvents: after.paidEvents - former.paidEvents,
    unitsTotal: after.unitsTotal.minus(former.unitsTotal),
    fixedTotal: after.fixedTotal.minus(former.fixedTotal),
    adjustment: after.adjustment.minus(former.adjustment),
  };
  return {
    amount: difference.amount,
    details: { ...detailsOf(difference, terms), fixed_fee_unit_amount: fixedUnitAmount(after, terms) },
  };
}

/** Rule: charge-models.md#percentage. */
export function figuresOf(usage: Usage, terms: PercentageTerms, totals: RunningTotals): Figures {
  const paidUnits = max(usage.units.minus(freeUnits(totals, terms.free)), ZERO);
  const unitsTotal = paidUnits.times(terms.rate).div(100);
  const free = Math.min(freeEvents(totals, terms.free), usage.eventsCount);
  const paidEvents = usage.eventsCount - free;
  const fixedTotal = usage.units.isZero() ? ZERO : terms.fixedAmount.times(paidEvents);
  const plain = unitsTotal.plus(fixedTotal);
  const amount = hasLimits(terms) ? transactionsPrice(usage, terms.free, terms) : plain;
  return {
    amount,
    units: usage.units,
    paidUnits,
    freeEvents: free,
    paidEvents,
    unitsTotal,
    fixedTotal,
    adjustment: amount.minus(plain),
  };
}

const detailsOf = (figures: Figures, terms: PercentageTerms): AmountDetails => ({
  units: decimalText(figures.units),
  free_units: decimalText(figures.units.minus(figures.paidUnits)),
  free_events: figures.freeEvents,
  paid_units: decimalText(figures.paidUnits),
  rate: decimalText(terms.rate),
  per_unit_total_amount: decimalText(figures.unitsTotal),
  paid_events: figures.paidEvents,
  fixed_fee_unit_amount: fixedUnitAmount(figures, terms),
  fixed_fee_total_amount: decimalText(figures.fixedTotal),
  min_max_adjustment_total_amount: decimalText(figures.adjustment),
});

const fixedUnitAmount = ({ paidEvents }: Figures, { fixedAmount }: PercentageTerms): string =>
  decimalText(paidEvents > 0 ? fixedAmount : ZERO);

/** Whether single events are priced alone. */
export const hasLimits = ({ minAmount, maxAmount }: TransactionTerms): boolean =>
  minAmount !== null || maxAmount !== null;

function neededOf(properties: Properties, aggregation: Usage['aggregation']): EventsNeeded {
  const terms = percentageTerms(properties);
  const isSum = aggregation === 'sum_agg';
  if (hasLimits(terms)) return isSum || aggregation === 'max_agg' ? 'all' : 'none';
  if (!isSum) return 'none';
  if (terms.free.perEvents > 0) return { first: terms.free.perEvents };
  return terms.free.perTotal.isZero() ? 'none' : { untilSumAbove: terms.free.perTotal };
}

export const percentage: ChargeModel = {
  defaults: { rate: '0' },
  keys: [
    'rate',
    'fixed_amount',
    'free_units_per_events',
    'free_units_per_total_aggregation',
    'per_transaction_min_amount',
    'per_transaction_max_amount',
  ],
  faults: percentageFaults,
  stored: storedPercentage,
  price: (properties, usage) => percentagePrice(usage, properties),
  priceEvent: (properties, usage) => percentageEventPrice(usage, properties),
  eventsNeeded: neededOf,
};
