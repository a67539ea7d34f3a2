import type { Context } from '../../../platform/context.ts';
import type { InvoiceId } from '../../../platform/ids.ts';
import { balancesOfInvoice } from './balances-of-invoice.ts';
import { type BookedDocument, bookOnInvoice } from './book-on-invoice.ts';

/**
 * Books a write-off of a part of the due amount; amounts marked as received elsewhere are used first.
 * Rules: ledger.md#journal (8), ledger.md#postings L21, L24.
 */
export async function bookWrittenOff(ctx: Context, invoice: BookedDocument, amountCents: number): Promise<void> {
  const balances = await balancesOfInvoice(ctx, invoice.id);
  const fromMarked = Math.min(Math.abs(balances.unrecorded_receipts ?? 0), amountCents);
  const sign = invoice.self_billed ? -1 : 1;
  await bookOnInvoice(ctx, 'written_off', invoice, [
    { account: 'write_offs', amountCents: sign * amountCents },
    { account: 'unrecorded_receipts', amountCents: -sign * fromMarked },
    { account: invoice.self_billed ? 'partner_payable' : 'receivable', amountCents: sign * (fromMarked - amountCents) },
  ]);
}

/**
 * Books the reversal of a write-off: the amount is due again, or received elsewhere if the invoice is marked as paid.
 * Rules: ledger.md#l20, ledger.md#l21.
 */
export async function bookWriteOffReversed(
  ctx: Context,
  invoice: BookedDocument,
  { amountCents, isMarkedPaid }: { amountCents: number; isMarkedPaid: boolean },
): Promise<void> {
  const sign = invoice.self_billed ? -1 : 1;
  const due = invoice.self_billed ? 'partner_payable' : 'receivable';
  await bookOnInvoice(ctx, 'written_off', invoice, [
    { account: isMarkedPaid ? 'unrecorded_receipts' : due, amountCents: sign * amountCents },
    { account: 'write_offs', amountCents: -sign * amountCents },
  ]);
}

/** Whether the invoice was set to succeeded by hand, and not back. Rule: ledger.md#l20. */
export async function isMarkedPaid(ctx: Context, invoiceId: InvoiceId): Promise<boolean> {
  const [row] = await ctx.db<{ marked: boolean }[]>`
    select coalesce(sum(case entry.side when 'debit' then entry.amount_cents else -entry.amount_cents end),
      0) <> 0 as marked
    from ledger_transactions booked
    join ledger_entries entry on entry.organization_id = booked.organization_id and entry.transaction_id = booked.id
      and entry.account_code = 'unrecorded_receipts'
    where booked.organization_id = ${ctx.organizationId} and booked.rule = 'marked_paid'
      and booked.source_type = 'Invoice' and booked.source_id = ${invoiceId}`;
  return row!.marked;
}
