import { z } from 'zod';
import { INTERVALS } from '../../../engine/calendar/grid.ts';
import { INVALID, integer, OUT_OF_RANGE, optionalText } from '../../../platform/schema/fields.ts';
import { textList } from '../../../platform/schema/typed-text.ts';
import { TaxView } from '../taxes/view.ts';

/** Input of a plan's minimum commitment; `{}` or null removes it. Rule: plans.md#fields. */
export const CommitmentInput = z
  .object(
    {
      amount_cents: integer()
        .refine((cents) => cents > 0, OUT_OF_RANGE)
        .optional(),
      invoice_display_name: optionalText(),
      tax_codes: textList(),
    },
    { error: () => INVALID },
  )
  .nullish();
export type CommitmentInput = z.infer<typeof CommitmentInput>;

export const CommitmentView = z.object({
  svc_id: z.uuid(),
  plan_code: z.string(),
  amount_cents: z.int(),
  invoice_display_name: z.string().optional(),
  interval: z.enum(INTERVALS),
  created_at: z.iso.datetime(),
  updated_at: z.iso.datetime(),
  taxes: z.array(TaxView),
});
export type CommitmentView = z.infer<typeof CommitmentView>;
