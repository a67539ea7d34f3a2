import type { Cents } from '../../../../engine/money/cents.ts';
import type { Context } from '../../../../platform/context.ts';
import type { InvoiceId } from '../../../../platform/ids.ts';
import { listFeesOfInvoice } from '../../../invoices/fees/queries.ts';
import { creditFees } from './credit-fees.ts';

/**
 * Gives back what a progressive invoice billed beyond the usage that its period came to: of the fees whose usage has
 * fallen as far as it fell, the rest of its greatest fees first. What an invoice before it had billed of a fee is given
 * back of that one. The caller holds the customer's lock.
 *
 *   12 units @1.00 and 12 more in a second invoice, 5 left of them: 12.00 of the second, 7.00 of the first
 *
 * Rules: progressive-billing.md#credit-in-steps, credit-note-amounts.md#automatic-notes "progressive billing overpaid",
 * event-corrections.md#usage-billed-progressively.
 */
export async function creditProgressiveExcess(
  ctx: Context,
  invoiceId: InvoiceId,
  excessCents: Cents,
  fallen: ReadonlyMap<string, Cents>,
): Promise<void> {
  const fees = await listFeesOfInvoice(ctx, invoiceId);
  const greatest = fees.sort((a, b) => b.amount_cents - a.amount_cents).map(({ id }) => id);
  let rest: number = excessCents;
  const asked = greatest.flatMap((id) => {
    const wanted = Math.min(rest, fallen.get(id) ?? 0);
    rest -= wanted;
    return wanted > 0 ? [{ index: 0, cents: wanted, feeIds: [[id], greatest] }] : [];
  });
  if (rest > 0) asked.push({ index: 0, cents: rest, feeIds: [greatest] });
  await creditFees(ctx, asked, { description: null, part: 'credit', statuses: ['finalized', 'failed', 'pending'] });
}
