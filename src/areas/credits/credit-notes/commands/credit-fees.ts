import { type GivingFee, giveBack, type Taken } from '../../../../engine/corrections/give-back.ts';
import { alignedTotal } from '../../../../engine/credits/credit-note-amounts.ts';
import { offsettableOfInvoice, refundableOfInvoice } from '../../../../engine/credits/credit-note-limits.ts';
import type { NoteParts } from '../../../../engine/credits/credit-note-parts.ts';
import type { InvoiceStatus } from '../../../../engine/invoices/invoice-states.ts';
import { type Cents, cents } from '../../../../engine/money/cents.ts';
import type { Context } from '../../../../platform/context.ts';
import type { CreditNoteId, FeeId, InvoiceId } from '../../../../platform/ids.ts';
import { readCopies } from '../../../invoices/fees/copied-fees.ts';
import { type FeeRow, listFeesByIds, progressivePartsOf } from '../../../invoices/fees/queries.ts';
import { readInvoice } from '../../../invoices/invoices/queries.ts';
import type { Part } from '../../../usage/event-corrections/schema.ts';
import { type CreditedInvoice, creditableOf, readCreditedInvoice } from '../credited-invoice.ts';
import { amountsOf, makeNote } from '../make-note.ts';
import { readTakenOver, type TakenOver } from '../progressive-parts.ts';
import { type GivenPart, listGivenParts, sumItemsOfFees } from '../queries.ts';
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
  const { feeIds: takenOver, standsFor } = await readTakenOver(ctx, askedIds);
  const found = await listFeesByIds(ctx, [...askedIds, ...takenOver]);
  const rows = new Map<string, FeeRow>(found.map((fee) => [fee.id, fee]));
  const open = await lockInvoices(ctx, found, statuses);
  const ids = found.map(({ id }) => id);
  const credited = await sumItemsOfFees(ctx, ids);
  const parts = takenOver.length === 0 ? [] : await listGivenParts(ctx, found.map(firstOf));
  const copies = parts.length === 0 ? new Map<FeeId, FeeId>() : await readCopies(ctx, ids);
  const givenParts = partsGiven(parts, found, copies);
  const fees = new Map(
    found.map((fee) => {
      const isOpen = fee.invoice_id !== null && open.has(fee.invoice_id);
      const creditableCents = isOpen ? fee.amount_cents - (credited.get(fee.id) ?? 0) : 0;
      return [fee.id, givingFee(fee, creditableCents, { standsFor, givenParts })];
    }),
  );

  const items = new Map<InvoiceId, GivenItem[]>();
  const taken: Taken = { items: new Map(), parts: new Map() };
  const givenInPlace = new Map<string, number>();
  for (const each of [...asked].sort((a, b) => b.cents - a.cents)) {
    const { index } = each;
    let left = each.cents;
    for (const { name: inPlaceOf, feeIds, cents: most = left } of groupsOf(each)) {
      const own = feeIds.flatMap((id) => fees.get(id) ?? []);
      const before = inPlaceOf === null ? 0 : (givenInPlace.get(inPlaceOf) ?? 0);
      const wanted = Math.max(0, Math.min(left, most - before));
      let given = 0;
      for (const back of giveBack(wanted, own, { fees, taken })) {
        given += back.cents;
        const fee = rows.get(back.feeId)!;
        const ofInvoice = items.get(fee.invoice_id!) ?? [];
        items.set(fee.invoice_id!, ofInvoice);
        const takerIds = back.forFeeIds?.map((id) => rows.get(id)!.id);
        addItem(ofInvoice, { ...back, index, inPlaceOf, fee, takerIds });
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
    notes.push(...perFee(own).map((given) => ({ ...given, noteId })));
  }
  return notes;
}

/** What a fee gives back of each that asked, whichever fees had taken it over. */
function perFee(items: readonly GivenItem[]): Omit<Credited, 'noteId'>[] {
  const found = new Map<string, Omit<Credited, 'noteId'>>();
  for (const { index, inPlaceOf, fee, cents: amount } of items) {
    const name = JSON.stringify([index, inPlaceOf, fee.id]);
    found.set(name, { index, inPlaceOf, feeId: fee.id, cents: (found.get(name)?.cents ?? 0) + amount });
  }
  return [...found.values()];
}

type GivenItem = NewItem & Pick<Credited, 'index' | 'inPlaceOf'> & { cents: number };

/** Adds what a fee gives back to its item for the same fees. */
function addItem(
  items: GivenItem[],
  { takerIds, ...given }: Omit<GivenItem, 'givenFor'> & { takerIds: readonly FeeId[] | undefined },
): void {
  const { index, inPlaceOf, fee, preciseAmountCents, cents: partCents } = given;
  const same = items.find(
    (item) =>
      item.index === index &&
      item.inPlaceOf === inPlaceOf &&
      item.fee === fee &&
      `${item.givenFor?.feeIds}` === `${takerIds}`,
  );
  if (!same) {
    const givenFor = takerIds === undefined ? undefined : { feeIds: takerIds, partCents };
    items.push({ index, inPlaceOf, cents: partCents, fee, preciseAmountCents, givenFor });
    return;
  }
  same.cents += partCents;
  same.preciseAmountCents = same.preciseAmountCents.plus(preciseAmountCents);
  if (same.givenFor) same.givenFor.partCents += partCents;
}

/** The fee in whose place it was made anew, or itself. */
const firstOf = ({ original_fee_id, id }: FeeRow): FeeId => original_fee_id ?? id;

/**
 * What was given back of each fee for one that had taken it over, by both. A fee that a regeneration changed has taken
 * over what notes had left, so that only what was given back for those it is a copy of counts.
 */
function partsGiven(
  parts: readonly GivenPart[],
  fees: readonly FeeRow[],
  copies: ReadonlyMap<FeeId, FeeId>,
): Map<string, Map<string, number>> {
  const standing = new Map<string, FeeId>(fees.map((fee) => [firstOf(fee), fee.id]));
  const given = new Map<string, Map<string, number>>();
  for (const { first_fee_id, given_for_first_fee_ids, given_for_fee_ids, given_part_cents } of parts)
    for (const [index, id] of given_for_fee_ids.entries()) {
      const taker = copies.get(id) ?? id;
      const next = given_for_first_fee_ids[index + 1] ?? first_fee_id;
      const feeId = standing.get(next) ?? next;
      const known = given.get(taker) ?? new Map<string, number>();
      given.set(taker, known.set(feeId, (known.get(feeId) ?? 0) + given_part_cents));
    }
  return given;
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

const givingFee = (
  fee: FeeRow,
  creditableCents: number,
  { standsFor, givenParts }: { standsFor: TakenOver['standsFor']; givenParts: ReturnType<typeof partsGiven> },
): GivingFee => ({
  id: fee.id,
  amountCents: fee.amount_cents,
  preciseCouponsAmountCents: fee.precise_coupons_amount_cents,
  untaxedAmountCents: fee.untaxed_amount_cents,
  taxesRate: fee.taxes_rate,
  parts: progressivePartsOf(fee.progressive_parts, standsFor),
  creditableCents,
  givenParts: givenParts.get(fee.id) ?? new Map(),
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
