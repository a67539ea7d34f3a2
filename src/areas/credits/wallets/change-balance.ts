import type { BookedCredits } from '../../../engine/credits/wallet-money.ts';
import { exponentOf } from '../../../engine/money/currency.ts';
import { decimal } from '../../../engine/money/decimal.ts';
import type { Context } from '../../../platform/context.ts';
import type { WalletId } from '../../../platform/ids.ts';
import { markWallets } from '../../usage/wallet-marks/wallet-marks.ts';
import { evaluateWalletAlerts } from '../evaluate-alerts/wallet-alerts.ts';
import { followDays } from '../wallet-days/follow-days.ts';
import { recordWallet, shownWallet } from './announce.ts';
import type { WalletRow } from './queries.ts';

type Moved = Pick<BookedCredits, 'credits' | 'amountCents'>;

/**
 * Adds credits to a locked wallet; those that come back from an invoice no longer count as consumed.
 *
 * @returns the wallet as it then is
 * Rule: wallets.md#balance.
 */
export async function addToBalance(
  ctx: Context,
  wallet: WalletRow,
  { credits, amountCents }: Moved,
  { resetsConsumed = false } = {},
): Promise<WalletRow> {
  const factor = decimal(10).pow(exponentOf(wallet.currency)).toNumber();
  const { db, organizationId } = ctx;
  const before = await shownWallet(ctx, wallet);
  await db`
    update wallets set balance_cents = balance_cents + ${amountCents},
      credits_balance = credits_balance + ${credits}::numeric,
      ongoing_balance_cents = ongoing_balance_cents + ${amountCents},
      credits_ongoing_balance = credits_ongoing_balance + ${credits}::numeric,
      ${
        resetsConsumed
          ? db`consumed_credits = greatest(0, consumed_credits - ${credits}::numeric),
              consumed_amount_cents = greatest(0,
              floor((consumed_credits - ${credits}::numeric) * rate_amount * ${factor}::integer)),`
          : db``
      }
      last_balance_sync_at = ${ctx.now()}, updated_at = ${ctx.now()}
    where organization_id = ${organizationId} and id = ${wallet.id}`;
  return followBalance(ctx, wallet.id, { before, addedCents: resetsConsumed ? 0 : amountCents });
}

/**
 * Takes credits from a locked wallet that holds them.
 *
 * isVoided  they are taken back, not consumed
 * @returns the wallet as it then is
 * Rule: wallets.md#balance.
 */
export async function takeFromBalance(
  ctx: Context,
  wallet: WalletRow,
  { credits, amountCents }: Moved,
  { isVoided = false } = {},
): Promise<WalletRow> {
  const before = await shownWallet(ctx, wallet);
  // Credits are rounded separately from money: a rest of credits without money is dropped.
  await ctx.db`
    update wallets set balance_cents = balance_cents - ${amountCents},
      credits_balance = greatest(0, credits_balance - ${credits}::numeric),
      ongoing_balance_cents = ongoing_balance_cents - ${amountCents},
      credits_ongoing_balance = credits_ongoing_balance - ${credits}::numeric,
      consumed_credits = consumed_credits + ${credits}::numeric,
      consumed_amount_cents = consumed_amount_cents + ${amountCents},
      last_balance_sync_at = ${ctx.now()}, last_consumed_credit_at = ${ctx.now()}, updated_at = ${ctx.now()}
    where organization_id = ${ctx.organizationId} and id = ${wallet.id}`;
  return followBalance(ctx, wallet.id, { before, addedCents: isVoided ? -amountCents : 0 });
}

async function followBalance(
  ctx: Context,
  walletId: WalletId,
  { before, addedCents }: { before: object; addedCents: number },
): Promise<WalletRow> {
  const wallet = await recordWallet(ctx, 'wallet.updated', walletId, before);
  await followDays(ctx, wallet, addedCents);
  await evaluateWalletAlerts(ctx, wallet, 'balance');
  await markWallets(ctx, wallet.customer_id);
  return wallet;
}
