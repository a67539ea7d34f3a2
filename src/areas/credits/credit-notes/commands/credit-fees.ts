import { itemFor, ownPart } from '../../../../engine/corrections/progressive-part.ts';
import { alignedTotal } from '../../../../engine/credits/credit-note-amounts.ts';
import {
  creditableOfInvoice,
  offsettableOfInvoice,
  refundableOfInvoice,
} from '../../../../engine/credits/credit-note-limits.ts';
import type { NoteParts } from '../../../../engine/credits/credit-note-parts.ts';
import type { InvoiceStatus } from '../../../../engine/invoices/invoice-states.ts';
import { type Cents, cents, roundToCents } from '../../../../engine/money/cents.ts';
import type { Context } from '../../../../platform/context.ts';
import type { CreditNoteId, FeeId } from '../../../../platform/ids.ts';
import { listFeesByIds } from '../../../invoices/fees/queries.ts';
import { readInvoice } from '../../../invoices/invoices/queries.ts';
import type { Part } from '../../../usage/event-corrections/schema.ts';
import { type CreditedInvoice, creditableOfFee, feesLeft, readCreditedInvoice } from '../credited-invoice.ts';
import { amountsOf, makeNote } from '../make-note.ts';
import { readProgressiveParts, withProgressive } from '../progressive-parts.ts';
import type { NewItem } from '../writes.ts';

interface Asked {
  /** Names what is given back. */
  index: number;
  cents: number;
  /** Fees that may be credited, in this order, each group with the progressive fees behind it. */
  feeIds: readonly (readonly FeeId[])[];
}

interface Terms {
  description: string | null;
  part: Part;
  /** For the invoices that give back: what is not final yet gets a draft, which follows it. */
  statuses?: readonly InvoiceStatus[];
}

/** What was given back of one fee. The note is null where coupons had paid for all of it. */
interface Credited {
  index: number;
  feeId: FeeId;
  cents: number;
  noteId: CreditNoteId | null;
}

/**
 * Gives back fees of final invoices by automatic notes, one an invoice, the largest amount first; each fee as far as
 * it can be credited, and beyond what it billed itself the fees of progressive invoices that it was credited with. The
 * caller holds the customer's lock.
 *
 * Rules: event-corrections.md#difference "credit note", event-corrections.md#usage-billed-progressively,
 * credit-note-amounts.md#rounding, credit-note-amounts.md#automatic-notes.
 */
export async function creditFees(
  ctx: Context,
  asked: readonly Asked[],
  { description, part, statuses = ['finalized'] }: Terms,
): Promise<Credited[]> {
  const askedIds = [...new Set(asked.flatMap(({ feeIds }) => feeIds.flat()))];
  if (askedIds.length === 0) return [];
  const parts = await readProgressiveParts(ctx, askedIds);
  const found = await listFeesByIds(ctx, withProgressive(parts, askedIds));
  const fees = new Map(found.map((fee) => [fee.id, fee]));
  const invoiceIds = [...new Set(found.flatMap(({ invoice_id }) => invoice_id ?? []))].sort();
  await ctx.db`
    select from invoices where organization_id = ${ctx.organizationId} and id = any (${invoiceIds}::uuid[])
    order by id for update`;
  const invoices = new Map<string, CreditedInvoice>();
  // Read once they are needed: seldom does a decrease go back along all progressive invoices of a period.
  const creditedInvoice = async (id: string): Promise<CreditedInvoice> => {
    const read = invoices.get(id) ?? (await readCreditedInvoice(ctx, await readInvoice(ctx, id)));
    invoices.set(id, read);
    return read;
  };

  const items = new Map<string, (NewItem & { index: number; cents: number })[]>();
  const taken = new Map<string, number>();
  for (const { index, cents: wanted, feeIds } of [...asked].sort((a, b) => b.cents - a.cents)) {
    let left = wanted;
    for (const feeId of new Set(feeIds.flatMap((group) => withProgressive(parts, group)))) {
      if (left === 0) break;
      const fee = fees.get(feeId);
      const credited = fee?.invoice_id ? await creditedInvoice(fee.invoice_id) : undefined;
      if (fee === undefined || credited === undefined || !statuses.includes(credited.invoice.status)) continue;
      const before = Math.min(parts.get(feeId)?.cents ?? 0, fee.amount_cents);
      const billed = { amountCents: fee.amount_cents, progressiveCents: before };
      const creditable = creditableOfFee(credited, fee) - (taken.get(feeId) ?? 0);
      const amount = Math.min(left, ownPart(billed, creditable));
      if (amount <= 0) continue;
      left -= amount;
      const preciseAmountCents = itemFor(billed, amount);
      taken.set(feeId, (taken.get(feeId) ?? 0) + roundToCents(preciseAmountCents));
      const own = items.get(credited.invoice.id) ?? [];
      items.set(credited.invoice.id, [...own, { index, cents: amount, fee, preciseAmountCents }]);
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
            description,
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
