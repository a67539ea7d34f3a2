import type { AlertType, WalletAlertType } from '../../../engine/alerts/alert-types.ts';
import { type Decimal, ZERO } from '../../../engine/money/decimal.ts';
import type { Context } from '../../../platform/context.ts';
import type { ExternalCustomerId } from '../../../platform/ids.ts';
import { refuse } from '../../../platform/refusal.ts';
import { markUsage } from '../../catalog/usage-thresholds/usage-marks.ts';
import { getCustomer } from '../../customers/customers/queries.ts';
import { markWallets } from '../../usage/wallet-marks/wallet-marks.ts';
import { type AlertOwner, checkSubscription } from '../evaluate-alerts/queries.ts';
import { evaluateWalletAlerts, figureOfWallet } from '../evaluate-alerts/wallet-alerts.ts';
import { findWallet, lockWallet, type WalletRow } from '../wallets/queries.ts';

/** The path below which alerts are requested: a subscription, or a wallet of a customer. */
export type AlertPlace = { external_id: string } | { external_customer_id: ExternalCustomerId; wallet_code: string };

/** The owner of alerts. */
export interface AlertTarget {
  owner: AlertOwner;
  kind: 'subscription' | 'wallet';
  /** The first value that a new alert is compared with: usage starts at 0, a balance at its present value. */
  presentOf(type: AlertType): Decimal;
  /** Requests an evaluation because alerts changed. */
  look(): Promise<void>;
}

/** The owner of the requested alerts. @throws Refusal 404 subscription, customer, wallet */
export const findTarget = (ctx: Context, place: AlertPlace): Promise<AlertTarget> => targetOf(ctx, place, findWallet);

/** As findTarget, and a wallet does not change until the transaction ends. */
export const lockTarget = (ctx: Context, place: AlertPlace): Promise<AlertTarget> => targetOf(ctx, place, lockWallet);

async function targetOf(ctx: Context, place: AlertPlace, find: typeof findWallet): Promise<AlertTarget> {
  if ('external_id' in place) {
    await checkSubscription(ctx, place.external_id);
    return {
      owner: { external_subscription_id: place.external_id },
      kind: 'subscription',
      presentOf: () => ZERO,
      look: () => markUsage(ctx, { external_id: place.external_id }),
    };
  }
  const customer = await getCustomer(ctx, place.external_customer_id);
  const wallet = await find(ctx, { customerId: customer.id, code: place.wallet_code });
  if (!wallet) throw refuse.notFound('wallet');
  return {
    owner: { wallet_id: wallet.id },
    kind: 'wallet',
    presentOf: (type) => presentOf(wallet, type),
    async look() {
      await evaluateWalletAlerts(ctx, wallet, 'balance');
      await markWallets(ctx, wallet.customer_id);
    },
  };
}

/** A type that wallets do not have is refused before it is stored, so it has no figure. */
const presentOf = (wallet: WalletRow, type: AlertType): Decimal =>
  type.startsWith('wallet_') ? figureOfWallet(wallet, type as WalletAlertType) : ZERO;
