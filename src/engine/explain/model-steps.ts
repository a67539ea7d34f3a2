import { type Decimal, decimal, max, sum, ZERO } from '../money/decimal.ts';
import { amountOf } from '../pricing/amount-text.ts';
import type { Properties } from '../pricing/charge-model.ts';
import type { ChargeModelName } from '../pricing/charge-models.ts';
import { converted, dynamicTerms, markedUp } from '../pricing/dynamic.ts';
import { figuresOf, hasLimits } from '../pricing/percentage.ts';
import { percentageTerms } from '../pricing/percentage-terms.ts';
import { price } from '../pricing/price.ts';
import type { Usage } from '../pricing/priced.ts';
import { proratedPieces } from '../pricing/prorated-graduated.ts';
import { enteredRanges, rangesOf } from '../pricing/ranges.ts';
import { type RunningTotals, runningTotals } from '../pricing/running-totals.ts';
import { chargedRuns, transactionCost } from '../pricing/transaction-limits.ts';
import type { Recorder } from './explanation-step.ts';

/** How many single events or pieces are shown at most; the rest is one sum. Rule: fee-explanations.md. */
const MOST_SHOWN = 100;

const RULE = 'D.5';

/**
 * Records how a charge model turns rounded usage into an amount, and returns it: in the main unit, not rounded.
 *
 * totals of a percentage charge, if they differ from those of the usage
 *
 * Rule: fee-explanations.md, the rows of charge models.
 */
export function modelSteps(
  recorder: Recorder,
  name: ChargeModelName,
  properties: Properties,
  usage: Usage,
  totals?: RunningTotals,
): Decimal {
  switch (name) {
    case 'standard':
      return priceUnits(recorder, usage.units, amountOf(properties.amount));
    case 'graduated':
      return usage.moves === undefined
        ? tiers(recorder, properties, usage, 'graduated_ranges')
        : pieces(recorder, properties, usage);
    case 'graduated_percentage':
      return tiers(recorder, properties, usage, 'graduated_percentage_ranges');
    case 'volume':
      return volume(recorder, properties, usage);
    case 'package':
      return packages(recorder, properties, usage);
    case 'percentage':
      return percentage(recorder, properties, usage, totals);
    case 'dynamic': {
      const amount = usage.units.isZero() ? ZERO : (usage.preciseTotalAmount ?? ZERO);
      recorder.add('sum_event_amounts', { units: usage.units, events_count: usage.eventsCount }, amount, RULE);
      return withTerms(recorder, amount, properties);
    }
    default:
      return price(name, properties, usage).amount;
  }
}

/** Conversion and markup of a dynamic charge, where it has them. */
function withTerms(recorder: Recorder, sum: Decimal, properties: Properties): Decimal {
  const terms = dynamicTerms(properties);
  let amount = sum;
  if (properties.conversion_rate !== undefined) {
    const { amount_currency: from = null } = properties;
    amount = converted(sum, terms);
    recorder.add('convert', { amount: sum, rate: terms.conversionRate, from }, amount, RULE);
  }
  if (properties.markup_rate === undefined) return amount;
  const before = amount;
  amount = markedUp(before, terms);
  recorder.add('markup', { amount: before, percent: terms.markupRate }, amount, RULE);
  return amount;
}

function priceUnits(recorder: Recorder, units: Decimal, unitAmount: Decimal): Decimal {
  const amount = units.times(unitAmount);
  recorder.add('price_units', { units, unit_amount: unitAmount }, amount, RULE);
  return amount;
}

function total(recorder: Recorder, terms: readonly Decimal[]): Decimal {
  const amount = sum(terms);
  recorder.add('sum', { terms }, amount);
  return amount;
}

function tiers(
  recorder: Recorder,
  properties: Properties,
  usage: Usage,
  key: 'graduated_ranges' | 'graduated_percentage_ranges',
): Decimal {
  const isPercentage = key === 'graduated_percentage_ranges';
  const terms = enteredRanges(rangesOf(properties, key), usage.units).map((range) => {
    const flat = amountOf(range.properties.flat_amount);
    const perUnit = amountOf(isPercentage ? range.properties.rate : range.properties.per_unit_amount);
    const ofUnits = range.units.times(perUnit);
    const amount = (isPercentage ? ofUnits.div(100) : ofUnits).plus(flat);
    recorder.add(
      'price_tier',
      {
        from: range.from,
        to: range.to,
        units: range.units,
        ...(isPercentage ? { rate: perUnit } : { per_unit: perUnit }),
        flat,
      },
      amount,
      RULE,
    );
    return amount;
  });
  return total(recorder, terms);
}

