import { cents, roundToCents, subtractCents } from '../money/cents.ts';
import { type Decimal, decimal, ONE, ZERO } from '../money/decimal.ts';
import { PRECISE_AMOUNT_DIGITS, roundToDigits } from '../money/precision.ts';
import { toMainUnit, toSmallestUnit } from '../money/units.ts';
import { feeAmounts } from '../pricing/fee-amounts.ts';
import { fixedChargeFee } from '../pricing/fixed-charge-fee.ts';
import { PRICING_UNIT_EXPONENT, toCurrency } from '../pricing/pricing-unit.ts';
import { spendingTrueUp } from '../pricing/spending-minimum.ts';
import { recordAmounts } from './amount-steps.ts';
import type { Computed } from './computed-fee.ts';
import type { Recorder } from './explanation-step.ts';
import { newRecorder } from './explanation-step.ts';
import { modelSteps } from './model-steps.ts';
import { denominationOf, given } from './read-stored-inputs.ts';
import type { DayCount, StoredFacts, StoredFeeInputs } from './stored-inputs.ts';
import { commitmentSteps, rounded, subscriptionSteps } from './subscription-steps.ts';

const DAY_DIFFERENCE: DayCount = 'day_difference';

type Facts<Kind extends StoredFacts['kind']> = Extract<StoredFacts, { kind: Kind }>;

/** The gap to a charge's spending minimum. Rules: minimums.md#true-up, pricing-units.md. */
export function trueUpSteps(recorder: Recorder, inputs: StoredFeeInputs, facts: Facts<'true_up'>): Computed {
  const { min_amount_cents: minimum, billedDays, periodDays } = facts;
  recorder.add('minimum', {}, `${minimum}`, 'D.7');
  const due = decimal(minimum).times(billedDays).div(periodDays);
  recorder.add(
    'prorate_minimum',
    { minimum_cents: minimum, days: billedDays, duration: periodDays, days_counted_by: DAY_DIFFERENCE },
    due,
    'D.7',
  );
  recorder.add('used', {}, `${facts.usedCents}`, 'D.7');
  const gap = due.minus(facts.usedCents);
  recorder.add('gap', { due_cents: due, used_cents: facts.usedCents }, gap, 'D.7');
  const missing = given(
    spendingTrueUp({
      ...facts,
      usedCents: cents(facts.usedCents),
      usedPreciseCents: decimal(facts.usedPreciseCents),
    }),
  );
  const denomination = denominationOf(inputs);
  const { conversionRate, exponent } = denomination;
  if (!conversionRate)
    return { ...rounded(recorder, inputs, gap, missing.amountCents, missing.preciseAmountCents), units: ONE };
  const converted = toCurrency(missing.amountCents, conversionRate, exponent);
  const inUnit = feeAmounts({ amount: toMainUnit(gap, PRICING_UNIT_EXPONENT), unitAmount: ZERO }, denomination);
  return { ...converted, explainedCents: recordAmounts(recorder, inUnit, denomination), units: ONE };
}

/** Units and price set by hand: by an adjustment of a draft, or by regenerating an invoice. */
export function byHandSteps(
  recorder: Recorder,
  { tail }: StoredFeeInputs,
  { units, unit_amount }: { units: string; unit_amount: string },
): Computed {
  const [count, each] = [decimal(units), decimal(unit_amount)];
  const amount = count.times(each);
  recorder.add('price_units', { units: count, unit_amount: each }, amount, 'F.6');
  const fee = feeAmounts({ amount, unitAmount: each }, tail);
  return { ...fee, units: count, explainedCents: recordAmounts(recorder, fee, tail) };
}

/**
 * Units set by hand for a fee that is not of usage: priced by its model, or that many times the fee.
 * Rule: usage-fees.md#adjusted-fees.
 */
