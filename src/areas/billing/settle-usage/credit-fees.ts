import { alignedTotal } from '../../../engine/credits/credit-note-amounts.ts';
import {
  creditableOfInvoice,
  offsettableOfInvoice,
  refundableOfInvoice,
} from '../../../engine/credits/credit-note-limits.ts';
import type { NoteParts } from '../../../engine/credits/credit-note-parts.ts';
import { type Cents, cents } from '../../../engine/money/cents.ts';
import { decimal } from '../../../engine/money/decimal.ts';
import type { Context } from '../../../platform/context.ts';
import { amountsOf, makeNote } from '../../credits/credit-notes/make-note.ts';
import {
  type CreditedInvoice,
  creditableOfFee,
  feesLeft,
  readCreditedInvoice,
} from '../../credits/credit-notes/noted-invoice.ts';
import type { NewItem } from '../../credits/credit-notes/writes.ts';
import { listFeesByIds } from '../../invoices/fees/queries.ts';
import { readInvoice } from '../../invoices/invoices/queries.ts';
import type { Part } from '../../usage/event-corrections/schema.ts';

interface Asked {
  /** Names the difference. */
  index: number;
  cents: number;
  /** Fees that may be credited, in this order. */
  feeIds: readonly string[];
}

/** What of a difference was given back of one fee. The note is null where coupons had paid for all of it. */
interface Credited {
  index: number;
  feeId: string;
  cents: number;
  noteId: string | null;
}

/**
 * Gives back fees of final invoices by automatic notes, one an invoice, the largest decrease first; each fee as far as
 * it can be credited.
 *
 * Rules: event-corrections.md#difference "credit note", credit-note-amounts.md#rounding,
 * credit-note-amounts.md#automatic-notes.
 */
export async function creditFees(
  ctx: Context,
  asked: readonly Asked[],
  { reason, credit_note_part: part }: { reason: string; credit_note_part: Part },
): Promise<Credited[]> {
  const ids = [...new Set(asked.flatMap(({ feeIds }) => feeIds))];
  if (ids.length === 0) return [];
  const fees = await listFeesByIds(ctx.db, ctx.organizationId, ids);
  const invoiceIds = [...new Set(fees.flatMap(({ invoice_id }) => invoice_id ?? []))].sort();
  await ctx.db`
    select from invoices where organization_id = ${ctx.organizationId} and id = any (${invoiceIds}::uuid[])
    order by id for update`;
  const invoices = new Map<string, CreditedInvoice>();
  for (const id of invoiceIds)
    invoices.set(id, await readCreditedInvoice(ctx, await readInvoice(ctx.db, ctx.organizationId, id)));

  const items = new Map<string, (NewItem & { index: number; cents: number })[]>();
  for (const { index, cents: wanted, feeIds } of [...asked].sort((a, b) => b.cents - a.cents)) {
    let left = wanted;
    for (const feeId of feeIds) {
      const fee = fees.find(({ id }) => id === feeId);
      const credited = fee?.invoice_id ? invoices.get(fee.invoice_id) : undefined;
      if (fee === undefined || credited?.invoice.status !== 'finalized') continue;
      const amount = Math.min(left, creditableOfFee(credited, fee));
      if (amount <= 0) continue;
      left -= amount;
      const own = items.get(credited.invoice.id) ?? [];
      items.set(credited.invoice.id, [...own, { index, cents: amount, fee, preciseAmountCents: decimal(amount) }]);
    }
  }

  const notes: Credited[] = [];
  for (const [invoiceId, own] of items) {
    const credited = invoices.get(invoiceId)!;
    const amounts = amountsOf(credited, own);
    const total = alignedTotal(amounts);
    const noteId =
      total === 0
        ? null
        : await makeNote(ctx, {
            credited,
            items: own,
            amounts,
            parts: partsOf(credited, total, part),
            reason: 'other',
            description: reason,
          });
    notes.push(...own.map(({ index, fee, cents: amount }) => ({ index, feeId: fee.id, cents: amount, noteId })));
  }
  return notes;
}

/**
 * What the part asked for cannot take goes to the balance. Rules: event-corrections.md#policy,
 * credit-note-amounts.md#creation.
 */
function partsOf(credited: CreditedInvoice, totalCents: Cents, part: Part): NoteParts {
  const creditable = creditableOfInvoice(credited.noted, feesLeft(credited));
  const most = part === 'refund' ? Math.min(totalCents, refundableOfInvoice(credited.noted, creditable)) : 0;
  const refundCents = cents(most - (most % credited.noted.refundStepCents));
  const offsetCents = cents(
    part === 'offset' ? Math.min(totalCents, offsettableOfInvoice(credited.noted, creditable)) : 0,
  );
  return { creditCents: cents(totalCents - refundCents - offsetCents), refundCents, offsetCents };
}
