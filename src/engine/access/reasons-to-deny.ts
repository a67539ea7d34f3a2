import { type PrivilegeValue, shownValue, type ValueType } from '../entitlements/privilege-value.ts';
import { type Decimal, decimal, max } from '../money/decimal.ts';

/** Reasons to deny access. Rule: access-check.md "Reasons". */
export type AccessReason =
  | 'subscription_not_active'
  | 'feature_not_granted'
  | 'privilege_not_granted'
  | 'privilege_value_not_allowed'
  | 'usage_limit_reached'
  | 'wallet_not_found'
  | 'wallet_insufficient'
  | 'overdue';

/** A privilege with the value that a subscription has. */
export interface GrantedPrivilege {
  code: string;
  type: ValueType;
  /** Stored text. */
  text: string;
}

/** The privilege that an operation needs, with the needed value if one was named. */
export interface NeededPrivilege {
  code: string;
  value?: PrivilegeValue | undefined;
}

/**
 * The reason why a feature must not be used, if there is one.
 *
 * @param granted undefined when the subscription does not have the feature
 *
 *   max 25 granted, 20 needed → nothing
 *
 * Rule: access-check.md: a boolean must be true, an integer at least what is needed, others equal.
 */
export function reasonsOfFeature(
  granted: readonly GrantedPrivilege[] | undefined,
  needed: NeededPrivilege | undefined,
): AccessReason[] {
  if (granted === undefined) return ['feature_not_granted'];
  if (needed === undefined) return [];
  const privilege = granted.find(({ code }) => code === needed.code);
  if (privilege === undefined) return ['privilege_not_granted'];
  return allows(privilege, needed.value) ? [] : ['privilege_value_not_allowed'];
}

function allows({ type, text }: GrantedPrivilege, needed: PrivilegeValue | undefined): boolean {
  const granted = shownValue(type, text);
  if (type === 'boolean') return granted === true;
  if (needed === undefined) return true;
  if (type !== 'integer') return String(needed) === granted;
  const least = typeof needed === 'boolean' ? undefined : asNumber(needed);
  return least !== undefined && decimal(text).gte(least);
}

const NUMBER = /^-?\d+(\.\d+)?$/;
const asNumber = (needed: number | string): Decimal | undefined =>
  NUMBER.test(String(needed)) ? decimal(needed) : undefined;

/**
 * The state of a usage limit: the units left, and whether the requested units exceed them.
 *
 *   limit 1000, used 999: 1 more is allowed, 2 more are not
 *
 * Rule: access-check.md `usage_limit_reached`.
 */
export const standingOf = (limit: Decimal, used: Decimal, requested: Decimal) => ({
  remaining: max(limit.minus(used), decimal(0)),
  isReached: used.plus(requested).gt(limit),
});
