import { noteFaults } from '../../../../engine/credits/credit-note-limits.ts';
import { CREDIT_NOTE_REASONS, type CreditNoteReason } from '../../../../engine/credits/credit-note-states.ts';
import { cents } from '../../../../engine/money/cents.ts';
import type { Context } from '../../../../platform/context.ts';
import { refuse } from '../../../../platform/refusal.ts';
import { refuseFaults } from '../../../../platform/schema/faults.ts';
import { feesWithTaxesOf } from '../credited-invoice.ts';
import { amountsOf, makeNote } from '../make-note.ts';
import type { CreditNoteCreate } from '../schema.ts';
import { showCreditNote } from '../show-credit-note.ts';
import { invoiceToCredit, readItems } from './items.ts';

/**
 * Gives back fees of an invoice: to the customer's balance, by refund, or by settling the invoice itself.
 *
 * @throws Refusal 404 invoice, fee; 405 invalid_type_or_status; 422 items, reason, amount_cents, base and the parts
 * Rules: credit-note-amounts.md#creation, credit-note-amounts.md#rounding.
 */
export async function createCreditNote(ctx: Context, { body }: { body: CreditNoteCreate }) {
  const parts = {
    creditCents: cents(body.credit_amount_cents ?? 0),
    refundCents: cents(body.refund_amount_cents ?? 0),
    offsetCents: cents(body.offset_amount_cents ?? 0),
  };
  const isOffset = parts.creditCents === 0 && parts.refundCents === 0;
  const credited = await invoiceToCredit(ctx, body.invoice_id, { isOffset });
  if (!Array.isArray(body.items)) throw refuse.invalid({ items: ['must_be_an_array'] });
  const reason = reasonOf(body.reason);
  const items = readItems(credited, body.items);
  const amounts = amountsOf(credited, items);
  const faults = noteFaults({
    invoice: credited.noted,
    parts,
    preciseTotalCents: amounts.preciseTotalAmountCents,
    feesWithTaxesCents: feesWithTaxesOf(credited),
  });
  refuseFaults(faults);
  const id = await makeNote(ctx, {
    credited,
    items,
    amounts,
    parts,
    reason,
    description: body.description,
    metadata: body.metadata,
  });
  return showCreditNote(ctx, id);
}

function reasonOf(reason: unknown): CreditNoteReason {
  if (reason === undefined || reason === null) return 'other';
  const known = CREDIT_NOTE_REASONS.find((word) => word === reason);
  if (known === undefined) throw refuse.invalid({ reason: ['value_is_invalid'] });
  return known;
}
