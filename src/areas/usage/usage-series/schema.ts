import { z } from 'zod';
import { textFilter } from '../../../platform/lists/filters.ts';
import { INVALID } from '../../../platform/schema/fields.ts';

export const SERIES_STEPS = ['day', 'hour'] as const;
export type SeriesStep = (typeof SERIES_STEPS)[number];

export const UsageSeriesQuery = z.object({
  from: textFilter,
  to: textFilter,
  charge_code: textFilter,
  step: textFilter
    .transform((value, context): SeriesStep => {
      const known = SERIES_STEPS.find((step) => step === (value ?? 'day'));
      if (known) return known;
      context.addIssue({ code: 'custom', message: INVALID });
      return z.NEVER;
    })
    .meta({ type: 'string', enum: SERIES_STEPS }),
});
export type UsageSeriesQuery = z.output<typeof UsageSeriesQuery>;

const Units = z.array(z.string().nullable());
const Amounts = z.array(z.int().nullable());

export const UsageSeriesEnvelope = z.object({
  usage_series: z.object({
    external_subscription_id: z.string(),
    currency: z.string(),
    step: z.enum(SERIES_STEPS),
    steps: z.array(z.string()),
    charges: z.array(
      z.object({
        charge_code: z.string().nullable(),
        billable_metric_code: z.string().nullable(),
        units: Units,
        cumulative_units: Units,
        amount_cents: Amounts,
        cumulative_amount_cents: Amounts,
        is_partial: z.boolean(),
      }),
    ),
    cumulative_amount_cents: Amounts,
    projection: z.object({
      amount_cents: z.int().nullable(),
      low_cents: z.int().nullable(),
      high_cents: z.int().nullable(),
    }),
  }),
});
export type UsageSeriesEnvelope = z.infer<typeof UsageSeriesEnvelope>;
