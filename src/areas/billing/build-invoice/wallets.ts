import type { PayingWallet, WalletKey } from '../../../engine/credits/wallet-payment.ts';
import { TARGET_WALLET_KEY } from '../../../engine/metrics/group-values.ts';
import { addCents, ZERO_CENTS } from '../../../engine/money/cents.ts';
import type { Context } from '../../../platform/context.ts';
import { announce } from '../../../platform/reactions.ts';
import { payFromWallet } from '../../credits/wallet-transactions/movements.ts';
import { listActiveWallets, lockWallet } from '../../credits/wallets/queries.ts';
import type { PaidAccount } from '../../ledger/ledger/credit-notes.ts';
import { walletsUsed } from '../announcements.ts';
import type { LineFee } from './fees.ts';
import type { PayerFacts } from './payer-and-issuer.ts';
import type { FinalInvoice } from './store-invoice.ts';

/** What decides which wallets may pay a fee. Rule: wallets.md#paying-an-invoice (1). */
export const walletKeyOf = ({ fee_type, charge, groupedBy }: LineFee): WalletKey => ({
  feeType: fee_type,
  billableMetricId: charge?.metric.id ?? null,
  targetWalletCode: groupedBy[TARGET_WALLET_KEY] ?? null,
});

/**
 * The wallets that may pay a final invoice of a customer, in the order in which they pay. The caller holds the
 * customer's lock, which every change of a wallet takes. Wallets never pay what is owed to a partner.
 *
 * Rule: wallets.md#paying-an-invoice.
 */
export async function payingWallets(ctx: Context, payer: PayerFacts, currency: string): Promise<PayingWallet[]> {
  if (payer.account_type === 'partner') return [];
  const wallets = await listActiveWallets(ctx, payer.id);
  return wallets
    .filter((wallet) => wallet.currency === currency && wallet.balance_cents > 0)
    .map((wallet) => ({
      id: wallet.id,
      code: wallet.code,
      balanceCents: wallet.balance_cents,
      feeTypes: wallet.allowed_fee_types,
      billableMetricIds: wallet.billable_metric_ids,
    }));
}

/**
 * Takes from wallets what they pay of a stored invoice, and computes what is left of them.
 * Rules: wallets.md#traceability, wallets.md#paying-an-invoice (4), top-ups.md#ongoing-balance "refresh".
 */
export async function storeWalletPayments(
  ctx: Context,
  invoice: FinalInvoice,
  paidAccount: PaidAccount = 'receivable',
): Promise<void> {
  const { walletPayments } = invoice.computation.draft;
  if (walletPayments.length === 0) return;
  let granted = ZERO_CENTS;
  let purchased = ZERO_CENTS;
  for (const { walletId, amountCents } of walletPayments) {
    const wallet = await lockWallet(ctx, { id: walletId });
    const document = { id: invoice.invoiceId, issuing_date: invoice.dates.issuingDate };
    const paid = await payFromWallet(ctx, wallet!, { invoice: document, amountCents, paidAccount });
    granted = addCents(granted, paid.grantedCents);
    purchased = addCents(purchased, paid.purchasedCents);
  }
  await ctx.db`
    update invoices set prepaid_granted_credit_amount_cents = nullif(${granted}::bigint, 0),
      prepaid_purchased_credit_amount_cents = nullif(${purchased}::bigint, 0)
    where organization_id = ${ctx.organizationId} and id = ${invoice.invoiceId}`;
  // Wallets whose remaining credits no invoice shows.
  if (!invoice.staysUnnumbered) await announce(ctx, walletsUsed, { customer_id: invoice.payer.id });
}
