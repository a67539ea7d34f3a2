import { localDate } from '../../../engine/calendar/local-day.ts';
import type { Context } from '../../../platform/context.ts';
import type { InvoiceId } from '../../../platform/ids.ts';
import { balancesOfInvoice } from './balances-of-invoice.ts';
import type { BookedDocument, Change } from './book-on-invoice.ts';
import { taxShares } from './invoice-finalized.ts';
import { type AccountCode, post } from './postings.ts';

/**
 * The account of applied credits: the receivable, or a reserve while the invoice is open. Rules: ledger.md#l2,
 * ledger.md#l3.
 */
export type PaidAccount = 'receivable' | 'applied_pending';

/** A credit note as the journal names it; structural: a note's row can be passed. */
export interface BookedNote extends BookedDocument {
  invoice_id: InvoiceId;
  total_amount_cents: number;
  credit_amount_cents: number;
  refund_amount_cents: number;
  offset_amount_cents: number;
  balance_amount_cents: number;
  taxes_amount_cents: number;
  applied_taxes: readonly { tax_code: string; amount_cents: number }[];
}

/**
 * Books a note that became final: revenue and tax are reversed against its balance, its refund and its offset. A note
 * of an invoice that was voided before returns what was received, and the rest is a promotion.
 *
 * Rules: ledger.md#l11, ledger.md#l13.
 */
export async function bookNoteCreated(ctx: Context, note: BookedNote, isOfVoided: boolean): Promise<void> {
  const balances = await balancesOfInvoice(ctx, note.invoice_id);
  const given: Change[] = [
    { account: 'customer_credit', amountCents: -note.credit_amount_cents },
    { account: 'refunds_payable', amountCents: -note.refund_amount_cents },
  ];
  if (isOfVoided) {
    const received = Math.min(Math.abs(balances.unapplied_receipts ?? 0), note.total_amount_cents);
    return bookOnNote(ctx, 'credit_note_created', note, [
      { account: 'unapplied_receipts', amountCents: received },
      { account: 'write_offs', amountCents: note.total_amount_cents - received },
      ...given,
    ]);
  }
  // Amounts marked as received elsewhere are used first (ledger.md#journal (8)).
  const fromMarked = Math.min(Math.abs(balances.unrecorded_receipts ?? 0), note.offset_amount_cents);
  const taxes = note.applied_taxes.map((tax) => ({ code: tax.tax_code, amountCents: tax.amount_cents }));
  return bookOnNote(ctx, 'credit_note_created', note, [
    { account: 'sales_returns', amountCents: note.total_amount_cents - note.taxes_amount_cents },
    ...taxShares({ taxes, taxesAmountCents: note.taxes_amount_cents }).map(
      ({ code, amountCents }): Change => ({ account: 'tax_payable', amountCents, taxCode: code }),
    ),
    ...given,
    { account: 'unrecorded_receipts', amountCents: -fromMarked },
    { account: 'receivable', amountCents: fromMarked - note.offset_amount_cents },
  ]);
}

/** Books that a note pays an invoice, or is reserved by one that waits for its payment. Rule: ledger.md#l2. */
export const bookNoteApplied = (
  ctx: Context,
  note: Omit<BookedDocument, 'issuing_date'>,
  use: {
    creditId: string;
    invoice: Pick<BookedDocument, 'id' | 'issuing_date'>;
    amountCents: number;
    paidAccount?: PaidAccount;
  },
): Promise<void> =>
  bookOnNote(
    ctx,
    'credit_note_applied',
    { ...note, issuing_date: use.invoice.issuing_date, invoice_id: use.invoice.id },
    [
      { account: 'customer_credit', amountCents: use.amountCents },
      { account: use.paidAccount ?? 'receivable', amountCents: -use.amountCents },
    ],
    { type: 'Credit', id: use.creditId },
  );

