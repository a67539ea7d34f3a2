import type { Step } from './explanation-step.ts';

const value = ({ inputs }: Step, name: string): string => String(inputs[name] ?? '');

/** The sentence of each step, in plain English. Rule: fee-explanations.md "texts". */
const SENTENCES: Readonly<Record<string, (step: Step) => string>> = {
  choose_bucket: (step) =>
    step.output === 'default' ? 'The charge’s own price applies.' : 'A filter of the charge takes these events.',
  group: (step) => `Only usage of the group ${step.output} counts.`,
  select_window: (step) => `Counted are ${step.output}.`,
  aggregate: (step) => `${value(step, 'events_count')} events add up to ${step.output} units.`,
  prorate_units: (step) => `Weighed by days this makes ${step.output} units.`,
  round_units: (step) => `The metric rounds this to ${step.output} units.`,
  price_units: (step) => `${value(step, 'units')} at ${value(step, 'unit_amount')} each cost ${step.output}.`,
  price_tier: (step) =>
    `${value(step, 'units')} units in the range from ${value(step, 'from')} cost ${step.output}, with its flat amount.`,
  price_piece: (step) =>
    `${value(step, 'full')} units in range ${value(step, 'tier')}, weighed by days, cost ${step.output}.`,
  price_pieces: (step) => `${value(step, 'pieces')} more pieces cost ${step.output}.`,
  flat_amounts: (step) => `Flat amounts come to ${step.output}.`,
  choose_tier: (step) => `All units are priced in the range ${step.output}.`,
  free_units: (step) => `After ${value(step, 'free_units')} free units ${step.output} are paid.`,
  free_events: (step) => `After ${value(step, 'free_events')} free events ${step.output} are paid.`,
  count_packages: (step) => `This makes ${step.output} packages.`,
  price_rate: (step) => `${value(step, 'rate')} % of ${value(step, 'units')} is ${step.output}.`,
  fixed_fees: (step) => `Fixed amounts of ${value(step, 'events')} events come to ${step.output}.`,
  price_event: (step) => `The event of ${value(step, 'value')} costs ${step.output}.`,
  price_events: (step) => `${value(step, 'events')} more events cost ${step.output}.`,
  sum_event_amounts: (step) => `The events name amounts of ${step.output} in all.`,
  running_record: (step) => `The event adds ${step.output} units to what was billed before.`,
  price_with: (step) => `With it the price is ${step.output}.`,
  price_without: (step) => `Without it the price is ${step.output}.`,
  difference: (step) => `The difference is ${step.output}.`,
  floor_at_zero: () => 'A negative amount costs nothing.',
  convert_pricing_unit: (step) => `Converted at ${value(step, 'rate')} this is ${step.output} in the smallest unit.`,
  minimum: (step) => `The minimum of the charge is ${step.output}.`,
  prorate_minimum: (step) => `For ${value(step, 'days')} of ${value(step, 'duration')} days it is ${step.output}.`,
  used: (step) => `Used was ${step.output}.`,
  gap: (step) => `Missing is ${step.output}.`,
  unit_records: (step) => `${step.output} units are in force at the end.`,
  effective_units: (step) => `${step.output} units are billed.`,
  already_paid: (step) => `After what was paid before, ${step.output} is left.`,
  delta_units: (step) => `${step.output} units were added.`,
  plan_amount: (step) => `The plan costs ${step.output} a period.`,
  window: (step) => `The fee is for ${step.output}.`,
  case: (step) => `It is billed as: ${step.output}.`,
  trial: (step) => `The trial ends at ${step.output}.`,
  days: (step) => `${value(step, 'billed')} of ${value(step, 'duration')} days are billed.`,
  prorate: (step) => `That share is ${step.output}.`,
  commitment_amount: (step) => `The minimum commitment is ${step.output} a period.`,
  coverage: (step) => `For ${value(step, 'days')} of ${value(step, 'duration')} days it is ${step.output}.`,
  counted_fees: (step) => `Fees of ${step.output} count towards it.`,
  unit_amount: (step) => `A unit costs ${step.output}.`,
  units: (step) => `${step.output} units are billed.`,
  credits: (step) => `${step.output} credits are bought.`,
  rate: (step) => `A credit costs ${step.output}.`,
  manual_adjustment: () => 'Somebody set this by hand while the invoice was a draft.',
  correction: (step) => `Usage of a period that was billed before was corrected: ${step.output}.`,
  old: (step) => `Billed for it so far: ${step.output}.`,
  new: (step) => `It should have been: ${step.output}.`,
  copied_fee: (step) => `Taken over from a voided invoice as it was: ${step.output}.`,
  sum: (step) => `Together ${step.output}.`,
  round_amount: (step) => `Rounded to whole cents: ${step.output}.`,
  progressive_credit: (step) => `${step.output} was billed progressively before.`,
  coupon_share: (step) => `The coupon ${value(step, 'coupon_code')} takes ${step.output} off.`,
  tax: (step) => `${value(step, 'rate')} % ${value(step, 'tax_code')} on ${value(step, 'base')} is ${step.output}.`,
  tax_provider: (step) => `The tax engine collects ${step.output} for ${value(step, 'base')}: ${value(step, 'taxes')}.`,
  fee_total: (step) => `With taxes the fee is ${step.output}.`,
};

/** One sentence a step. */
export const sentences = (steps: readonly Step[]): string[] =>
  steps.map((step) => SENTENCES[step.code]?.(step) ?? `${step.code}: ${step.output}.`);
