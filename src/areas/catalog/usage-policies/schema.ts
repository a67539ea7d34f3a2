import { z } from 'zod';
import { INVALID, oneOf } from '../../../platform/schema/fields.ts';

/** How a difference to an invoiced amount is settled. Rule: event-corrections.md#policy. */
export const POLICIES = ['next_invoice', 'debit_invoice', 'credit_note', 'ignore'] as const;
export type Policy = (typeof POLICIES)[number];

/** Policies for corrections of events and for late events; null inherits from the level above. */
export interface UsagePolicies {
  corrections: Policy | null;
  late_events: Policy | null;
}

const policy = oneOf(POLICIES).nullish();

/** The input of a plan or an organization; without any policy it is null. */
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
