import { z } from 'zod';
import { integer } from '../../../platform/schema/fields.ts';

export const LifetimeUsageUpdate = z.object({ external_historical_usage_amount_cents: integer() });

export const LifetimeUsageEnvelope = z.object({
  lifetime_usage: z.object({
    svc_id: z.string(),
    svc_subscription_id: z.string(),
    external_subscription_id: z.string(),
    external_historical_usage_amount_cents: z.int(),
    invoiced_usage_amount_cents: z.int(),
    current_usage_amount_cents: z.int(),
    from_datetime: z.string().nullable(),
    to_datetime: z.string(),
    usage_thresholds: z
      .array(z.object({ amount_cents: z.int(), completion_ratio: z.number(), reached_at: z.string().nullable() }))
      .optional(),
  }),
});
