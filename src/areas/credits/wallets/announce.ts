import type { Context } from '../../../platform/context.ts';
import type { WalletId } from '../../../platform/ids.ts';
import { changedKeys } from '../../../platform/records/changes.ts';
import { readWallet, type WalletRow } from './queries.ts';
import { listRules } from './top-up-rule-queries.ts';
import { walletView } from './view.ts';

type Reading = Pick<Context, 'db' | 'organizationId' | 'now'>;

/** A wallet as it is shown now. */
export async function shownWallet(ctx: Reading, wallet: WalletRow) {
  return walletView(wallet, await listRules(ctx, [wallet.id]), ctx.now());
}

/**
 * Writes a wallet's state into the audit trail and sends its webhook. Rules: webhooks.md#event-types,
 * logs.md#activity-logs.
 */
export async function recordWallet(
  ctx: Context,
  type: 'wallet.created' | 'wallet.updated' | 'wallet.terminated',
  id: WalletId,
  before?: object,
): Promise<WalletRow> {
  const wallet = await readWallet(ctx, id);
  const object = await shownWallet(ctx, wallet);
  ctx.record({
    ...(type === 'wallet.terminated'
      ? {}
      : {
          activity: {
            type,
            resourceType: 'Wallet',
            resourceId: id,
            object,
            ...(before === undefined ? {} : { changes: changedKeys(before, object) }),
            externalCustomerId: wallet.external_customer_id,
          },
        }),
    webhook: { type, objectType: 'wallet', objectId: id, customerId: wallet.customer_id, object },
  });
  return wallet;
}

/** Announces that the ongoing balance of a wallet is used up. Rule: top-ups.md#ongoing-balance. */
export async function tellDepleted(ctx: Context, wallet: WalletRow): Promise<void> {
  ctx.record({
    webhook: {
      type: 'wallet.depleted_ongoing_balance',
      objectType: 'wallet',
      objectId: wallet.id,
      customerId: wallet.customer_id,
      object: await shownWallet(ctx, wallet),
    },
  });
}
