import type { Context } from '../../../platform/context.ts';
import type { ExternalCustomerId, InvoiceId, WalletTransactionId } from '../../../platform/ids.ts';
import { changedKeys } from '../../../platform/records/changes.ts';
import { oweNotice } from '../../messaging/mails/owe-mail.ts';
import type { WalletRow } from '../wallets/queries.ts';
import { walletBaseView } from '../wallets/view.ts';
import { findPurchaseOfInvoice, getTransaction, type TransactionRow } from './queries.ts';
import { transactionView } from './view.ts';

/**
 * Writes a transaction into the audit trail of its wallet and announces it. Rules: webhooks.md#event-types,
 * logs.md#activity-logs.
 */
export async function recordTransaction(
  ctx: Context,
  type: 'wallet_transaction.created' | 'wallet_transaction.updated',
  { id, wallet, before }: { id: WalletTransactionId; wallet: WalletRow; before?: TransactionRow },
): Promise<TransactionRow> {
  const transaction = await getTransaction(ctx, id);
  const own = transactionView(transaction);
  const object = { ...own, wallet: walletBaseView(wallet) };
  ctx.record({
    activity: {
      type,
      resourceType: 'Wallet',
      resourceId: wallet.id,
      object,
      ...(before === undefined ? {} : { changes: changedKeys(transactionView(before), own) }),
      externalCustomerId: wallet.external_customer_id,
    },
    webhook: {
      type,
      objectType: 'wallet_transaction',
      objectId: id,
      customerId: wallet.customer_id,
      object,
    },
  });
  return transaction;
}

/**
 * Announces that the payment of a top-up was refused, with what its provider said. Rule: top-ups.md#paid-top-ups (6).
 */
export async function tellTopUpRefused(
  ctx: Context,
  invoiceId: InvoiceId,
  failure: { external_customer_id: ExternalCustomerId },
): Promise<void> {
  const transaction = await findPurchaseOfInvoice(ctx, invoiceId);
  if (!transaction) return;
  const object = { svc_wallet_transaction_id: transaction.id, ...failure };
  const type = 'wallet_transaction.payment_failure';
  ctx.record({
    activity: {
      type,
      resourceType: 'Wallet',
      resourceId: transaction.wallet_id,
      object,
      externalCustomerId: failure.external_customer_id,
    },
    webhook: {
      type,
      objectType: 'payment_provider_wallet_transaction_payment_error',
      objectId: transaction.id,
      customerId: transaction.customer_id,
      object,
    },
  });
  // A purchase that is refused again is no news.
  oweNotice(ctx, {
    template: 'top_up_failed',
    resource_id: transaction.id,
    occasion: 'refused',
    at: ctx.now().toString(),
  });
}
