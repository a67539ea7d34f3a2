import type { Context } from '../../../platform/context.ts';
import { refuse } from '../../../platform/refusal.ts';
import { OUT_OF_RANGE } from '../../../platform/schema/fields.ts';
import { answerOf, walletsMeant } from '../../usage/access/access-answer.ts';
import { exactFacts } from '../../usage/access/access-facts.ts';
import { withBudgets } from '../../usage/access/budget-advice.ts';
import type { AccessCheck, AccessView } from '../../usage/access/schema.ts';
import { lockWallet } from '../wallets/queries.ts';
import { createHold } from './commands.ts';

/**
 * The access check as a command: if access is granted, the amount is held in one wallet, the first by priority that
 * covers it. The customer's wallets are locked meanwhile. When only several together cover it, nothing is held:
 * `wallet_insufficient`.
 *
 * @throws Refusal 422 hold.expires_in_seconds: value_is_out_of_range
 * Rule: access-check.md `hold`.
 */
export async function checkAndHold(
  ctx: Context,
  { body: asked }: { body: AccessCheck },
): Promise<{ access: AccessView }> {
  if (asked.hold!.expires_in_seconds > ctx.config.HOLD_MAX_SECONDS)
    throw refuse.invalid({ 'hold.expires_in_seconds': [OUT_OF_RANGE] });
  const before = await findings(ctx, asked);
  if (!before.answer.access.allowed || before.wallets.length === 0) return before.answer;
  // Each wallet is locked, because other holds lock their wallet alone.
  for (const { id } of before.wallets) await lockWallet(ctx, { id });

  const { answer, wallets } = await findings(ctx, asked);
  if (!answer.access.allowed) return answer;
  const amount = asked.amount_cents!; // the schema asks for it
  const wallet = wallets.find(({ ongoing_balance_cents, held_cents }) => ongoing_balance_cents - held_cents >= amount);
  if (!wallet) return { access: { ...answer.access, allowed: false, reasons: ['wallet_insufficient'] } };
  const { hold } = await createHold(ctx, {
    svc_id: wallet.id,
    body: { ...asked.hold!, amount_cents: amount, external_subscription_id: asked.external_subscription_id },
  });
  return { access: { ...answer.access, svc_hold_id: hold.svc_id } };
}

async function findings(ctx: Context, asked: AccessCheck) {
  const facts = await exactFacts(ctx, asked);
  return {
    answer: await withBudgets(ctx, answerOf(facts, asked, { source: 'database', now: ctx.now() }), asked),
    wallets: facts.subscription ? walletsMeant(facts.wallets, facts.subscription.currency, asked) : [],
  };
}
