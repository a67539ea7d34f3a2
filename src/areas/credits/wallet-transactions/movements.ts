import { consumeCredits, splitOf } from '../../../engine/credits/wallet-funding.ts';
import { type BookedCredits, creditsOfMoney } from '../../../engine/credits/wallet-money.ts';
import { type Cents, cents } from '../../../engine/money/cents.ts';
import { exponentOf } from '../../../engine/money/currency.ts';
import type { Context } from '../../../platform/context.ts';
import type { CreditNoteId } from '../../../platform/ids.ts';
import { refuse } from '../../../platform/refusal.ts';
import { bookOnWallet } from '../../ledger/ledger/book-on-wallet.ts';
import type { PaidAccount } from '../../ledger/ledger/credit-notes.ts';
import { addToBalance, takeFromBalance } from '../wallets/change-balance.ts';
import { forfeited } from '../wallets/forfeited-credits.ts';
import type { WalletRow } from '../wallets/queries.ts';
import { recordTransaction } from './announce.ts';
import { lockOpenInbound, type TransactionRow } from './queries.ts';
import { insertConsumptions, insertTransaction, type TransactionWishes } from './writes.ts';

/** A transaction that was made, and its wallet after it. */
export interface Moved {
  transaction: TransactionRow;
  wallet: WalletRow;
}

export const worthOf = ({ rate_amount, currency }: Pick<WalletRow, 'rate_amount' | 'currency'>) => ({
  rate: rate_amount,
  exponent: exponentOf(currency),
});

/**
 * Gives credits to a locked wallet, usable at once. Rules: wallets.md#transactions, wallets.md#balance, ledger.md#l8.
 */
export async function grantCredits(
  ctx: Context,
  wallet: WalletRow,
  booked: BookedCredits,
  wishes: TransactionWishes,
): Promise<Moved> {
  const id = await insertTransaction(ctx, { ...wishes, wallet, booked, transaction_status: 'granted' });
  await bookOnWallet(ctx, 'credits_granted', wallet, {
    source: { type: 'WalletTransaction', id },
    walletTransactionId: id,
    lines: [
      { account: 'promotions', side: 'debit', amountCents: booked.amountCents },
      { account: 'prepaid_granted', side: 'credit', amountCents: booked.amountCents },
    ],
  });
  const changed = await addToBalance(ctx, wallet, booked);
  return {
    transaction: await recordTransaction(ctx, 'wallet_transaction.created', { id, wallet: changed }),
    wallet: changed,
  };
}

/**
 * Voids credits of a locked wallet: those of one inbound transaction if it is named, else of all in order.
 *
 * creditNoteId  the note of a paid top-up that gives the money back, and books it (L12)
 * @throws Refusal 422 amount_cents exceeds_remaining_transaction_amount, exceeds_available_amount
 * Rules: wallets.md#transactions, wallets.md#traceability, ledger.md#l9, ledger.md#l12.
 */
export async function voidCredits(
  ctx: Context,
  wallet: WalletRow,
  booked: BookedCredits,
  {
    fromId = null,
    creditNoteId,
    wishes = {},
  }: { fromId?: string | null; creditNoteId?: CreditNoteId; wishes?: TransactionWishes },
): Promise<Moved> {
  const taken = { ...booked, amountCents: cents(Math.min(booked.amountCents, wallet.balance_cents)) };
  const consumed = await consumable(ctx, wallet, { amountCents: taken.amountCents, onlyId: fromId });
  if (!consumed)
    throw refuse.invalid({
      amount_cents: [fromId === null ? 'exceeds_available_amount' : 'exceeds_remaining_transaction_amount'],
    });
  const id = await insertTransaction(ctx, {
    ...wishes,
    wallet,
    booked: taken,
    transaction_status: 'voided',
    ...(creditNoteId === undefined ? {} : { credit_note_id: creditNoteId }),
  });
  await insertConsumptions(ctx, id, consumed);
  const { grantedCents, purchasedCents } = splitOf(consumed);
  // A credit note on a top-up books the return of purchased credits itself.
  if (creditNoteId === undefined)
    await bookOnWallet(ctx, 'credits_voided', wallet, {
      source: { type: 'WalletTransaction', id },
      walletTransactionId: id,
      lines: forfeited(grantedCents, purchasedCents),
    });
  const changed = await takeFromBalance(ctx, wallet, taken, { isVoided: true });
  return {
    transaction: await recordTransaction(ctx, 'wallet_transaction.created', { id, wallet: changed }),
    wallet: changed,
  };
}

/** Credits that pay a part of an invoice. */
export interface PaidByWallet {
  wallet: WalletRow;
  grantedCents: Cents;
  purchasedCents: Cents;
}

/**
 * Pays a part of an invoice from a locked wallet with enough credits; an invoice takes from a wallet once.
 * Rules: wallets.md#traceability, wallets.md#paying-an-invoice (4), ledger.md#l3.
 */
export async function payFromWallet(
  ctx: Context,
  wallet: WalletRow,
  {
    invoice,
    amountCents,
    paidAccount = 'receivable',
  }: { invoice: Parameters<typeof bookOnWallet>[3]['invoice'] & object; amountCents: Cents; paidAccount?: PaidAccount },
): Promise<PaidByWallet> {
  const booked = creditsOfMoney(amountCents, worthOf(wallet));
  const consumed = await consumable(ctx, wallet, { amountCents, onlyId: null });
  if (!consumed) throw refuse.invalid({ amount_cents: ['exceeds_available_amount'] });
  const id = await insertTransaction(ctx, { wallet, booked, transaction_status: 'invoiced', invoice_id: invoice.id });
  await insertConsumptions(ctx, id, consumed);
  const { grantedCents, purchasedCents } = splitOf(consumed);
  await bookOnWallet(ctx, 'wallet_applied', wallet, {
    source: { type: 'WalletTransaction', id },
    walletTransactionId: id,
    invoice,
    lines: [
      { account: 'prepaid_granted', side: 'debit', amountCents: grantedCents },
      { account: 'prepaid_purchased', side: 'debit', amountCents: purchasedCents },
      { account: paidAccount, side: 'credit', amountCents },
    ],
  });
  const changed = await takeFromBalance(ctx, wallet, booked);
  await recordTransaction(ctx, 'wallet_transaction.created', { id, wallet: changed });
  return { wallet: changed, grantedCents, purchasedCents };
}

async function consumable(
  ctx: Context,
  wallet: WalletRow,
  { amountCents, onlyId }: { amountCents: Cents; onlyId: string | null },
) {
  const open = await lockOpenInbound(ctx, wallet.id, onlyId);
  return consumeCredits(
    open.map((row) => ({
      id: row.id,
      remainingCents: row.remaining_amount_cents,
      remainingPurchasedCents: row.remaining_purchased_cents,
    })),
    amountCents,
  );
}
