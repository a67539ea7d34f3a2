import type { RankedFilter } from '../metrics/choose-filter.ts';
import { roundUnits } from '../metrics/round-units.ts';
import { type Decimal, decimal, max, sum, ZERO } from '../money/decimal.ts';
import { dueRuns } from '../pricing/due-runs.ts';
import { feeAmounts } from '../pricing/fee-amounts.ts';
import { countWithout, inAdvanceFee } from '../pricing/in-advance-fee.ts';
import { percentageTerms } from '../pricing/percentage-terms.ts';
import type { Usage } from '../pricing/priced.ts';
import { runningTotals } from '../pricing/running-totals.ts';
import { usageFee } from '../pricing/usage-fee.ts';
import { recordAmounts } from './amount-steps.ts';
import type { Computed } from './computed-fee.ts';
import { newRecorder, type Recorder } from './explanation-step.ts';
import { bucketOf } from './filter-of-usage.ts';
import { modelSteps } from './model-steps.ts';
import { denominationOf, given, usageOf, usageOfEvent } from './read-stored-inputs.ts';
import type { DayCount, StoredEvent, StoredFeeInputs } from './stored-inputs.ts';

const LOCAL_DATES: DayCount = 'local_dates';

/** How many pieces of prorated units are shown at most; the rest is one sum. Rule: fee-explanations.md. */
const MOST_PIECES = 100;

/** A usage fee of a period. Rule: fee-explanations.md "charge, all models". */
export function usageSteps(recorder: Recorder, inputs: StoredFeeInputs): Computed {
  const { price } = inputs;
  const metric = given(inputs.metric);
  const usage = usageOf(inputs);
  const name = given(price.charge_model);
  const properties = given(price.properties);
  chooseBucket(recorder, inputs);
  recorder.add(
    'select_window',
    { from: inputs.window.fee.from, to: inputs.window.fee.to, carries_over: metric.recurring },
    metric.recurring ? 'all events up to its end' : 'events of the window',
    metric.recurring ? 'C.3' : 'C.1',
  );
  aggregate(recorder, inputs, usage.fullUnits ?? usage.units);
  if (usage.fullUnits !== undefined) prorateUnits(recorder, usage);
  const units = roundUnits(usage.units, metric);
  if (metric.rounding_function !== null)
    recorder.add(
      'round_units',
      { units: usage.units, function: metric.rounding_function, precision: metric.rounding_precision ?? 0 },
      units,
      'B.5',
    );
  const rounded: Usage = {
    ...usage,
    units,
    ...(usage.fullUnits === undefined ? {} : { fullUnits: max(roundUnits(usage.fullUnits, metric), ZERO) }),
  };
  const exact = isBelowZero(units) ? units : modelSteps(recorder, name, properties, rounded);
  const amount = floored(recorder, exact);
  const denomination = denominationOf(inputs);
  const fee = usageFee({ charge_model: name, properties, usage, metric, ...denomination });
  const explained = recordAmounts(recorder, feeAmounts({ amount, unitAmount: ZERO }, denomination), denomination);
  return { ...fee, explainedCents: explained };
}

