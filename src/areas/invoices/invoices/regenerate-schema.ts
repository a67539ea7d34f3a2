import { z } from 'zod';
import { decimal } from '../../../engine/money/decimal.ts';
import { list } from '../../../platform/schema/bounded.ts';
import { decimalInput, INVALID, integer, MANDATORY, optionalText } from '../../../platform/schema/fields.ts';

const MOST_FEES = 1000;

/** Rule: invoice-operations.md#regenerate. */
export const InvoiceRegeneration = z.object({
  fees: list(
    z.object({
      id: optionalText(),
      units: decimalInput()
        .refine((value) => !decimal(value).isNegative() && decimal(value).lt('1e15'), 'value_is_out_of_range')
        .nullish(),
      unit_amount_cents: z.preprocess((value) => value ?? undefined, integer({ min: 0 }).optional()),
      charge_id: optionalText(),
      charge_filter_id: optionalText(),
      subscription_id: optionalText(),
      invoice_display_name: optionalText({ max: 255 }),
    }),
    {
      max: MOST_FEES,
      wrong: { error: (issue) => (issue.input === undefined || issue.input === null ? MANDATORY : INVALID) },
      tooMany: 'invalid_count',
    },
  ).min(1, MANDATORY),
  purchase_order_number: optionalText({ max: 255 }),
});
export type InvoiceRegeneration = z.infer<typeof InvoiceRegeneration>;
