import { alignedTotal } from '../../../../engine/credits/credit-note-amounts.ts';
import { type Cents, cents } from '../../../../engine/money/cents.ts';
import { decimal } from '../../../../engine/money/decimal.ts';
import type { Context } from '../../../../platform/context.ts';
import { readInvoice } from '../../../invoices/invoices/queries.ts';
import { creditableOfFee, readCreditedInvoice } from '../credited-invoice.ts';
import { amountsOf, makeNote } from '../make-note.ts';
import type { NewItem } from '../writes.ts';

/**
 * Gives back what a progressive invoice billed beyond the usage that its period came to, of its greatest fees first.
 * The caller holds the customer's lock.
 *
 * Rules: progressive-billing.md#credit-in-steps, credit-note-amounts.md#automatic-notes "progressive billing overpaid".
 */
export async function creditProgressiveExcess(ctx: Context, invoiceId: string, excessCents: Cents): Promise<void> {
  await ctx.db`select from invoices where organization_id = ${ctx.organizationId} and id = ${invoiceId} for update`;
  const credited = await readCreditedInvoice(ctx, await readInvoice(ctx.db, ctx.organizationId, invoiceId));
  const items: NewItem[] = [];
  let rest: number = excessCents;
  for (const fee of [...credited.fees].sort((a, b) => b.amount_cents - a.amount_cents)) {
    const amount = Math.min(rest, creditableOfFee(credited, fee));
    if (amount > 0) items.push({ fee, preciseAmountCents: decimal(amount) });
    rest -= amount;
  }
  const amounts = amountsOf(credited, items);
  const total = alignedTotal(amounts);
  if (total === 0) return;
  const parts = { creditCents: total, refundCents: cents(0), offsetCents: cents(0) };
  await makeNote(ctx, { credited, items, amounts, parts, reason: 'other' });
}