/** The fee of one event in advance. Rules: fee-explanations.md "in advance", in-advance.md#units-of-one-event. */
export function eventSteps(recorder: Recorder, inputs: StoredFeeInputs, event: StoredEvent): Computed {
  const { price } = inputs;
  const name = given(price.charge_model);
  const properties = given(price.properties);
  const billed = decimal(event.billed);
  const ownAmount = decimal(event.own_amount);
  chooseBucket(recorder, inputs);
  aggregate(recorder, inputs, decimal(event.units));
  const { current, max: highest } = event.running_record;
  recorder.add(
    'running_record',
    {
      current: decimal(current),
      max: decimal(highest).minus(billed.isZero() ? ZERO : decimal(event.units)),
      event: event.transaction_id,
    },
    billed,
    'C.10',
  );
  const usage = usageOfEvent(inputs, event);
  const including: Usage = { ...usage, units: max(usage.units, ZERO) };
  const before: Usage = {
    ...usage,
    units: max(usage.units.minus(billed), ZERO),
    eventsCount: countWithout(usage, billed),
    ...(usage.preciseTotalAmount === undefined
      ? {}
      : { preciseTotalAmount: usage.preciseTotalAmount.minus(ownAmount) }),
  };
  const totals = name === 'percentage' ? runningTotals(including, percentageTerms(properties).free) : undefined;
  const isFirstTier = name === 'graduated' || name === 'graduated_percentage';
  const withIt = newRecorder();
  const billedBefore = event.billed_before;
  // For other models zero usage costs nothing.
  const due = isFirstTier ? dueRuns({ before }, { billed, billedBefore }) : { including: true, before: true };
  const withAmount = due.including ? modelSteps(withIt, name, properties, including, totals) : ZERO;
  recorder.addNested('price_with', { units: including.units }, withAmount, withIt.steps, 'C.10');
  const without = newRecorder();
  const formerUsage =
    name === 'percentage' && before.values !== undefined ? { ...before, values: before.values.slice(0, -1) } : before;
  const withoutAmount = due.before ? modelSteps(without, name, properties, formerUsage, totals) : ZERO;
  recorder.addNested('price_without', { units: before.units }, withoutAmount, without.steps, 'C.10');
  const difference = withAmount.minus(withoutAmount);
  recorder.add('difference', { with: withAmount, without: withoutAmount }, difference);
  const amount = floored(recorder, difference);
  const denomination = denominationOf(inputs);
  const fee = inAdvanceFee({
    charge_model: name,
    properties,
    usage,
    event: { billed, units: decimal(event.units), preciseTotalAmount: ownAmount, billedBefore },
    ...denomination,
  });
  const explained = recordAmounts(recorder, feeAmounts({ amount, unitAmount: ZERO }, denomination), denomination);
  return { ...fee, explainedCents: explained };
}

const isBelowZero = (value: Decimal): boolean => value.isNegative() && !value.isZero();

function floored(recorder: Recorder, amount: Decimal): Decimal {
  if (!isBelowZero(amount)) return amount;
  recorder.add('floor_at_zero', { amount }, ZERO, 'D.5');
  return ZERO;
}

function aggregate(recorder: Recorder, { metric, usage }: StoredFeeInputs, units: Decimal): void {
  const { aggregation_type: aggregation, field_name } = given(metric);
  const groups = Object.entries(usage?.grouped_by ?? {});
  if (groups.length > 0)
    recorder.add('group', usage!.grouped_by!, groups.map(([key, value]) => `${key}=${value}`).join(', '), 'C.6');
  recorder.add(
    'aggregate',
    { aggregation, field_name, events_count: usage?.events_count ?? 0 },
    units,
    aggregation === 'weighted_sum_agg' ? 'C.7' : 'C.2',
  );
}

function prorateUnits(recorder: Recorder, { units, fullUnits, moves }: Usage): void {
  if (moves === undefined) {
    recorder.add('prorate_units', { full_units: fullUnits, days_counted_by: LOCAL_DATES }, units, 'C.8');
    return;
  }
  const { list, divisor } = moves;
  for (const { full, weighed } of list.slice(0, MOST_PIECES)) {
    const days = full.isZero() ? ZERO : weighed.div(full);
    recorder.add(
      'prorate_units',
      { value: full, days, duration: divisor, weight: days.div(divisor), days_counted_by: LOCAL_DATES },
      weighed.div(divisor),
      'C.8',
    );
  }
  if (list.length > MOST_PIECES) {
    const rest = list.slice(MOST_PIECES);
    recorder.add('prorate_units', { pieces: rest.length }, sum(rest.map(({ weighed }) => weighed)).div(divisor), 'C.8');
  }
  recorder.add('sum', { terms: list.length }, units);
}

/** The filter that took the events, and the rule that decided. Rule: groups-and-filters.md#matching-filters. */
function chooseBucket(recorder: Recorder, inputs: StoredFeeInputs): void {
  const { own, rivals, rule } = bucketOf(inputs);
  const name = rivals.length === 0 && own === undefined ? 'no_filter_on_charge' : RULE_NAMES[rule];
  recorder.add(
    'choose_bucket',
    {
      filter: own === undefined ? null : listed(own),
      candidates: rivals.map(listed),
      rule: name,
      ...(rule === 0 ? {} : { rule_number: rule }),
    },
    own?.filter.id ?? 'default',
    'C.5',
  );
}

const listed = ({ values }: RankedFilter<unknown>) =>
  Object.fromEntries([...values].map(([key, texts]) => [key, [...texts]]));

const RULE_NAMES = {
  0: 'only_filter_that_matches',
  1: 'no_filter_matches',
  2: 'most_keys',
  3: 'narrower_values',
  4: 'oldest_filter',
} as const;
