import { localDate } from '../../../engine/calendar/local-day.ts';
import type { Context } from '../../../platform/context.ts';
import type { BillingEntityId, CustomerId, InvoiceId, PaymentId, PaymentProviderId } from '../../../platform/ids.ts';
import { balancesOfInvoice } from './balances-of-invoice.ts';
import { type BookedDocument, bookOnInvoice } from './book-on-invoice.ts';
import { type LedgerLine, post } from './postings.ts';

/** Money that came in. */
export interface BookedPayment {
  id: PaymentId;
  customer_id: CustomerId;
  amount_cents: number;
  amount_currency: string;
  payment_provider_id: PaymentProviderId | null;
}

/** What a payment settles of an invoice: never more than is due. */
export interface BookedShare {
  invoice: BookedDocument;
  amountCents: number;
}

/**
 * Books a payment that succeeded: it reduces the due amount of each invoice, and a surplus is unapplied. Amounts marked
 * as received elsewhere are used first.
 *
 * Rules: ledger.md#journal (8), ledger.md#l16, ledger.md#l24.
 */
export async function bookPayment(
  ctx: Context,
  payment: BookedPayment,
  shares: readonly BookedShare[],
  billingEntityId: BillingEntityId,
): Promise<void> {
  const lines: LedgerLine[] = [];
  for (const { invoice, amountCents } of shares) {
    const balances = await balancesOfInvoice(ctx, invoice.id);
    const marked = Math.abs(balances.unrecorded_receipts ?? 0);
    const fromMarked = Math.min(marked, amountCents);
    const due = invoice.self_billed ? 'partner_payable' : 'receivable';
    lines.push(
      { account: 'unrecorded_receipts', side: 'credit', amountCents: fromMarked, invoiceId: invoice.id },
      { account: due, side: 'credit', amountCents: amountCents - fromMarked, invoiceId: invoice.id },
    );
  }
  const settled = shares.reduce((total, { amountCents }) => total + amountCents, 0);
  lines.unshift({ account: 'cash', side: 'debit', amountCents: payment.amount_cents });
  lines.push({ account: 'unapplied_receipts', side: 'credit', amountCents: payment.amount_cents - settled });
  const ordinal = await countReversals(ctx, payment.id);
  const isSelfBilled = shares.some(({ invoice }) => invoice.self_billed);
  const bookedOn = await localDayOf(ctx, billingEntityId);
  await post(ctx, {
    rule: 'payment_succeeded',
    source: { type: 'Payment', id: payment.id },
    ordinal,
    currency: payment.amount_currency,
    billingEntityId,
    bookedAt: ctx.now(),
    bookedOn,
    documentDate: bookedOn,
    customerId: payment.customer_id,
    invoiceId: shares.length === 1 ? shares[0]!.invoice.id : null,
    payment: { id: payment.id, providerId: payment.payment_provider_id },
    lines: isSelfBilled ? lines.map(swapped) : lines,
  });
}

/** How often a payment was taken back: when it comes in again after that, it is booked again. */
async function countReversals({ db, organizationId }: Context, id: PaymentId): Promise<number> {
  const [row] = await db<{ count: number }[]>`
    select count(*)::int as count from ledger_transactions
    where organization_id = ${organizationId} and rule = 'payment_reversed' and source_type = 'Payment'
      and source_id = ${id}`;
  return row!.count;
}

/** Books a payment that was taken back (a returned debit): what it has booked last. Rule: ledger.md#l17. */
export async function bookReversal(
  ctx: Context,
  payment: BookedPayment,
  billingEntityId: BillingEntityId,
): Promise<void> {
  const ordinal = await countReversals(ctx, payment.id);
  const booked = await ctx.db<
    {
      account_code: LedgerLine['account'];
      side: LedgerLine['side'];
      amount_cents: number;
      invoice_id: InvoiceId | null;
    }[]
  >`
    select entry.account_code, entry.side, entry.amount_cents, entry.invoice_id
    from ledger_transactions done
    join ledger_entries entry on entry.organization_id = done.organization_id and entry.transaction_id = done.id
    where done.organization_id = ${ctx.organizationId} and done.rule = 'payment_succeeded'
      and done.source_type = 'Payment' and done.source_id = ${payment.id} and done.ordinal = ${ordinal}
    order by entry.position`;
  if (booked.length === 0) return;
  const bookedOn = await localDayOf(ctx, billingEntityId);
  await post(ctx, {
    rule: 'payment_reversed',
    source: { type: 'Payment', id: payment.id },
    ordinal,
    currency: payment.amount_currency,
    billingEntityId,
    bookedAt: ctx.now(),
    bookedOn,
    documentDate: bookedOn,
    customerId: payment.customer_id,
    invoiceId: null,
    payment: { id: payment.id, providerId: payment.payment_provider_id },
    lines: booked.map((entry) =>
      swapped({
        account: entry.account_code,
        side: entry.side,
        amountCents: entry.amount_cents,
        ...(entry.invoice_id === null ? {} : { invoiceId: entry.invoice_id }),
      }),
    ),
  });
}

/**
 * Books a lost dispute: the paid amount less refunds is lost. The unpaid amount stays due.
 * Rule: ledger.md#l18.
 */
export async function bookDisputeLost(ctx: Context, invoice: BookedDocument): Promise<void> {
  const { db, organizationId } = ctx;
  const [row] = await db<{ paid: number; refunded: number }[]>`
    select
      (select coalesce(sum(share.amount_cents), 0)::bigint from payment_invoices share
        join payments payment on payment.organization_id = share.organization_id and payment.id = share.payment_id
        where share.organization_id = ${organizationId} and share.invoice_id = ${invoice.id}
          and payment.payment_status = 'succeeded') as paid,
      (select coalesce(sum(case side when 'credit' then entry.amount_cents else -entry.amount_cents end), 0)::bigint
        from ledger_entries entry
        join ledger_transactions booked on booked.id = entry.transaction_id
        where entry.organization_id = ${organizationId} and entry.invoice_id = ${invoice.id}
          and entry.account_code = 'cash' and booked.rule = 'refund_succeeded') as refunded`;
  const amountCents = Math.max(row!.paid - row!.refunded, 0);
  await bookOnInvoice(ctx, 'dispute_lost', invoice, [
    { account: 'dispute_losses', amountCents },
    { account: 'cash', amountCents: -amountCents },
  ]);
}

const swapped = (line: LedgerLine): LedgerLine => ({ ...line, side: line.side === 'debit' ? 'credit' : 'debit' });

async function localDayOf(ctx: Context, billingEntityId: BillingEntityId) {
  const [entity] = await ctx.db<{ timezone: string }[]>`
    select timezone from billing_entities where organization_id = ${ctx.organizationId} and id = ${billingEntityId}`;
  return localDate(ctx.now(), entity!.timezone);
}
