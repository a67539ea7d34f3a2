import type { SpendableNote } from '../../../engine/credits/credit-note-use.ts';
import type { Draft } from '../../../engine/invoices/draft.ts';
import type { ProgressiveCredit } from '../../../engine/invoices/progressive-credit.ts';
import { cents } from '../../../engine/money/cents.ts';
import type { Context } from '../../../platform/context.ts';
import { json } from '../../../platform/db/values.ts';
import type { CustomerId } from '../../../platform/ids.ts';
import { newId } from '../../../platform/ids.ts';
import { creditProgressiveExcess } from '../../credits/credit-notes/commands/on-progressive-excess.ts';
import { listSpendableNotes } from '../../credits/credit-notes/queries.ts';
import { takeFromNotes } from '../../credits/credit-notes/writes.ts';
import { bookNoteApplied, type PaidAccount } from '../../ledger/ledger/credit-notes.ts';
import type { ComputedInvoice } from './store-invoice.ts';
import type { InvoiceOwner } from './writes.ts';

/**
 * The notes that may pay a final invoice of a customer, oldest first. Excess of progressive invoices is turned into a
 * credit note first, so that it pays too. The caller holds the customer's lock.
 *
 * Rules: progressive-billing.md#credit-in-steps, credit-notes.md#paying-later-invoices.
 */
export async function spendableNotes(
  ctx: Context,
  customerId: CustomerId,
  currency: string,
  progressive: readonly ProgressiveCredit[],
): Promise<SpendableNote[]> {
  for (const { progressiveInvoiceId, excessCents, fallen } of progressive) {
    if (excessCents > 0) await creditProgressiveExcess(ctx, progressiveInvoiceId, excessCents, fallen);
  }
  const rows = await listSpendableNotes(ctx, customerId, currency);
  return rows.map((row) => ({ id: row.id, balanceCents: cents(row.balance_amount_cents) }));
}

/** Stores what notes pay of an invoice, and books it. Rules: credit-notes.md#paying-later-invoices, ledger.md#l2. */
export async function storeCreditNoteUses(
  ctx: Context,
  owner: InvoiceOwner,
  { creditNoteUses }: Draft,
  { payer, dates }: Pick<ComputedInvoice, 'payer' | 'dates'>,
  paidAccount: PaidAccount = 'receivable',
): Promise<void> {
  if (creditNoteUses.length === 0) return;
  const rows = creditNoteUses.map(({ creditNoteId, amountCents }) => ({
    id: newId(),
    credit_note_id: creditNoteId,
    amount_cents: amountCents,
  }));
  await ctx.db`
    insert into credits (id, organization_id, invoice_id, credit_note_id, amount_cents, amount_currency, before_taxes,
      created_at)
    select id, ${owner.organizationId}::uuid, ${owner.invoiceId}::uuid, credit_note_id, amount_cents, ${owner.currency},
      false, ${owner.createdAt}
    from jsonb_to_recordset(${json(rows)}::jsonb) as credit (id uuid, credit_note_id uuid, amount_cents bigint)`;
  await takeFromNotes(ctx, rows);
  for (const { id, credit_note_id, amount_cents } of rows) {
    await bookNoteApplied(
      ctx,
      {
        id: credit_note_id,
        billing_entity_id: owner.billingEntityId,
        customer_id: owner.customerId,
        currency: owner.currency,
        self_billed: payer.account_type === 'partner',
      },
      {
        creditId: id,
        invoice: { id: owner.invoiceId, issuing_date: dates.issuingDate },
        amountCents: amount_cents,
        paidAccount,
      },
    );
  }
}
