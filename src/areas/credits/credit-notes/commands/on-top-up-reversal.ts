import { alignedTotal } from '../../../../engine/credits/credit-note-amounts.ts';
import { cents } from '../../../../engine/money/cents.ts';
import { decimal } from '../../../../engine/money/decimal.ts';
import type { Context } from '../../../../platform/context.ts';
import { dueOf } from '../../../invoices/invoices/amount-due.ts';
import type { InvoiceRow } from '../../../invoices/invoices/queries.ts';
import { creditableOfFee, readCreditedInvoice } from '../credited-invoice.ts';
import { amountsOf, makeNote } from '../make-note.ts';

/**
 * Takes the unspent credits of a top-up back, whose payment the bank has taken back: a note of them is offset against
 * its invoice. What was spent stays due. The invoice is locked, and owes again.
 *
 *   5000 bought, 3000 of them spent, the debit charged back → a note of 2000 offset, 3000 due
 *
 * Rule: top-ups.md#top-ups-taken-back.
 */
export async function takeBackTopUp(ctx: Context, invoice: InvoiceRow): Promise<void> {
  const credited = await readCreditedInvoice(ctx, invoice);
  const [fee] = credited.fees;
  if (credited.topUp?.purchase.status !== 'settled' || fee === undefined) return;
  const amountCents = Math.min(creditableOfFee(credited, fee), dueOf(invoice));
  if (amountCents <= 0) return;
  const items = [{ fee, preciseAmountCents: decimal(amountCents) }];
  const amounts = amountsOf(credited, items);
  const parts = { creditCents: cents(0), refundCents: cents(0), offsetCents: alignedTotal(amounts) };
  await makeNote(ctx, { credited, items, amounts, parts, reason: 'other' });
}
