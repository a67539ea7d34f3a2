/** Stored texts by privilege code. */
export type Values = ReadonlyMap<string, string>;

/** What a subscription says of one feature, beside what its plan grants. */
export interface Override {
  /** It grants the feature itself. */
  isGranted: boolean;
  values: Values;
  /** It does not have what the plan grants of the feature. */
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
 * What a subscription has of a feature: what its plan grants and it does not hide, and what it grants itself, which
 * wins.
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
 * - exactly what the plan grants: nothing of the override is left
 * - else: a value equal to the plan's is none of the override's, any other is; what was hidden of them shows again
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

/** An override after its feature was taken away. Rule: entitlements.md#merge "DELETE feature". */
export const hideFeature = (plan: Values | undefined): Override => ({ ...NO_OVERRIDE, isHidden: plan !== undefined });

/** An override after one privilege was taken away. Rule: entitlements.md#merge "DELETE privilege". */
export function hidePrivilege(plan: Values | undefined, own: Override, code: string): Override {
  const values = new Map(own.values);
  values.delete(code);
  const hiddenPrivileges = plan === undefined ? own.hiddenPrivileges : new Set([...own.hiddenPrivileges, code]);
  return { ...own, values, hiddenPrivileges };
}

const areEqual = (some: Values, others: Values): boolean =>
  some.size === others.size && [...some].every(([code, value]) => others.get(code) === value);

/**
 * What a plan grants of a feature after values were given for it.
 *
 * @param replaces whether values that were not given go, unless none was given at all
 * Rule: entitlements.md#routes, POST and PATCH of a plan's entitlements.
 */
export function grantValues(stored: Values, given: Values, { replaces }: { replaces: boolean }): Map<string, string> {
  return new Map(replaces && given.size > 0 ? given : [...stored, ...given]);
}
