import type { Computed } from './computed-fee.ts';
import { newRecorder, type Recorder, type Step } from './explanation-step.ts';
import { fixedSteps, unitsChangeSteps } from './fixed-steps.ts';
import {
  addOnSteps,
  adjustedUnitsSteps,
  byHandSteps,
  copiedSteps,
  correctionSteps,
  creditSteps,
  trueUpSteps,
} from './other-steps.ts';
import { given, InputsIncomplete } from './read-stored-inputs.ts';
import type { StoredFeeInputs } from './stored-inputs.ts';
import { commitmentSteps, subscriptionSteps } from './subscription-steps.ts';
import { type Tail, tailSteps } from './tail-steps.ts';
import { eventSteps, usageSteps } from './usage-steps.ts';

export interface ExplainedFee {
  steps: Step[];
  computed: Computed;
  tail: Tail;
}

/**
 * Computes a fee again from its stored inputs with the functions that made it, and records every step.
 *
 * @throws InputsIncomplete, when a list that the price depends on was too long to be stored
 * Rules: fee-explanations.md, invoice-verification.md#route.
 */
export function explainFee(inputs: StoredFeeInputs): ExplainedFee {
  const recorder = newRecorder();
  const computed = amountSteps(recorder, inputs);
  const tail = tailSteps(recorder, inputs.tail, {
    amountCents: computed.explainedCents,
    preciseAmountCents: computed.preciseAmountCents,
  });
  return { steps: recorder.steps, computed, tail };
}

function amountSteps(recorder: Recorder, inputs: StoredFeeInputs): Computed {
  const { facts, manual_adjustment: adjustment, usage } = inputs;
  if (adjustment !== undefined) {
    const { created_at, units, unit_precise_amount: unitAmount } = adjustment;
    recorder.add(
      'manual_adjustment',
      { created_at, units, unit_precise_amount: unitAmount },
      units ?? 'name only',
      'F.6',
    );
    if (units !== null && unitAmount !== null) return byHandSteps(recorder, inputs, { units, unit_amount: unitAmount });
    if (units !== null && inputs.fee_type !== 'charge') return adjustedUnitsSteps(recorder, inputs, units);
  }
  switch (facts?.kind) {
    case 'true_up':
      return trueUpSteps(recorder, inputs, facts);
    case 'fixed_units':
      return fixedSteps(recorder, inputs, facts);
    case 'fixed_units_change':
      return unitsChangeSteps(recorder, inputs, facts);
    case 'by_hand':
      return byHandSteps(recorder, inputs, facts);
    case 'correction':
      return correctionSteps(recorder, inputs, facts);
    case 'copied':
      return copiedSteps(recorder, inputs, facts);
  }
  switch (inputs.fee_type) {
    case 'charge':
      return usage?.event === undefined ? usageSteps(recorder, inputs) : eventSteps(recorder, inputs, usage.event);
    case 'subscription':
      return subscriptionSteps(recorder, inputs);
    case 'commitment':
      return commitmentSteps(recorder, inputs, given(inputs.commitment));
    case 'add_on':
      return addOnSteps(recorder, inputs);
    case 'credit':
      return creditSteps(recorder, inputs);
    default:
      throw new InputsIncomplete(`how a fee of type ${inputs.fee_type} came about is not stored`);
  }
}
