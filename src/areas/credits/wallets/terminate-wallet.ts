import { cents } from '../../../engine/money/cents.ts';
import type { Context } from '../../../platform/context.ts';
import type { CustomerId, ExternalCustomerId } from '../../../platform/ids.ts';
import { refuse } from '../../../platform/refusal.ts';
import { bookOnWallet } from '../../ledger/ledger/book-on-wallet.ts';
import { recordWallet, shownWallet } from './announce.ts';
import { forfeited } from './forfeited-credits.ts';
import { keyOf, listActiveIds, lockWallet, readRest, type WalletKey } from './queries.ts';
import { terminateRules } from './top-up-rule-queries.ts';
import { markTerminated } from './writes.ts';

/**
 * Ends a wallet: its credits can be read and no longer used. Ending it again changes nothing. @throws Refusal 404
 * wallet
 */
export const destroyWallet = (ctx: Context, { svc_id }: { svc_id: string }) => terminate(ctx, { id: svc_id });

/** As destroyWallet. @throws Refusal 404 customer, wallet */
export async function destroyCustomerWallet(
  ctx: Context,
  input: { external_customer_id: ExternalCustomerId; code: string },
) {
  return terminate(ctx, await keyOf(ctx, input));
}

/** Ends every wallet of a customer. Rule: wallets.md#void-recredit-terminate. */
export async function terminateWalletsOf(ctx: Context, { customer_id }: { customer_id: CustomerId }): Promise<void> {
  for (const { id } of await listActiveIds(ctx, customer_id)) await terminate(ctx, { id });
}

/** Rules: wallets.md#void-recredit-terminate, ledger.md#l10. */
export async function terminate(ctx: Context, key: WalletKey) {
  const wallet = await lockWallet(ctx, key);
  if (!wallet) throw refuse.notFound('wallet');
  if (wallet.status === 'terminated') return { wallet: await shownWallet(ctx, wallet) };
  await markTerminated(ctx, wallet.id, ctx.now());
  await terminateRules(ctx, wallet.id, { now: ctx.now() });
  const { granted, purchased } = await readRest(ctx, wallet.id);
  await bookOnWallet(ctx, 'wallet_terminated', wallet, {
    source: { type: 'Wallet', id: wallet.id },
    lines: forfeited(cents(granted), cents(purchased)),
  });
  return { wallet: await shownWallet(ctx, await recordWallet(ctx, 'wallet.terminated', wallet.id)) };
}
