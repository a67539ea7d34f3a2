import type { WalletAlertType } from '../../../engine/alerts/alert-types.ts';
import { type Decimal, decimal } from '../../../engine/money/decimal.ts';
import type { Context } from '../../../platform/context.ts';
import type { WalletRow } from '../wallets/queries.ts';
import { evaluateAlert } from './evaluate-alert.ts';
import { type AlertOwner, lockAlerts } from './queries.ts';

/** What an alert of a wallet is compared with. Rule: alerts.md#types. */
export function figureOfWallet(wallet: WalletRow, type: WalletAlertType): Decimal {
  switch (type) {
    case 'wallet_balance_amount':
      return decimal(wallet.balance_cents);
    case 'wallet_credits_balance':
      return wallet.credits_balance;
    case 'wallet_ongoing_balance_amount':
      return decimal(wallet.ongoing_balance_cents);
    case 'wallet_credits_ongoing_balance':
      return wallet.credits_ongoing_balance;
  }
}

const FIGURES = {
  balance: ['wallet_balance_amount', 'wallet_credits_balance'],
  // Unpaid usage is computed separately; ongoing balances are right only afterwards.
  ongoing: ['wallet_ongoing_balance_amount', 'wallet_credits_ongoing_balance'],
} as const satisfies Record<string, readonly WalletAlertType[]>;

/**
 * Compares the alerts of a locked wallet with its balances, or with its ongoing ones.
 * Rule: alerts.md#evaluation "wallet alerts".
 */
export async function evaluateWalletAlerts(
  ctx: Context,
  wallet: WalletRow,
  figures: keyof typeof FIGURES,
): Promise<void> {
  const owner: AlertOwner = { wallet_id: wallet.id };
  for (const alert of await lockAlerts(ctx, owner)) {
    const type = alert.alert_type as WalletAlertType;
    if (!(FIGURES[figures] as readonly WalletAlertType[]).includes(type)) continue;
    const current = figureOfWallet(wallet, type);
    if (current.eq(alert.previous_value) && alert.last_processed_at !== null) continue;
    await evaluateAlert(ctx, alert, current, {
      subscription_id: null,
      customer_id: wallet.customer_id,
      external_customer_id: wallet.external_customer_id,
      billable_metric_code: null,
    });
  }
}
