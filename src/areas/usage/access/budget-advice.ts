import type { Context } from '../../../platform/context.ts';
import { adviseOnBudgets } from '../budget-holds/reads.ts';
import type { AccessCheck, AccessView } from './schema.ts';

/**
 * Adds to an answer what budgets say of the same usage, if the check asks: advice from Postgres, nothing is held.
 *
 * @throws Refusal 422 estimate: value_is_mandatory, when a matching budget has no figure
 * Rule: access-check.md.
 */
export async function withBudgets(
  ctx: Context,
  { access }: { access: AccessView },
  { budget, external_subscription_id }: AccessCheck,
): Promise<{ access: AccessView }> {
  if (!budget) return { access };
  const question = { ...budget, hold_key: null, external_subscription_id, expires_in_seconds: 1 };
  const { decision } = await adviseOnBudgets(ctx, { body: question });
  // That nothing is active is said once.
  const reasons = decision.reasons.filter((reason) => reason !== 'subscription_not_found');
  return {
    access: {
      ...access,
      allowed: access.allowed && decision.allowed,
      reasons: [...access.reasons, ...reasons],
      budgets: decision.budgets,
    },
  };
}
