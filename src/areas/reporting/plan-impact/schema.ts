import { z } from 'zod';

const Count = z.object({ count: z.int(), more: z.boolean() });

export const PlanImpact = z.object({
  impact: z.object({
    active: Count,
    pending: Count,
    incomplete: Count,
    overridden: Count,
    customers: Count,
    drafts: Count,
    current_usage_cents_by_currency: z.record(z.string(), z.int()),
    as_of: z.iso.date(),
  }),
});
export type PlanImpact = z.infer<typeof PlanImpact>;
