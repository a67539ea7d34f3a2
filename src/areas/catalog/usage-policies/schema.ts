import { z } from 'zod';
import { INVALID, oneOf } from '../../../platform/schema/fields.ts';

/** What becomes of a difference to an invoiced amount. Rule: event-corrections.md#policy. */
export const POLICIES = ['next_invoice', 'debit_invoice', 'credit_note', 'ignore'] as const;
export type Policy = (typeof POLICIES)[number];

/** What holds for corrections of events, and for events that come late; null: what stands above it says. */
export interface UsagePolicies {
  corrections: Policy | null;
  late_events: Policy | null;
}

const policy = oneOf(POLICIES).nullish();

/** As a plan and an organization take it; without any word it is null. */
export const UsagePoliciesInput = z
  .object({ corrections: policy, late_events: policy }, INVALID)
  .nullish()
  .transform((given): UsagePolicies | null | undefined => {
    if (given === undefined || given === null) return given;
    const policies = { corrections: given.corrections ?? null, late_events: given.late_events ?? null };
    return policies.corrections === null && policies.late_events === null ? null : policies;
  });

export const UsagePoliciesView = z.object({
  corrections: z.enum(POLICIES).nullable(),
  late_events: z.enum(POLICIES).nullable(),
});
