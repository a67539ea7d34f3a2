import type { BookedCredits } from '../../../engine/credits/wallet-money.ts';
import { bookedCredits } from '../../../engine/credits/wallet-money.ts';
import type { Decimal } from '../../../engine/money/decimal.ts';
import type { Context } from '../../../platform/context.ts';
import { recordTransaction } from '../../credits/wallet-transactions/announce.ts';
import { grantCredits, type Moved, worthOf } from '../../credits/wallet-transactions/movements.ts';
import { finalizeTopUp } from '../../credits/wallet-transactions/top-up-payment.ts';
import { insertTransaction, setInvoice, type TransactionWishes } from '../../credits/wallet-transactions/writes.ts';
import type { WalletRow } from '../../credits/wallets/queries.ts';
import { creditInvoice, type VoidedPurchase } from './credit-invoice.ts';

export interface TopUpCredits {
  paidCredits: Decimal;
  grantedCredits: Decimal;
}

/**
 * Adds credits to a locked, active wallet: purchased ones by an invoice that has to be paid first, granted ones at
 * once. Amounts worth less than a cent add nothing.
 *
 * @returns the transactions, purchased before granted, and the wallet after them
 * Rules: wallets.md#credits-to-money, wallets.md#transactions, top-ups.md#paid-top-ups.
 */
export async function topUp(
  ctx: Context,
  wallet: WalletRow,
  { paidCredits, grantedCredits }: TopUpCredits,
  wishes: TransactionWishes,
): Promise<Moved[]> {
  const made: Moved[] = [];
  const bought = bookedCredits(paidCredits, worthOf(wallet));
  const given = bookedCredits(grantedCredits, worthOf(wallet));
  if (bought.amountCents > 0) made.push(await purchase(ctx, wallet, { booked: bought, wishes }));
  if (given.amountCents > 0) made.push(await grantCredits(ctx, wallet, given, wishes));
  return made;
}

/** Rule: top-ups.md#paid-top-ups. @param again when it replaces a voided invoice */
export async function purchase(
  ctx: Context,
  wallet: WalletRow,
  { booked, wishes, again }: { booked: BookedCredits; wishes: TransactionWishes; again?: VoidedPurchase },
): Promise<Moved> {
  const requiresPayment = wishes.invoice_requires_successful_payment ?? wallet.invoice_requires_successful_payment;
  const id = await insertTransaction(ctx, {
    ...wishes,
    invoice_requires_successful_payment: requiresPayment,
    wallet,
    booked,
    transaction_status: 'purchased',
    isPending: true,
  });
  const invoiceId = await creditInvoice(ctx, wallet, {
    id,
    booked,
    wishes,
    status: requiresPayment ? 'open' : 'finalized',
    again,
  });
  await setInvoice(ctx, id, invoiceId);
  if (!requiresPayment) await finalizeTopUp(ctx, wallet, invoiceId, { id, amount_cents: booked.amountCents });
  return { transaction: await recordTransaction(ctx, 'wallet_transaction.created', { id, wallet }), wallet };
}