function pieces(recorder: Recorder, properties: Properties, usage: Usage): Decimal {
  const moves = usage.moves!;
  const ranges = rangesOf(properties, 'graduated_ranges');
  const { pieces: all, flat, fullUnits } = proratedPieces(usage, moves, ranges);
  const shown = all.slice(0, MOST_SHOWN);
  for (const { full, weighed, perUnit, tier } of shown) {
    const cost = weighed.times(perUnit).div(moves.divisor);
    recorder.add(
      'price_piece',
      { full, prorated: weighed.div(moves.divisor), tier, per_unit: perUnit, sign: full.isNegative() ? -1 : 1 },
      cost,
      RULE,
    );
  }
  const costOf = (list: typeof all) => sum(list.map(({ weighed, perUnit }) => weighed.times(perUnit)));
  const rest = costOf(all.slice(MOST_SHOWN)).div(moves.divisor);
  if (all.length > MOST_SHOWN) recorder.add('price_pieces', { pieces: all.length - MOST_SHOWN }, rest, RULE);
  if (isBelowZero(fullUnits)) return total(recorder, [ZERO]);
  recorder.add('flat_amounts', {}, flat, RULE);
  return total(recorder, [max(costOf(all).div(moves.divisor), ZERO), flat]);
}

const isBelowZero = (value: Decimal): boolean => value.isNegative() && !value.isZero();

function volume(recorder: Recorder, properties: Properties, usage: Usage): Decimal {
  const quantity = usage.fullUnits ?? usage.units;
  const reached = quantity.ceil();
  const ranges = rangesOf(properties, 'volume_ranges');
  const range = ranges.find(({ from, to }) => from.lte(reached) && (to === null || quantity.lte(to))) ?? ranges.at(-1)!;
  const name = `${range.from.toFixed()}–${range.to?.toFixed() ?? '∞'}`;
  recorder.add('choose_tier', { units: quantity, rounded_up: reached, from: range.from, to: range.to }, name, RULE);
  const ofUnits = priceUnits(recorder, usage.units, amountOf(range.properties.per_unit_amount));
  const flat = amountOf(range.properties.flat_amount);
  recorder.add('flat_amounts', {}, flat, RULE);
  return total(recorder, [ofUnits, flat]);
}

function packages(recorder: Recorder, { amount, package_size, free_units }: Properties, { units }: Usage): Decimal {
  const free = decimal(free_units as number);
  const size = decimal(package_size as number);
  const paid = max(units.minus(free), ZERO);
  recorder.add('free_units', { units, free_units: free }, paid, RULE);
  const count = paid.div(size).ceil();
  recorder.add('count_packages', { units: paid, package_size: size }, count, RULE);
  return priceUnits(recorder, count, amountOf(amount));
}

function percentage(recorder: Recorder, properties: Properties, usage: Usage, given?: RunningTotals): Decimal {
  const terms = percentageTerms(properties);
  const totals = given ?? runningTotals(usage, terms.free);
  if (hasLimits(terms)) return events(recorder, usage, terms);
  const figures = figuresOf(usage, terms, totals);
  recorder.add(
    'free_units',
    { units: usage.units, free_units: usage.units.minus(figures.paidUnits) },
    figures.paidUnits,
    RULE,
  );
  const counted = { events_count: usage.eventsCount, free_events: figures.freeEvents };
  recorder.add('free_events', counted, decimal(figures.paidEvents), RULE);
  recorder.add('price_rate', { units: figures.paidUnits, rate: terms.rate }, figures.unitsTotal, RULE);
  const fixed = { events: figures.paidEvents, fixed_amount: terms.fixedAmount };
  recorder.add('fixed_fees', fixed, figures.fixedTotal, RULE);
  return total(recorder, [figures.unitsTotal, figures.fixedTotal]);
}

function events(recorder: Recorder, usage: Usage, terms: ReturnType<typeof percentageTerms>): Decimal {
  const { rate, fixedAmount, minAmount, maxAmount } = terms;
  const runs = chargedRuns(usage, terms.free).filter(({ times }) => times > 0);
  const costs: Decimal[] = [];
  for (const { value, times } of runs) {
    const cost = transactionCost(value, terms);
    const shown = Math.max(Math.min(times, MOST_SHOWN - costs.length), 0);
    for (let n = 0; n < shown; n += 1) {
      const raw = value.times(rate).div(100).plus(fixedAmount);
      const clamp = raw.lt(cost) ? 'minimum' : raw.gt(cost) ? 'maximum' : 'none';
      recorder.add(
        'price_event',
        { value, rate, fixed_amount: fixedAmount, raw, minimum: minAmount, maximum: maxAmount, clamp },
        cost,
        RULE,
      );
      costs.push(cost);
    }
  }
  const whole = runs.reduce<Decimal>(
    (amount, { value, times }) => amount.plus(transactionCost(value, terms).times(times)),
    ZERO,
  );
  const count = runs.reduce((number, { times }) => number + times, 0);
  if (count <= costs.length) return total(recorder, costs);
  const rest = whole.minus(sum(costs));
  recorder.add('price_events', { events: count - costs.length }, rest, RULE);
  return total(recorder, [sum(costs), rest]);
}
