import { AmountOutOfRange } from '../../../engine/money/cents.ts';
import type { Context } from '../../../platform/context.ts';
import { refuse } from '../../../platform/refusal.ts';
import type { CorrectionRow } from '../../usage/event-corrections/queries.ts';
import { settleChains } from './in-advance/settle-chains.ts';
import { settleRenewals } from './in-advance/settle-renewals.ts';
import { invoiceDifferences } from './invoice-differences.ts';
import { listInPlace } from './issued-fees.ts';
import { listNextPeriods, markSettled, movePeriods, readState } from './periods-to-settle.ts';
import { settleInvoice } from './settle-invoice.ts';
import { insertAdjustments, listToInvoice, type NewAdjustment } from './stored-adjustments.ts';

/** Delay before an invoice that is not issued yet is looked at again. */
const AGAIN_AFTER_MINUTES = 60;

/**
 * Settles everything that an applied correction concerns: fees of events billed in advance, then invoices, earliest
 * first; then bills what is due at once. An invoice that waits for its taxes or its first payment is settled later, by
 * step `settle-correction`.
 *
 * most invoices settled in this transaction; the step settles the rest
 *
 * @throws Refusal 422 base: value_is_out_of_range, when no cents can hold an amount
 * Rule: event-corrections.md#order-of-work "transaction 2".
 */
export async function settlePeriods(
  ctx: Context,
  correction: CorrectionRow,
  most = Number.POSITIVE_INFINITY,
): Promise<{ isSettled: boolean; adjustments: NewAdjustment[] }> {
  const chains = await inRange(() => settleChains(ctx, correction));
  const adjustments = [...chains.adjustments, ...(await inRange(() => settleRenewals(ctx, correction)))];
  await insertAdjustments(ctx, correction.id, { adjustments, now: ctx.now() });
  for (let n = 0; ; n += 1) {
    const concerned = await listNextPeriods(ctx, correction.id);
    if (concerned.length === 0) break;
    const invoiceId = concerned[0]!.invoice_id;
    const { is_issued: isMade, is_voided: isVoided } = await readState(ctx, invoiceId);
    if (isVoided) {
      const invoiceIds = await listInPlace(ctx, invoiceId);
      if (await movePeriods(ctx, correction.id, { voidedId: invoiceId, invoiceIds })) continue;
    }
    if (n >= most || !isMade) {
      const dueAt = isMade ? {} : { dueAt: ctx.now().add({ minutes: AGAIN_AFTER_MINUTES }) };
      ctx.after({ step: 'settle-correction', payload: { correction_id: correction.id }, ...dueAt });
      return { isSettled: false, adjustments };
    }
    const made = await inRange(() => settleInvoice(ctx, correction, concerned));
    await insertAdjustments(ctx, correction.id, { adjustments: made, now: ctx.now() });
    await markSettled(ctx, correction.id, { invoiceId, now: ctx.now() });
    adjustments.push(...made);
  }
  if (!chains.isSettled) {
    ctx.after({
      step: 'settle-correction',
      payload: { correction_id: correction.id },
      dueAt: ctx.now().add({ minutes: AGAIN_AFTER_MINUTES }),
    });
    return { isSettled: false, adjustments };
  }
  for (const owner of await listToInvoice(ctx, correction.id))
    await inRange(() => invoiceDifferences(ctx, owner, correction.id));
  return { isSettled: true, adjustments };
}

async function inRange<Outcome>(work: () => Promise<Outcome>): Promise<Outcome> {
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof AmountOutOfRange)) throw error;
    throw refuse.invalid({ base: ['value_is_out_of_range'] });
  }
}
