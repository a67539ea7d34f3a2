import { z } from 'zod';
import { list } from '../../../platform/schema/bounded.ts';
import { boolean, integer, optionalText } from '../../../platform/schema/fields.ts';

/** How many thresholds one plan or subscription may have: each is compared with every change of usage. */
const MOST_THRESHOLDS = 100;

const UsageThresholdInput = z.object({
  // Its absence is reported on the list.
  amount_cents: z.preprocess((value) => value ?? null, integer({ min: 1 }).nullable()),
  threshold_display_name: optionalText(),
  recurring: z.preprocess((value) => value ?? false, boolean()),
});

/**
 * The list `usage_thresholds` of a plan or subscription. Rules: progressive-billing.md#trigger,
 * progressive-billing.md#usage-thresholds.
 */
export const UsageThresholdsInput = list(UsageThresholdInput, { max: MOST_THRESHOLDS, tooMany: 'too_many_thresholds' })
  .superRefine((thresholds, context) => {
    const refuse = (message: string) => context.addIssue({ code: 'custom', message });
    if (thresholds.some(({ amount_cents }) => amount_cents === null)) refuse('missing_amount_cents');
    const keys = thresholds.map(({ amount_cents, recurring }) => `${amount_cents} ${recurring}`);
    if (new Set(keys).size < keys.length) refuse('duplicated_values');
    if (thresholds.filter(({ recurring }) => recurring).length > 1) refuse('multiple_recurring_thresholds');
  })
  .transform((thresholds) =>
    thresholds.map(({ amount_cents, threshold_display_name = null, recurring }) => ({
      amount_cents: amount_cents!, // refused above where it is missing
      threshold_display_name,
      recurring,
    })),
  );
export type UsageThresholdsInput = z.infer<typeof UsageThresholdsInput>;

export const UsageThresholdObject = z.object({
  svc_id: z.uuid(),
  threshold_display_name: z.string().nullable(),
  amount_cents: z.int(),
  recurring: z.boolean(),
  created_at: z.iso.datetime(),
  updated_at: z.iso.datetime(),
});

export const ApplicableUsageThreshold = z.object({
  threshold_display_name: z.string().nullable(),
  amount_cents: z.int(),
  recurring: z.boolean(),
});

export const AppliedUsageThresholdObject = z.object({
  lifetime_usage_amount_cents: z.int(),
  created_at: z.iso.datetime(),
  usage_threshold: UsageThresholdObject,
});
