import type { Context } from '../../../../platform/context.ts';
import { announce } from '../../../../platform/reactions.ts';
import { paidSubscriptionEnds } from '../../announcements.ts';
import type { SubscriptionRow } from '../queries.ts';
import type { PlanFacts } from '../writes.ts';
import { endSubscription } from './terminate.ts';

/**
 * Ends a subscription now for the record that replaces it: midway through a period what was paid in advance for the
 * rest of it, this day included, is given back. A stored refund or offset counts as credit: the new plan is paid with
 * it.
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
