import { type Cents, cents, roundToCents, sumCents } from '../money/cents.ts';
import { type Decimal, decimal, ONE } from '../money/decimal.ts';
import { commitmentTrueUp } from '../subscriptions/minimum-commitment.ts';
import { feeCaseOf, subscriptionFeeAmount } from '../subscriptions/subscription-fee.ts';
import { trialEnd } from '../subscriptions/trial.ts';
import type { Computed } from './computed-fee.ts';
import type { Recorder } from './explanation-step.ts';
import { subscriptionInputOf } from './read-stored-inputs.ts';
import type { DayCount, StoredCommitment, StoredFeeInputs } from './stored-inputs.ts';

const DAY_DIFFERENCE: DayCount = 'day_difference';

/**
 * The fee of a subscription. Rules: fee-explanations.md "subscription", subscription-fees.md#amount,
 * subscription-fees.md#trial.
 */
export function subscriptionSteps(recorder: Recorder, inputs: StoredFeeInputs): Computed {
  const input = subscriptionInputOf(inputs);
  const fee = subscriptionFeeAmount(input);
  const { plan } = input;
  recorder.add(
    'plan_amount',
    { interval: plan.interval, pay_in_advance: plan.pay_in_advance },
    `${plan.amount_cents}`,
    'I:D.1',
  );
  recorder.add('window', { timezone: input.zone }, `${inputs.window.fee.from}/${inputs.window.fee.to}`, 'I:C.3');
  recorder.add('case', factsOf(inputs), feeCaseOf(input), 'I:D.3');
  const end = trialEnd(input);
  if (end !== undefined) recorder.add('trial', { trial_period: inputs.price.trial_period }, end.toString(), 'I:D.4');
  recorder.add(
    'days',
    { billed: fee.billedDays, duration: fee.periodDays, days_counted_by: DAY_DIFFERENCE },
    `${fee.billedDays}/${fee.periodDays}`,
    'I:0.1',
  );
  const exact = decimal(plan.amount_cents).times(fee.billedDays).div(fee.periodDays);
  recorder.add(
    'prorate',
    { amount_cents: plan.amount_cents, days: fee.billedDays, duration: fee.periodDays },
    exact,
    'I:D.3',
  );
  return { ...rounded(recorder, inputs, exact, fee.amountCents, fee.preciseAmountCents), units: ONE };
}

/** The gap to a minimum commitment. Rule: minimums.md#minimum-commitment. */
export function commitmentSteps(recorder: Recorder, inputs: StoredFeeInputs, commitment: StoredCommitment): Computed {
  const { amount_cents: amount, billed_days: billedDays, period_days: periodDays } = commitment;
  recorder.add('commitment_amount', {}, `${amount}`, 'I:E.1');
  const due = roundToCents(decimal(amount).times(billedDays).div(periodDays));
  recorder.add(
    'coverage',
    { days: billedDays, duration: periodDays, days_counted_by: DAY_DIFFERENCE },
    `${due}`,
    'I:E.1',
  );
  const counted = commitment.counted_fees ?? [];
  const used = commitment.counted_fees === undefined ? commitment.used_cents : sumOf(counted);
  recorder.add('counted_fees', { fees: counted }, `${used}`, 'I:E.1');
  const gap = decimal(due).minus(used);
  recorder.add('gap', { due_cents: due, used_cents: used }, gap, 'I:E.1');
  const missing = commitmentTrueUp(amount, { billedDays, periodDays }, cents(commitment.used_cents));
  return { ...rounded(recorder, inputs, gap, missing, decimal(missing)), units: ONE };
}

const sumOf = (fees: readonly { amount_cents: number }[]): Cents =>
  sumCents(fees.map(({ amount_cents }) => cents(amount_cents)));

/** Records the rounding of an amount in cents. */
export function rounded(
  recorder: Recorder,
  { tail }: Pick<StoredFeeInputs, 'tail'>,
  exact: Decimal,
  amountCents: Cents,
  preciseAmountCents: Decimal,
): Omit<Computed, 'units'> {
  const explainedCents = roundToCents(exact);
  recorder.add('round_amount', { exponent: tail.exponent, mode: 'half_away_from_zero' }, `${explainedCents}`, 'I:0');
  return { amountCents, preciseAmountCents, explainedCents };
}

/** The facts that choose the case. */
const factsOf = ({ before, price, window }: StoredFeeInputs) => ({
  status: before?.status,
  billing_time: before?.billing_time,
  pay_in_advance: price.pay_in_advance,
  succession: window.succession,
  predecessor: window.predecessor,
  started_at: before?.started_at,
  has_older_fee: before?.has_older_fee,
  is_only_invoice: before?.is_only_invoice,
});
