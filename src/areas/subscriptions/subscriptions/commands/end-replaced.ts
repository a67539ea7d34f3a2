import type { Context } from '../../../../platform/context.ts';
import { announce } from '../../../../platform/reactions.ts';
import { paidSubscriptionEnds } from '../../announcements.ts';
import type { SubscriptionRow } from '../queries.ts';
import type { PlanFacts } from '../writes.ts';
import { endSubscription } from './terminate.ts';

/**
 * Ends a subscription now for the record that replaces it: midway through a period the part paid in advance from this
 * day on is given back. A stored choice of refund or offset counts as credit, with which the new plan is paid.
 *
 * @throws Refusal 405 cannot_terminate_with_pending_taxes
 * Rules: plan-changes.md#upgrade, plan-changes.md#downgrade, termination.md#credit-for-unused-days.
 */
export async function endReplaced(
  ctx: Context,
  current: SubscriptionRow,
  plan: PlanFacts,
  { isMidway }: { isMidway: boolean },
): Promise<void> {
  if (isMidway && plan.pay_in_advance && current.on_termination_credit_note !== 'skip')
    await announce(ctx, paidSubscriptionEnds, {
      plan,
      subscription: current,
      at: ctx.now(),
      choice: 'credit',
      isUpgrade: true,
    });
  await endSubscription(ctx, current, { terminated_at: ctx.now() });
}
