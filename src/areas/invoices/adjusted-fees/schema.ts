import { z } from 'zod';
import { decimal } from '../../../engine/money/decimal.ts';
import { decimalInput, optionalText } from '../../../platform/schema/fields.ts';

const amount = () =>
  decimalInput()
    .refine((value) => !decimal(value).isNegative() && decimal(value).lt('1e15'), 'value_is_out_of_range')
    .nullish();

/** Rule: usage-fees.md#adjusted-fees. */
export const AdjustedFeeInput = z
  .object({
    fee_id: optionalText(),
    subscription_id: optionalText(),
    charge_id: optionalText(),
    charge_filter_id: optionalText(),
    fixed_charge_id: optionalText(),
    units: amount(),
    unit_precise_amount: amount(),
    invoice_display_name: optionalText({ max: 255 }),
  })
  .superRefine((input, context) => {
    const isPricedOnly = input.unit_precise_amount != null && input.units == null;
    const isEmpty = input.units == null && input.invoice_display_name == null;
    if (isPricedOnly || isEmpty) context.addIssue({ code: 'custom', message: 'value_is_mandatory', path: ['units'] });
  });
export type AdjustedFeeInput = z.infer<typeof AdjustedFeeInput>;
