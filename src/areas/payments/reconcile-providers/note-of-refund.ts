import { alignedTotal } from '../../../engine/credits/credit-note-amounts.ts';
import { noteFaults } from '../../../engine/credits/credit-note-limits.ts';
import { cents } from '../../../engine/money/cents.ts';
import { Decimal, decimal } from '../../../engine/money/decimal.ts';
import type { Context } from '../../../platform/context.ts';
import type { CreditNoteId, PaymentId } from '../../../platform/ids.ts';
import { refuse } from '../../../platform/refusal.ts';
import {
  type CreditedInvoice,
  creditableOfFee,
  feesWithTaxesOf,
  readCreditedInvoice,
} from '../../credits/credit-notes/credited-invoice.ts';
import { amountsOf, makeNote } from '../../credits/credit-notes/make-note.ts';
import type { NewItem } from '../../credits/credit-notes/writes.ts';
import { readInvoice } from '../../invoices/invoices/queries.ts';
import { lockPayment } from '../collect-payments/apply-outcome.ts';

const ITEM_DIGITS = 5;
/** How often the last item is corrected so that the total with its taxes is the refunded amount to the cent. */
const MOST_CORRECTIONS = 3;

/**
 * Makes the credit note of a refund that was made in the provider's dashboard: its refund part is the whole amount, its
 * items are fees in the order of what can be credited of them, the greatest first.
 *
 *   5.00 refunded of an invoice with fees of 9.00 and 3.00, without tax → one item of 5.00 on the first
 *
 * @returns the note, whose refund is not noted yet
 * @throws Refusal 405 invalid_status, when no invoice of the payment has so much left that can be refunded
 * Rule: provider-reconciliation.md#repairs.
 */
export async function makeNoteOfRefund(ctx: Context, paymentId: PaymentId, amountCents: number): Promise<CreditNoteId> {
  const payment = await lockPayment(ctx, paymentId);
  for (const { id } of payment.invoices) {
    const credited = await readCreditedInvoice(ctx, await readInvoice(ctx, id));
    const items = itemsWorth(credited, amountCents);
    const parts = { creditCents: cents(0), refundCents: cents(amountCents), offsetCents: cents(0) };
    if (!items || isRefused(credited, items, parts)) continue;
    const amounts = amountsOf(credited, items);
    return makeNote(ctx, { credited, items, amounts, parts, reason: 'other', description: DESCRIPTION });
  }
  throw refuse.notAllowed('invalid_status');
}

const DESCRIPTION = 'Refunded at the payment provider';

/** Items whose total with taxes is an amount; undefined when the fees cannot make it up to the cent. */
function itemsWorth(credited: CreditedInvoice, amountCents: number): NewItem[] | undefined {
  const greatest = credited.fees
    .map((fee) => ({ fee, preciseAmountCents: decimal(creditableOfFee(credited, fee)) }))
    .filter(({ preciseAmountCents }) => preciseAmountCents.gt(0))
    .sort((a, b) => b.preciseAmountCents.cmp(a.preciseAmountCents));
  const taken: NewItem[] = [];
  for (const item of greatest) {
    const before = totalOf(credited, taken);
    const whole = totalOf(credited, [...taken, item]) - before;
    const left = amountCents - before;
    if (whole < left) {
      taken.push(item);
      continue;
    }
    return whole === left ? [...taken, item] : withPart(credited, taken, { item, left, whole });
  }
  return undefined;
}

/** The items with as much of the last one as makes up the rest. */
function withPart(
  credited: CreditedInvoice,
  taken: readonly NewItem[],
  { item, left, whole }: { item: NewItem; left: number; whole: number },
): NewItem[] | undefined {
  const wanted = totalOf(credited, taken) + left;
  const all = item.preciseAmountCents;
  const share = (amount: Decimal) => amount.toDecimalPlaces(ITEM_DIGITS, Decimal.ROUND_HALF_UP);
  let part = share(all.times(left).div(whole));
  for (let corrections = 0; corrections <= MOST_CORRECTIONS; corrections += 1) {
    const items = [...taken, { ...item, preciseAmountCents: part }];
    const missing = wanted - totalOf(credited, items);
    if (missing === 0) return items;
    part = share(part.plus(all.times(missing).div(whole)));
    if (part.lte(0) || part.gt(all)) return undefined;
  }
  return undefined;
}

const totalOf = (credited: CreditedInvoice, items: readonly NewItem[]): number =>
  items.length === 0 ? 0 : alignedTotal(amountsOf(credited, items));

const isRefused = (
  credited: CreditedInvoice,
  items: readonly NewItem[],
  parts: Parameters<typeof noteFaults>[0]['parts'],
): boolean => {
  const { preciseTotalAmountCents: preciseTotalCents } = amountsOf(credited, items);
  const faults = noteFaults({
    invoice: credited.noted,
    parts,
    preciseTotalCents,
    feesWithTaxesCents: feesWithTaxesOf(credited),
  });
  return Object.keys(faults).length > 0;
};
