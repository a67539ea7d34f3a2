import { z } from 'zod';
import { anyValue } from '../../../platform/schema/bounded.ts';
import { INVALID } from '../../../platform/schema/fields.ts';
import { PrivilegeView } from './privilege.ts';

export const entitlementValue = z.union([z.int(), z.boolean(), z.string()]);
export const namedFeature = { code: z.string(), name: z.string().nullable(), description: z.string().nullable() };

export const PlanEntitlementView = z.object({
  ...namedFeature,
  privileges: z.array(PrivilegeView.extend({ value: entitlementValue })),
});
export type PlanEntitlementView = z.infer<typeof PlanEntitlementView>;
export const PlanEntitlementEnvelope = z.object({ entitlement: PlanEntitlementView });
export const PlanEntitlementList = z.object({ entitlements: z.array(PlanEntitlementView) });

/** What an input gives for one feature: privilege codes and values as they were sent. */
export interface GivenFeature {
  feature_code: string;
  values: { privilege_code: string; value: unknown }[];
}

const isRecord = (given: unknown): given is Record<string, unknown> =>
  typeof given === 'object' && given !== null && !Array.isArray(given);

/** How many features may be given together, and how many privileges of one. */
const FEATURES_MAX = 500;

/**
 * `{entitlements: {<feature>: {<privilege>: value}}}` as a list, because objects whose keys customers choose lose their
 * order; without the key it is empty. Values are read once their privileges are known.
 * Rule: entitlements.md#routes.
 */
export const EntitlementsInput = anyValue({ max: FEATURES_MAX }).transform((body, context): GivenFeature[] => {
  const given = isRecord(body) ? (body.entitlements ?? {}) : {};
  if (!isRecord(given)) {
    context.addIssue({ code: 'custom', message: INVALID, path: ['entitlements'] });
    return z.NEVER;
  }
  return Object.entries(given).map(([feature_code, values]) => {
    if (!isRecord(values)) context.addIssue({ code: 'custom', message: INVALID, path: [feature_code] });
    return {
      feature_code,
      values: Object.entries(isRecord(values) ? values : {}).map(([privilege_code, value]) => ({
        privilege_code,
        value,
      })),
    };
  });
});

export const EntitlementsDocumented = z.object({
  entitlements: z.record(z.string(), z.record(z.string(), entitlementValue)),
});
