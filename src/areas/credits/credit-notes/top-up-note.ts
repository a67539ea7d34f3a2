import { assert } from '../../../engine/assert.ts';
import { creditsOfMoney } from '../../../engine/credits/wallet-money.ts';
import { cents } from '../../../engine/money/cents.ts';
import type { Context } from '../../../platform/context.ts';
import type { Scope } from '../../../platform/db/scope.ts';
import type { InvoiceId } from '../../../platform/ids.ts';
import { recordInvoice } from '../../invoices/invoices/announce.ts';
import type { InvoiceRow } from '../../invoices/invoices/queries.ts';
import { partsOf } from '../../invoices/invoices/show-invoice.ts';
import { invoiceView } from '../../invoices/invoices/view.ts';
import { changeInvoice, payFees } from '../../invoices/invoices/writes.ts';
import { bookOnWallet } from '../../ledger/ledger/book-on-wallet.ts';
import { voidCredits, worthOf } from '../wallet-transactions/movements.ts';
import { findPurchaseOfInvoice, type TransactionRow } from '../wallet-transactions/queries.ts';
import { failTopUp } from '../wallet-transactions/top-up-payment.ts';
import { findWallet, lockWallet, type WalletRow } from '../wallets/queries.ts';
import type { CreditNoteRow } from './queries.ts';

/** The credits that a top-up invoice sells. */
export interface TopUp {
  wallet: WalletRow;
  purchase: TransactionRow;
  /** The bought credits that are left, in money. */
  heldCents: number;
}

/**
 * The purchase of a top-up invoice; undefined when its wallet is gone or has ended.
 * Rules: credit-note-amounts.md#creation, credit-note-amounts.md#what-is-left.
 */
export async function findTopUp(ctx: Scope, invoiceId: InvoiceId): Promise<TopUp | undefined> {
  const purchase = await findPurchaseOfInvoice(ctx, invoiceId);
  const wallet = purchase && (await findWallet(ctx, { id: purchase.wallet_id }));
  if (!purchase || wallet?.status !== 'active') return undefined;
  return { wallet, purchase, heldCents: purchase.remaining_amount_cents ?? wallet.balance_cents };
}

/**
 * What follows when a note on a top-up becomes final: a refund takes the credits back out of the wallet, and so does an
 * offset of one whose payment was taken back; an offset of an invoice that was never paid gives none.
 *
 * Rules: credit-notes.md#other-effects, ledger.md#l12.
 */
export async function finishTopUpNote(ctx: Context, note: CreditNoteRow): Promise<void> {
  const topUp = await findTopUp(ctx, note.invoice_id);
  assert(topUp, 'a note on a top-up has its wallet');
  const { refund_amount_cents: refund, offset_amount_cents: offset } = note;
  const isTakenBack = topUp.purchase.status === 'settled';
  const takenCents = isTakenBack ? refund + offset : refund;
  const wallet = await lockWallet(ctx, { id: topUp.wallet.id });
  await bookOnWallet(ctx, 'credit_note_created', wallet!, {
    source: { type: 'CreditNote', id: note.id },
    creditNoteId: note.id,
    invoice: { id: note.invoice_id, issuing_date: note.issuing_date },
    lines: [
      { account: 'prepaid_purchased', side: 'debit', amountCents: takenCents },
      { account: 'refunds_payable', side: 'credit', amountCents: refund },
      { account: 'prepaid_pending', side: 'debit', amountCents: isTakenBack ? 0 : offset },
      { account: 'receivable', side: 'credit', amountCents: offset },
    ],
  });
  if (takenCents === 0) return;
  await voidCredits(ctx, wallet!, creditsOfMoney(cents(takenCents), worthOf(wallet!)), {
    fromId: topUp.purchase.id,
    creditNoteId: note.id,
  });
}

/**
 * Settles a top-up invoice by a note: nothing is due, and the credits are never added. Rule:
 * credit-notes.md#other-effects.
 */
export async function settleUnpaidTopUp(ctx: Context, invoice: InvoiceRow): Promise<void> {
  const before = invoiceView(await partsOf(ctx, invoice), ctx.now());
  await failTopUp(ctx, invoice.id);
  await changeInvoice(ctx, invoice.id, { payment_status: 'succeeded', payment_overdue: false });
  await payFees(ctx, invoice.id, { status: 'succeeded', now: ctx.now() });
  await recordInvoice(ctx, 'invoice.payment_status_updated', invoice.id, { before });
}
