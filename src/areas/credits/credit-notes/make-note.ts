import { localDate } from '../../../engine/calendar/local-day.ts';
import { type NoteAmounts, noteAmounts } from '../../../engine/credits/credit-note-amounts.ts';
import { alignParts, type NoteParts } from '../../../engine/credits/credit-note-parts.ts';
import type { CreditNoteReason } from '../../../engine/credits/credit-note-states.ts';
import { roundToCents } from '../../../engine/money/cents.ts';
import type { Context } from '../../../platform/context.ts';
import type { CustomerId, SubscriptionId } from '../../../platform/ids.ts';
import { newId } from '../../../platform/ids.ts';
import type { FeeRow } from '../../invoices/fees/queries.ts';
import { type CreditedInvoice, creditableOfFee, creditedFee } from './credited-invoice.ts';
import { finishNote } from './finish-note.ts';
import { insertCreditNote, type NewItem } from './writes.ts';

export interface NoteToMake {
  credited: CreditedInvoice;
  items: readonly NewItem[];
  amounts: NoteAmounts;
  /** Before the alignment to the rounded total. */
  parts: NoteParts;
  reason: CreditNoteReason;
  description?: string | null | undefined;
  metadata?: Record<string, string | null> | null | undefined;
  /** The subscription whose unused days it gives back. */
  subscriptionId?: SubscriptionId;
}

/**
 * Stores a note of a locked invoice. Of an invoice that is final it is final itself, with everything that follows; of
 * any other it is a draft that follows the invoice.
 *
 * @returns its id
 * Rules: credit-note-amounts.md#rounding, credit-note-amounts.md#automatic-notes, credit-notes.md#other-effects.
 */
export async function makeNote(ctx: Context, note: NoteToMake): Promise<string> {
  const { invoice } = note.credited;
  const isFinal = invoice.status === 'finalized' || invoice.status === 'voided';
  const id = newId();
  await insertCreditNote(
    ctx,
    {
      id,
      billing_entity_id: invoice.billing_entity_id,
      customer_id: invoice.customer_id,
      invoice_id: invoice.id,
      invoice_number: invoice.number,
      status: isFinal ? 'finalized' : 'draft',
      currency: invoice.currency,
      reason: note.reason,
      description: note.description ?? null,
      issuing_date: localDate(ctx.now(), await zoneOf(ctx, invoice.customer_id)),
      metadata: note.metadata ?? null,
      terminated_subscription_id: note.subscriptionId ?? null,
    },
    { items: note.items, amounts: note.amounts, parts: alignParts(note.parts, note.amounts) },
  );
  if (isFinal) await finishNote(ctx, id, invoice.status === 'voided');
  return id;
}

/**
 * The amounts of items; a note that takes all that is left corrects earlier roundings.
 * Rules: credit-note-amounts.md#rounding, credit-note-amounts.md#no-more-than-was-billed.
 */
export function amountsOf(credited: CreditedInvoice, items: readonly NewItem[]): NoteAmounts {
  const open = openAfter(credited, items);
  const isTaken = open.length === 0;
  const isTaxTaken = open.every((fee) => fee.applied_taxes.length === 0);
  return noteAmounts(
    items.map(({ fee, preciseAmountCents }) => ({ fee: creditedFee(fee), preciseAmountCents })),
    isTaken ? credited.earlierTaxes : [],
    // A draft has its coupons once it is final; a top-up is limited by what its wallet holds.
    credited.noted.isDraft || credited.noted.isTopUp
      ? undefined
      : {
          net: { cents: credited.left.netCents, isTaken },
          taxes: { cents: credited.left.taxesCents, isTaken: isTaxTaken },
        },
  );
}

/** The fees of which something is left after these items. */
function openAfter(credited: CreditedInvoice, items: readonly NewItem[]): FeeRow[] {
  const taken = new Map<string, number>();
  for (const { fee, preciseAmountCents } of items)
    taken.set(fee.id, (taken.get(fee.id) ?? 0) + roundToCents(preciseAmountCents));
  return credited.fees.filter((fee) => creditableOfFee(credited, fee) > (taken.get(fee.id) ?? 0));
}

/** The customer's zone, else its billing entity's. */
export async function zoneOf(ctx: Context, customerId: CustomerId): Promise<string> {
  const [row] = await ctx.db<{ zone: string }[]>`
    select coalesce(customer.timezone, entity.timezone) as zone
    from customers customer
    join billing_entities entity
      on entity.organization_id = customer.organization_id and entity.id = customer.billing_entity_id
    where customer.organization_id = ${ctx.organizationId} and customer.id = ${customerId}`;
  return row!.zone;
}
