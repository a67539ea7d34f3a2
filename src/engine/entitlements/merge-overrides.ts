/** Stored texts by privilege code. */
export type Values = ReadonlyMap<string, string>;

/** A subscription's own values of one feature, beside its plan's. */
export interface Override {
  /** Whether it grants the feature itself. */
  isGranted: boolean;
  values: Values;
  /** Privileges of the plan's grant that it hides. */
  isHidden: boolean;
  hiddenPrivileges: ReadonlySet<string>;
}

export const NO_OVERRIDE: Override = {
  isGranted: false,
  values: new Map(),
  isHidden: false,
  hiddenPrivileges: new Set(),
};

export interface MergedValue {
  value: string;
  plan: string | undefined;
  override: string | undefined;
}

/**
 * The values of a feature for a subscription: those that its plan grants and it does not hide, overridden by its own.
 *
 * @param plan undefined when the plan does not grant the feature
 * @returns values by privilege code, undefined when it does not have the feature
 * Rule: entitlements.md#merge.
 */
export function mergeFeature(plan: Values | undefined, own: Override): Map<string, MergedValue> | undefined {
  const ofPlan = own.isHidden ? undefined : plan;
  if (ofPlan === undefined && !own.isGranted) return undefined;
  const merged = new Map<string, MergedValue>();
  for (const [code, value] of ofPlan ?? [])
    if (!own.hiddenPrivileges.has(code)) merged.set(code, { value, plan: value, override: undefined });
  for (const [code, value] of own.values) merged.set(code, { value, plan: plan?.get(code), override: value });
  return merged;
}

/**
 * An override after values were given for its feature.
 *
 * - exactly what the plan grants: nothing of the override is left - else: values equal to the plan's are dropped from
 * the override, others are stored; hidden ones are shown again
 *
 * Rule: entitlements.md#merge "PATCH per feature".
 */
export function patchFeature(plan: Values | undefined, own: Override, given: Values): Override {
  if (plan !== undefined && areEqual(plan, given)) return NO_OVERRIDE;
  const values = new Map(own.values);
  const hiddenPrivileges = new Set(own.hiddenPrivileges);
  for (const [code, value] of given) {
    hiddenPrivileges.delete(code);
    if (plan?.get(code) === value) values.delete(code);
    else values.set(code, value);
  }
  return { isGranted: true, values, isHidden: false, hiddenPrivileges };
}

/** An override after its feature was removed. Rule: entitlements.md#merge "DELETE feature". */
export const hideFeature = (plan: Values | undefined): Override => ({ ...NO_OVERRIDE, isHidden: plan !== undefined });

/** An override after one privilege was removed. Rule: entitlements.md#merge "DELETE privilege". */
export function hidePrivilege(plan: Values | undefined, own: Override, code: string): Override {
  const values = new Map(own.values);
  values.delete(code);
  const hiddenPrivileges = plan === undefined ? own.hiddenPrivileges : new Set([...own.hiddenPrivileges, code]);
  return { ...own, values, hiddenPrivileges };
}

const areEqual = (some: Values, others: Values): boolean =>
  some.size === others.size && [...some].every(([code, value]) => others.get(code) === value);

/**
 * A plan's values of a feature after new values were given.
 *
 * @param replaces whether values that were not given are removed, unless none was given at all
 * Rule: entitlements.md#routes, POST and PATCH of a plan's entitlements.
 */
export function grantValues(stored: Values, given: Values, { replaces }: { replaces: boolean }): Map<string, string> {
  return new Map(replaces && given.size > 0 ? given : [...stored, ...given]);
}
