import type { Context } from '../../../platform/context.ts';
import { giveBackCoupons } from '../../credits/applied-coupons/endings.ts';
import { releaseNotes } from '../../credits/credit-notes/commands/on-invoice-void.ts';
import { releaseCredits } from '../../credits/wallet-transactions/give-back-to-wallets.ts';
import { oweTakingTaxesBack } from '../../invoices/invoices/owe-taxes-back.ts';
import { readInvoice } from '../../invoices/invoices/queries.ts';
import { giveUpPayments } from '../../payments/payments/give-up-payments.ts';
import { markWallets } from '../../usage/wallet-marks/wallet-marks.ts';
import { markClosed } from './gated-subscriptions.ts';

/**
 * Closes the first invoice of a subscription that was not paid: it is no longer to be paid, and coupons, credit notes
 * and wallets get back what they gave, and a tax engine takes back what it has recorded of it.
 *
 * Rules: activation-rules.md, ledger.md#l5, tax-engines.md#one-record.
 */
export async function closeOpenInvoice(ctx: Context, { id }: { id: string }): Promise<void> {
  const invoice = await readInvoice(ctx, id);
  await markClosed(ctx, id, ctx.now());
  await giveUpPayments(ctx, id);
  await giveBackCoupons(ctx, id);
  await releaseNotes(ctx, invoice);
  await releaseCredits(ctx, invoice);
  await markWallets(ctx, invoice.customer_id);
  oweTakingTaxesBack(ctx, invoice);
}
