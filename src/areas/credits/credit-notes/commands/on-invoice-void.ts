import { alignedTotal } from '../../../../engine/credits/credit-note-amounts.ts';
import { refundableOfInvoice } from '../../../../engine/credits/credit-note-limits.ts';
import { type Cents, cents } from '../../../../engine/money/cents.ts';
import { Decimal, decimal } from '../../../../engine/money/decimal.ts';
import type { Context } from '../../../../platform/context.ts';
import { refuse } from '../../../../platform/refusal.ts';
import type { InvoiceRow } from '../../../invoices/invoices/queries.ts';
import { bookNoteGivenBack, bookNoteReleased } from '../../../ledger/ledger/credit-notes.ts';
import { type CreditedInvoice, creditableOf, creditableOfFee, readCreditedInvoice } from '../credited-invoice.ts';
import { amountsOf, makeNote } from '../make-note.ts';
import { readCreditNote } from '../queries.ts';
import { changeCreditNote, listUsesOnInvoice, type NewItem } from '../writes.ts';
import { forfeit } from './void.ts';

const ITEM_DIGITS = 5;

/**
 * The notes of an invoice that is about to be voided: one with the requested parts, and one for the rest that cannot be
 * used.
 *
 * @throws Refusal 422 credit_refund_amount, when more is asked for than is left; refund_amount, which the provider that
 *   was paid cannot give back
 * Rules: credit-notes.md#voided-invoices, invoice-operations.md#void.
 */
export async function makeNotesOfVoid(
  ctx: Context,
  invoice: InvoiceRow,
  asked: { creditCents: number; refundCents: number },
): Promise<void> {
  const credited = await readCreditedInvoice(ctx, invoice);
  const creditable = creditableOf(credited);
  const total = asked.creditCents + asked.refundCents;
  const refundable = refundableOfInvoice(credited.noted, creditable);
  if (asked.creditCents > creditable || asked.refundCents > refundable || total > creditable)
    throw refuse.invalid({ credit_refund_amount: ['total_amount_exceeds_invoice_amount'] });
  if (asked.refundCents % credited.noted.refundStepCents !== 0)
    throw refuse.invalid({ refund_amount: ['value_is_out_of_range'] });

  if (total > 0) {
    const items = itemsWorth(credited, cents(total), creditable);
    const parts = {
      creditCents: cents(asked.creditCents),
      refundCents: cents(asked.refundCents),
      offsetCents: cents(0),
    };
    await makeNote(ctx, { credited, items, amounts: amountsOf(credited, items), parts, reason: 'other' });
  }
  await makeForfeitedNote(ctx, invoice);
}

/** What is left of each fee, in proportion to the requested share of the whole. */
function itemsWorth(credited: CreditedInvoice, asked: Cents, creditable: Cents): NewItem[] {
  return creditableItems(credited).map(({ fee, preciseAmountCents }) => ({
    fee,
    preciseAmountCents: preciseAmountCents
      .times(asked)
      .div(creditable)
      .toDecimalPlaces(ITEM_DIGITS, Decimal.ROUND_HALF_UP),
  }));
}

const creditableItems = (credited: CreditedInvoice): NewItem[] =>
  credited.fees
    .map((fee) => ({ fee, preciseAmountCents: decimal(creditableOfFee(credited, fee)) }))
    .filter(({ preciseAmountCents }) => preciseAmountCents.gt(0));

async function makeForfeitedNote(ctx: Context, invoice: InvoiceRow): Promise<void> {
  const credited = await readCreditedInvoice(ctx, invoice);
  const items = creditableItems(credited);
  const amounts = amountsOf(credited, items);
  const rest = alignedTotal(amounts);
  if (rest === 0) return;
  const parts = { creditCents: rest, refundCents: cents(0), offsetCents: cents(0) };
  const id = await makeNote(ctx, { credited, items, amounts, parts, reason: 'other' });
  await forfeit(ctx, await readCreditNote(ctx, id));
}

/**
 * Restores the notes that paid an invoice which is voided without a note of its own.
 *
 * @throws Refusal 405 credit_note_voided, when such a note was voided since
 * Rules: credit-notes.md#states, credit-notes.md#voided-invoices.
 */
export async function giveBackToNotes(ctx: Context, invoice: InvoiceRow): Promise<void> {
  for (const use of await listUsesOnInvoice(ctx, invoice.id)) {
    const note = await readCreditNote(ctx, use.credit_note_id);
    if (note.credit_status === 'voided') throw refuse.notAllowed('credit_note_voided');
    await changeCreditNote(ctx, note.id, {
      credit_status: 'available',
      balance_amount_cents: note.balance_amount_cents + use.amount_cents,
    });
    await bookNoteGivenBack(ctx, note, { creditId: use.credit_id, invoice, amountCents: use.amount_cents });
  }
}

/**
 * Restores the notes that an open invoice used when it is closed unpaid; voided notes stay unchanged.
 * Rules: activation-rules.md, ledger.md#l5.
 */
export async function releaseNotes(ctx: Context, invoice: InvoiceRow): Promise<void> {
  for (const use of await listUsesOnInvoice(ctx, invoice.id)) {
    const note = await readCreditNote(ctx, use.credit_note_id);
    const isVoided = note.credit_status === 'voided';
    if (!isVoided)
      await changeCreditNote(ctx, note.id, {
        credit_status: 'available',
        balance_amount_cents: note.balance_amount_cents + use.amount_cents,
      });
    const account = isVoided ? 'breakage' : 'customer_credit';
    await bookNoteReleased(ctx, note, { creditId: use.credit_id, invoice, amountCents: use.amount_cents, account });
  }
}
