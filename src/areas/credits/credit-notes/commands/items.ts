import { decimal } from '../../../../engine/money/decimal.ts';
import type { Context } from '../../../../platform/context.ts';
import { refuse } from '../../../../platform/refusal.ts';
import { lockVisibleInvoice } from '../../../invoices/invoices/writes.ts';
import { type CreditedInvoice, creditableOfFee, readCreditedInvoice, uncreditedOfFee } from '../credited-invoice.ts';
import type { NewItem } from '../writes.ts';

/** Statuses of invoices that notes may be made of. Rule: credit-note-amounts.md#creation. */
const CREDITABLE: ReadonlySet<string> = new Set(['draft', 'finalized', 'voided']);

/**
 * The locked invoice of a requested note, with what is left to credit.
 *
 * @param isOffset whether the note only settles the invoice
 * @throws Refusal 404 invoice; 405 invalid_type_or_status
 */
export async function invoiceToCredit(
  ctx: Context,
  invoiceId: unknown,
  { isOffset }: { isOffset: boolean },
): Promise<CreditedInvoice> {
  const invoice = await lockVisibleInvoice(ctx, typeof invoiceId === 'string' ? invoiceId : '');
  if (!CREDITABLE.has(invoice.status)) throw refuse.notAllowed('invalid_type_or_status');
  const credited = await readCreditedInvoice(ctx, invoice);
  // An unpaid top-up can only be settled; one whose wallet has ended can have no note.
  const isSettled = invoice.payment_status === 'succeeded' || isOffset;
  if (invoice.invoice_type === 'credit' && (credited.topUp === undefined || !isSettled))
    throw refuse.notAllowed('invalid_type_or_status');
  return credited;
}

/**
 * The requested items, checked one by one; the first bad one is refused.
 *
 * @throws Refusal 422 items, amount_cents; 404 fee
 * Rule: credit-note-amounts.md#creation.
 */
export function readItems(credited: CreditedInvoice, items: unknown): NewItem[] {
  if (!Array.isArray(items)) throw refuse.invalid({ items: ['must_be_an_array'] });
  const left = new Map(credited.fees.map((fee) => [fee.id, creditableOfFee(credited, fee) as number]));
  return items.map((item: { fee_id?: unknown; amount_cents?: unknown } | null) => {
    const fee = credited.fees.find(({ id }) => id === item?.fee_id);
    if (!fee) throw refuse.notFound('fee');
    const amount = centsOf(item?.amount_cents);
    const rest = left.get(fee.id)! - amount;
    if (rest < 0) {
      const isSpent = amount <= uncreditedOfFee(credited, fee) && credited.topUp !== undefined;
      const code = isSpent ? 'higher_than_wallet_balance' : 'higher_than_remaining_fee_amount';
      throw refuse.invalid({ amount_cents: [code] });
    }
    left.set(fee.id, rest);
    return { fee, preciseAmountCents: decimal(amount) };
  });
}

function centsOf(value: unknown): number {
  const amount = typeof value === 'string' && /^\d{1,15}$/.test(value.trim()) ? Number.parseInt(value, 10) : value;
  if (typeof amount !== 'number' || !Number.isSafeInteger(amount) || amount < 0)
    throw refuse.invalid({ amount_cents: ['invalid_value'] });
  return amount;
}