/** Books that a voided invoice gives back what a note paid of it. Rule: ledger.md#l19 (a). */
export const bookNoteGivenBack = (
  ctx: Context,
  note: BookedNote,
  back: { creditId: string; invoice: BookedDocument; amountCents: number },
): Promise<void> =>
  bookOnNote(
    ctx,
    'invoice_voided',
    { ...note, issuing_date: back.invoice.issuing_date, invoice_id: back.invoice.id },
    [
      { account: 'receivable', amountCents: back.amountCents },
      { account: 'customer_credit', amountCents: -back.amountCents },
    ],
    { type: 'Credit', id: back.creditId },
  );

/**
 * Books the release of a note that an open invoice had reserved when it is closed unpaid: restored, or lost if the note
 * was voided since. Rule: ledger.md#l5.
 */
export const bookNoteReleased = (
  ctx: Context,
  note: BookedNote,
  released: { creditId: string; invoice: BookedDocument; amountCents: number; account: 'customer_credit' | 'breakage' },
): Promise<void> =>
  bookOnNote(
    ctx,
    'open_invoice_closed',
    { ...note, issuing_date: released.invoice.issuing_date, invoice_id: released.invoice.id },
    [
      { account: 'applied_pending', amountCents: released.amountCents },
      { account: released.account, amountCents: -released.amountCents },
    ],
    { type: 'Credit', id: released.creditId },
  );

/** Books that what is left of a note is forfeited; its tax is not opened again. Rule: ledger.md#l14. */
export const bookNoteVoided = (ctx: Context, note: BookedNote): Promise<void> =>
  bookOnNote(ctx, 'credit_note_voided', note, [
    { account: 'customer_credit', amountCents: note.balance_amount_cents },
    { account: 'breakage', amountCents: -note.balance_amount_cents },
  ]);

/** Books a refund that was paid out, or reverses that. Rule: ledger.md#l15. */
export function bookRefund(ctx: Context, note: BookedNote, isPaidOut: boolean): Promise<void> {
  const amountCents = isPaidOut ? note.refund_amount_cents : -note.refund_amount_cents;
  return bookOnNote(ctx, 'refund_succeeded', note, [
    { account: 'refunds_payable', amountCents },
    { account: 'cash', amountCents: -amountCents },
  ]);
}

/** Accounts of invoices that a partner issues itself. Rule: ledger.md#l24. */
const PARTNER_ACCOUNTS: Partial<Record<AccountCode, AccountCode>> = {
  receivable: 'partner_payable',
  sales_returns: 'partner_costs',
  tax_payable: 'tax_recoverable',
  customer_credit: 'partner_credit',
};

async function bookOnNote(
  ctx: Context,
  rule: string,
  note: BookedDocument & { invoice_id: InvoiceId },
  changes: readonly Change[],
  source = { type: 'CreditNote', id: note.id },
): Promise<void> {
  const { db, organizationId } = ctx;
  const [facts] = await db<{ timezone: string; ordinal: number }[]>`
    select timezone, (select count(*) from ledger_transactions
      where organization_id = ${organizationId} and rule = ${rule} and source_type = ${source.type}
        and source_id = ${source.id}) as ordinal
    from billing_entities where organization_id = ${organizationId} and id = ${note.billing_entity_id}`;
  const sign = note.self_billed ? -1 : 1;
  await post(ctx, {
    rule,
    source,
    ordinal: facts!.ordinal,
    currency: note.currency,
    billingEntityId: note.billing_entity_id,
    bookedAt: ctx.now(),
    bookedOn: localDate(ctx.now(), facts!.timezone),
    documentDate: note.issuing_date,
    customerId: note.customer_id,
    invoiceId: note.invoice_id,
    creditNoteId: note.id,
    lines: changes.map(({ account, amountCents, taxCode }) => ({
      account: (note.self_billed ? PARTNER_ACCOUNTS[account] : undefined) ?? account,
      side: amountCents * sign < 0 ? 'credit' : 'debit',
      amountCents: Math.abs(amountCents),
      ...(taxCode ? { taxCode } : {}),
    })),
  });
}