export function adjustedUnitsSteps(recorder: Recorder, inputs: StoredFeeInputs, units: string): Computed {
  const { price, tail } = inputs;
  const count = decimal(units);
  if (inputs.fee_type === 'fixed_charge') {
    const model = given(price.charge_model);
    const fixed = { units: count, fullUnits: count };
    const charge = {
      charge_model: model as 'standard',
      properties: given(price.properties),
      prorated: price.prorated ?? false,
    };
    const fee = fixedChargeFee(charge, fixed, tail);
    const amount = modelSteps(recorder, model, charge.properties, { units: count, eventsCount: 0 });
    const explained = recordAmounts(recorder, feeAmounts({ amount, unitAmount: ZERO }, tail), tail);
    return { ...fee, explainedCents: explained };
  }
  const inner = newRecorder();
  const one =
    inputs.commitment === undefined
      ? subscriptionSteps(inner, inputs)
      : commitmentSteps(inner, inputs, inputs.commitment);
  const each = toMainUnit(one.preciseAmountCents, tail.exponent);
  recorder.addNested('price_with', {}, each, inner.steps, 'F.6');
  return byHandSteps(recorder, inputs, { units, unit_amount: each.toFixed() });
}

/** A fee copied from a voided invoice. Rule: invoice-operations.md#regenerate. */
export function copiedSteps(recorder: Recorder, { tail }: StoredFeeInputs, facts: Facts<'copied'>): Computed {
  const amountCents = cents(facts.amount_cents);
  recorder.add('copied_fee', { fee_id: facts.fee_id, exponent: tail.exponent }, `${amountCents}`, 'I:F.13');
  recorder.add('round_amount', { exponent: tail.exponent, mode: 'half_away_from_zero' }, `${amountCents}`, '0.2');
  return {
    amountCents,
    preciseAmountCents: decimal(facts.precise_amount_cents),
    units: decimal(facts.units),
    explainedCents: amountCents,
  };
}

/** The difference of corrected usage of an invoiced period. Rule: event-corrections.md#difference. */
export function correctionSteps(recorder: Recorder, { tail }: StoredFeeInputs, facts: Facts<'correction'>): Computed {
  const [before, after] = [cents(facts.old_amount_cents), cents(facts.new_amount_cents)];
  const amountCents = subtractCents(after, before);
  recorder.add('correction', { correction_id: facts.correction_id }, facts.reason, 'X:4.4');
  recorder.add('old', {}, `${before}`, 'X:4.4');
  recorder.add('new', {}, `${after}`, 'X:4.4');
  recorder.add('difference', { with: `${after}`, without: `${before}` }, `${amountCents}`, 'X:4.4');
  recorder.add('round_amount', { exponent: tail.exponent, mode: 'half_away_from_zero' }, `${amountCents}`, '0.2');
  return {
    amountCents,
    preciseAmountCents: decimal(amountCents),
    units: decimal(facts.units),
    explainedCents: amountCents,
  };
}

/** Rule: one-off-invoices.md. */
export function addOnSteps(recorder: Recorder, inputs: StoredFeeInputs): Computed {
  const unitCents = decimal(given(inputs.price.unit_amount_cents));
  const units = decimal(given(inputs.usage?.units));
  recorder.add('unit_amount', { add_on: inputs.price.add_on_code }, unitCents, 'I:H');
  recorder.add('units', {}, units, 'I:H');
  return cost(recorder, inputs, units, unitCents);
}

/** Bought credits: 5 decimals, at the rate of the wallet. Rule: wallets.md. */
export function creditSteps(recorder: Recorder, inputs: StoredFeeInputs): Computed {
  const credits = decimal(given(inputs.usage?.units));
  const rate = decimal(given(inputs.price.rate_amount));
  recorder.add('credits', {}, credits, 'M:D.2');
  recorder.add('rate', {}, rate, 'M:D.2');
  const fee = cost(recorder, inputs, credits, toSmallestUnit(rate, inputs.tail.exponent));
  return { ...fee, preciseAmountCents: decimal(fee.amountCents) };
}

function cost(recorder: Recorder, inputs: StoredFeeInputs, units: Decimal, unitCents: Decimal): Computed {
  const exact = units.times(unitCents);
  const precise = roundToDigits(exact, PRECISE_AMOUNT_DIGITS);
  return { ...rounded(recorder, inputs, exact, roundToCents(exact), precise), units };
}
