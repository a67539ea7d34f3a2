import { cents } from '../money/cents.ts';
import { decimal, max, ZERO } from '../money/decimal.ts';
import { toMainUnit } from '../money/units.ts';
import { feeAmounts } from '../pricing/fee-amounts.ts';
import { type FixedCharge, fixedChargeFee, unitsChangeFee, usageOfFixed } from '../pricing/fixed-charge-fee.ts';
import { recordAmounts } from './amount-steps.ts';
import type { Computed } from './computed-fee.ts';
import type { Recorder } from './explanation-step.ts';
import { modelSteps } from './model-steps.ts';
import { given } from './read-stored-inputs.ts';
import type { DayCount, StoredFacts, StoredFeeInputs } from './stored-inputs.ts';

const LOCAL_DATES: DayCount = 'local_dates';

type Facts<Kind extends StoredFacts['kind']> = Extract<StoredFacts, { kind: Kind }>;

const chargeOf = ({ price }: StoredFeeInputs): FixedCharge => ({
  charge_model: given(price.charge_model) as FixedCharge['charge_model'],
  properties: given(price.properties),
  prorated: price.prorated ?? false,
});

/**
 * The fee of a fixed charge for a period. Rules: fee-explanations.md "fixed_charge", fixed-charges.md#aggregation,
 * fixed-charges.md#fee-of-a-period.
 */
export function fixedSteps(recorder: Recorder, inputs: StoredFeeInputs, facts: Facts<'fixed_units'>): Computed {
  const fixedCharge = chargeOf(inputs);
  const units = { units: decimal(facts.units), fullUnits: decimal(facts.fullUnits) };
  const { exponent } = inputs.tail;
  recorder.add('unit_records', { records: facts.records }, units.fullUnits, 'E.3');
  recorder.add(
    fixedCharge.prorated ? 'prorate_units' : 'effective_units',
    {
      full_units: units.fullUnits,
      duration: inputs.price.duration_days,
      ...(fixedCharge.prorated ? { days_counted_by: LOCAL_DATES } : {}),
    },
    fixedCharge.prorated ? units.units : units.fullUnits,
    'E.3',
  );
  const priced = modelSteps(
    recorder,
    fixedCharge.charge_model,
    fixedCharge.properties,
    usageOfFixed(fixedCharge, units),
  );
  const paid = toMainUnit(cents(facts.already_paid_cents), exponent);
  const amount = max(priced.minus(paid), ZERO);
  if (facts.already_paid_cents !== 0)
    recorder.add('already_paid', { amount: priced, already_paid: paid }, amount, 'E.4');
  const fee = fixedChargeFee(fixedCharge, units, { exponent, alreadyPaid: cents(facts.already_paid_cents) });
  const explained = recordAmounts(recorder, feeAmounts({ amount, unitAmount: ZERO }, { exponent }), { exponent });
  return { ...fee, explainedCents: explained };
}

/** The fee of more units inside a period that was paid. Rule: fixed-charges.md#change-inside-a-period. */
export function unitsChangeSteps(
  recorder: Recorder,
  inputs: StoredFeeInputs,
  facts: Facts<'fixed_units_change'>,
): Computed {
  const fixedCharge = chargeOf(inputs);
  const { exponent } = inputs.tail;
  const change = { units: decimal(facts.units), billedUnits: decimal(facts.billedUnits) };
  const share = { days: facts.days, periodDays: facts.periodDays };
  const fee = unitsChangeFee(fixedCharge, change, { exponent, share });
  const added = max(change.units.minus(change.billedUnits), ZERO);
  recorder.add('delta_units', { units: change.units, billed_units: change.billedUnits }, added, 'E.5');
  let amount = ZERO;
  if (!added.isZero()) {
    const weighed = fixedCharge.prorated ? added.times(share.days).div(share.periodDays) : added;
    if (fixedCharge.prorated)
      recorder.add(
        'prorate_units',
        { value: added, days: share.days, duration: share.periodDays, days_counted_by: LOCAL_DATES },
        weighed,
        'E.5',
      );
    const usage = usageOfFixed(fixedCharge, { units: weighed, fullUnits: added });
    amount = modelSteps(recorder, fixedCharge.charge_model, fixedCharge.properties, usage);
  }
  const explained = recordAmounts(recorder, feeAmounts({ amount, unitAmount: ZERO }, { exponent }), { exponent });
  return { ...fee, explainedCents: explained };
}
