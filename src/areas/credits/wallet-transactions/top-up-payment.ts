import type { Temporal } from 'temporal-polyfill';
import { localDate } from '../../../engine/calendar/local-day.ts';
import type { DocumentNumbering } from '../../../engine/invoices/invoice-number.ts';
import type { Context } from '../../../platform/context.ts';
import { json } from '../../../platform/db/values.ts';
import type { BillingEntityId, InvoiceId } from '../../../platform/ids.ts';
import { issuerSnapshot } from '../../customers/billing-entities/issuer-snapshot.ts';
import { readCustomer } from '../../customers/customers/queries.ts';
import { customerBaseView } from '../../customers/customers/view.ts';
import type { PaymentChange } from '../../invoices/announcements.ts';
import { recordInvoice } from '../../invoices/invoices/announce.ts';
import { assignNumber } from '../../invoices/invoices/numbering.ts';
import { type InvoiceRow, readInvoice } from '../../invoices/invoices/queries.ts';
import { bookOnWallet } from '../../ledger/ledger/book-on-wallet.ts';
import { addToBalance } from '../wallets/change-balance.ts';
import { lockWallet, type WalletRow } from '../wallets/queries.ts';
import { recordTransaction } from './announce.ts';
import { findPurchaseOfInvoice, type TransactionRow } from './queries.ts';
import { markFailed, markSettled } from './writes.ts';

/** Automatic purchases pause this long after one failed. Rule: top-ups.md#recurring-rules. */
const PAUSE_HOURS = 1;

/**
 * Applies the payment status of a top-up's invoice to its credits: paid ones become usable, refused ones wait for a
 * later payment. Other invoices are ignored. The caller holds the invoice locked.
 *
 * Rule: top-ups.md#paid-top-ups (5), top-ups.md#paid-top-ups (6).
 */
export async function followTopUpPayment(ctx: Context, { invoice, status }: PaymentChange): Promise<void> {
  if (invoice.invoice_type !== 'credit' || status === 'pending') return;
  const transaction = await findPurchaseOfInvoice(ctx, invoice.id);
  if (!transaction) return;
  // An offset by a credit note is not a payment.
  const isOffset = invoice.total_offsetted_credit_note_amount_cents > 0;
  if (status === 'failed' || isOffset) return failTopUp(ctx, invoice.id);
  const wallet = await lockWallet(ctx, { id: transaction.wallet_id });
  if (invoice.status === 'open') await finalizeTopUp(ctx, wallet!, invoice.id, transaction);
  await settle(ctx, wallet!, transaction, invoice);
}

/** Settles a purchase once, however often its payment is reported. Rules: top-ups.md#paid-top-ups (5), ledger.md#l7. */
async function settle(
  ctx: Context,
  wallet: WalletRow,
  transaction: TransactionRow,
  invoice: InvoiceRow,
): Promise<void> {
  const isUsable = wallet.status === 'active';
  if (!(await markSettled(ctx, transaction.id, isUsable))) return;
  const { amount_cents: amountCents, credit_amount: credits } = transaction;
  await bookOnWallet(ctx, 'top_up_settled', wallet, {
    source: { type: 'WalletTransaction', id: transaction.id },
    walletTransactionId: transaction.id,
    invoice,
    lines: [
      { account: 'prepaid_pending', side: 'debit', amountCents },
      { account: isUsable ? 'prepaid_purchased' : 'unapplied_receipts', side: 'credit', amountCents },
    ],
  });
  const changed = isUsable ? await addToBalance(ctx, wallet, { amountCents, credits }) : wallet;
  await recordTransaction(ctx, 'wallet_transaction.updated', {
    id: transaction.id,
    wallet: changed,
    before: transaction,
  });
}

/**
 * Notes that a top-up will not be paid now: its payment was refused, or its invoice offset or voided. A later payment
 * still settles it. Rules: credit-notes.md#other-effects, wallets.md#transactions, top-ups.md#paid-top-ups (6).
 */
export async function failTopUp(ctx: Context, invoiceId: InvoiceId): Promise<void> {
  const transaction = await findPurchaseOfInvoice(ctx, invoiceId);
  if (!transaction) return;
  const wallet = await lockWallet(ctx, { id: transaction.wallet_id });
  if (!(await markFailed(ctx, transaction.id))) return;
  await recordTransaction(ctx, 'wallet_transaction.updated', {
    id: transaction.id,
    wallet: wallet!,
    before: transaction,
  });
  if (transaction.source !== 'manual')
    ctx.after({
      step: 'refresh-wallets',
      payload: { customer_id: wallet!.customer_id },
      dueAt: ctx.now().add({ hours: PAUSE_HOURS }),
    });
}

interface Issuer {
  id: BillingEntityId;
  timezone: string;
  document_numbering: DocumentNumbering;
  document_number_prefix: string;
}

/**
 * Numbers, books and announces the invoice of a top-up: at once where it may be seen unpaid, else with its payment,
 * which makes it final that day. Rules: top-ups.md#paid-top-ups (3), top-ups.md#paid-top-ups (5), ledger.md#l6.
 */
export async function finalizeTopUp(
  ctx: Context,
  wallet: WalletRow,
  invoiceId: InvoiceId,
  transaction: Pick<TransactionRow, 'id' | 'amount_cents'>,
): Promise<void> {
  const { db, organizationId } = ctx;
  const invoice = await readInvoice(ctx, invoiceId);
  const customer = await readCustomer(ctx, wallet.customer_id);
  const [issuer] = await db<Issuer[]>`
    select id, timezone, document_numbering, document_number_prefix from billing_entities
    where organization_id = ${organizationId} and id = ${invoice.billing_entity_id}`;
  if (invoice.status === 'open')
    await openUp(ctx, invoiceId, { snapshot: customerBaseView(customer), day: localDate(ctx.now(), wallet.zone) });
  await assignNumber(ctx, invoiceId, { customer, issuer: issuer!, selfBilled: false, now: ctx.now() });
  const { amount_cents: amountCents } = transaction;
  await bookOnWallet(ctx, 'top_up_invoiced', wallet, {
    source: { type: 'Invoice', id: invoiceId },
    walletTransactionId: transaction.id,
    invoice: await readInvoice(ctx, invoiceId),
    lines: [
      { account: 'receivable', side: 'debit', amountCents },
      { account: 'prepaid_pending', side: 'credit', amountCents },
    ],
  });
  await recordInvoice(ctx, 'invoice.paid_credit_added', invoiceId);
}

const openUp = (ctx: Context, invoiceId: InvoiceId, { snapshot, day }: { snapshot: object; day: Temporal.PlainDate }) =>
  ctx.db`
    update invoices set status = 'finalized', finalized_at = ${ctx.now()}, customer_snapshot = ${json(snapshot)},
      issuer_snapshot = (select ${issuerSnapshot(ctx.db)} from billing_entities entity
        where entity.organization_id = invoices.organization_id and entity.id = invoices.billing_entity_id),
      issuing_date = ${day}, expected_finalization_date = ${day}, payment_due_date = ${day}, updated_at = ${ctx.now()}
    where organization_id = ${ctx.organizationId} and id = ${invoiceId}`;
