import { type GivingFee, giveBack } from '../../../../engine/corrections/give-back.ts';
import { alignedTotal } from '../../../../engine/credits/credit-note-amounts.ts';
import { offsettableOfInvoice, refundableOfInvoice } from '../../../../engine/credits/credit-note-limits.ts';
import type { NoteParts } from '../../../../engine/credits/credit-note-parts.ts';
import type { InvoiceStatus } from '../../../../engine/invoices/invoice-states.ts';
import { type Cents, cents } from '../../../../engine/money/cents.ts';
import type { Decimal } from '../../../../engine/money/decimal.ts';
import type { Context } from '../../../../platform/context.ts';
import type { CreditNoteId, FeeId, InvoiceId } from '../../../../platform/ids.ts';
import { type FeeRow, listFeesByIds, progressivePartsOf } from '../../../invoices/fees/queries.ts';
import { readInvoice } from '../../../invoices/invoices/queries.ts';
import type { Part } from '../../../usage/event-corrections/schema.ts';
import { type CreditedInvoice, creditableOf, readCreditedInvoice } from '../credited-invoice.ts';
import { amountsOf, makeNote } from '../make-note.ts';
import { withProgressiveFees } from '../progressive-parts.ts';
import { sumItemsOfFees } from '../queries.ts';
import type { NewItem } from '../writes.ts';

interface Asked {
  /** Names what is given back. */
  index: number;
  cents: number;
  /** Fees that may be credited, in this order, each group with the progressive fees behind it. */
  feeIds: readonly (readonly FeeId[])[];
  /** Fees that may be credited after these: they billed what was netted against it, each group at most so much. */
  inPlace?: readonly { name: string; cents: number; feeIds: readonly FeeId[] }[];
}

/** Fees that give back together. */
interface Group {
  /** Null: those of the item itself. */
  name: string | null;
  feeIds: readonly FeeId[];
  /** At most, for all that ask; undefined: all that is wanted. */
  cents?: number;
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
  /** The group of `inPlace` that gave it back. */
  inPlaceOf: string | null;
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
  const groupsOf = ({ feeIds, inPlace = [] }: Asked): Group[] => [
    ...feeIds.map((group) => ({ name: null, feeIds: group })),
    ...inPlace,
  ];
  const askedIds = [...new Set(asked.flatMap((each) => groupsOf(each).flatMap(({ feeIds }) => feeIds)))];
  if (askedIds.length === 0) return [];
  const found = await listFeesByIds(ctx, await withProgressiveFees(ctx, askedIds));
  const rows = new Map<string, FeeRow>(found.map((fee) => [fee.id, fee]));
  const open = await lockInvoices(ctx, found, statuses);
  const credited = await sumItemsOfFees(
    ctx,
    found.map(({ id }) => id),
  );
  const fees = new Map(
    found.map((fee) => {
      const isOpen = fee.invoice_id !== null && open.has(fee.invoice_id);
      return [fee.id, givingFee(fee, isOpen ? fee.amount_cents - (credited.get(fee.id) ?? 0) : 0)];
    }),
  );

  const items = new Map<InvoiceId, (NewItem & Pick<Credited, 'index' | 'inPlaceOf'> & { cents: number })[]>();
  const taken = new Map<string, Decimal>();
  const givenInPlace = new Map<string, number>();
  for (const each of [...asked].sort((a, b) => b.cents - a.cents)) {
    const { index } = each;
    let left = each.cents;
    for (const { name: inPlaceOf, feeIds, cents: most = left } of groupsOf(each)) {
      const own = feeIds.flatMap((id) => fees.get(id) ?? []);
      const before = inPlaceOf === null ? 0 : (givenInPlace.get(inPlaceOf) ?? 0);
      const wanted = Math.max(0, Math.min(left, most - before));
      let given = 0;
      for (const { feeId, cents: amount, preciseAmountCents } of giveBack(wanted, own, { fees, taken })) {
        given += amount;
        const fee = rows.get(feeId)!;
        const ofInvoice = items.get(fee.invoice_id!) ?? [];
        items.set(fee.invoice_id!, ofInvoice);
        const same = ofInvoice.find((i) => i.index === index && i.fee === fee && i.inPlaceOf === inPlaceOf);
        if (same) {
          same.cents += amount;
          same.preciseAmountCents = same.preciseAmountCents.plus(preciseAmountCents);
        } else ofInvoice.push({ index, inPlaceOf, cents: amount, fee, preciseAmountCents });
      }
      left -= given;
      if (inPlaceOf !== null) givenInPlace.set(inPlaceOf, before + given);
    }
  }

  const notes: Credited[] = [];
  for (const [invoiceId, own] of items) {
    const credited = await readCreditedInvoice(ctx, await readInvoice(ctx, invoiceId));
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
    notes.push(
      ...own.map(({ index, inPlaceOf, fee, cents: amount }) => ({
        index,
        inPlaceOf,
        feeId: fee.id,
        cents: amount,
        noteId,
      })),
    );
  }
  return notes;
}

/** Locks the invoices of fees in one order. @returns those with one of the statuses */
async function lockInvoices(
  { db, organizationId }: Context,
  fees: readonly FeeRow[],
  statuses: readonly InvoiceStatus[],
): Promise<Set<string>> {
  const ids = [...new Set(fees.flatMap(({ invoice_id }) => invoice_id ?? []))];
  const rows = await db<{ id: InvoiceId; status: InvoiceStatus }[]>`
    select id, status from invoices where organization_id = ${organizationId} and id = any (${ids}::uuid[])
    order by id for update`;
  return new Set(rows.filter(({ status }) => statuses.includes(status)).map(({ id }) => id));
}

const givingFee = (fee: FeeRow, creditableCents: number): GivingFee => ({
  id: fee.id,
  amountCents: fee.amount_cents,
  preciseCouponsAmountCents: fee.precise_coupons_amount_cents,
  untaxedAmountCents: fee.untaxed_amount_cents,
  taxesRate: fee.taxes_rate,
  parts: progressivePartsOf(fee.progressive_parts),
  creditableCents,
});

/**
 * What the part asked for cannot take goes to the balance. Rules: event-corrections.md#policy,
 * credit-note-amounts.md#creation.
 */
function partsOf(credited: CreditedInvoice, totalCents: Cents, part: Part): NoteParts {
  const creditable = creditableOf(credited);
  const most = part === 'refund' ? Math.min(totalCents, refundableOfInvoice(credited.noted, creditable)) : 0;
  const refundCents = cents(most - (most % credited.noted.refundStepCents));
  const offsetCents = cents(
    part === 'offset' ? Math.min(totalCents, offsettableOfInvoice(credited.noted, creditable)) : 0,
  );
  return { creditCents: cents(totalCents - refundCents - offsetCents), refundCents, offsetCents };
}
