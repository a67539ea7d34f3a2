import type { Context } from '../../../platform/context.ts';
import type { FeeId } from '../../../platform/ids.ts';
import { isUuid } from '../../../platform/ids.ts';
import { refuse } from '../../../platform/refusal.ts';
import { bookFeeStatus } from '../../ledger/ledger/fee-booked.ts';
import { markFeeDeleted, oweFeeTaxes } from './mark-deleted.ts';
import { getFee, lockFee, setPaymentStatus } from './queries.ts';
import type { FeeUpdate } from './schema.ts';
import { feeView } from './view.ts';

/**
 * Records whether a standalone fee was paid: the time of the new status is now, those of the others are cleared.
 *
 * @throws Refusal 404 fee; 405 invoiced_fee
 * Rules: usage-fees.md#endpoints, ledger.md#l22, ledger.md#l23.
 */
export async function updateFee(ctx: Context, { svc_id, body }: { svc_id: string; body: FeeUpdate }) {
  await lockStandalone(ctx, svc_id);
  const { payment_status: former } = await getFee(ctx, svc_id);
  await setPaymentStatus(ctx, svc_id, { status: body.payment_status, now: ctx.now() });
  if (former !== body.payment_status && [former, body.payment_status].includes('refunded')) oweFeeTaxes(ctx, svc_id);
  await bookFeeStatus(ctx, svc_id, body.payment_status);
  return { fee: feeView(await getFee(ctx, svc_id)) };
}

/**
 * Deletes a standalone fee; its event makes no other fee. Its payment is reversed in the journal.
 *
 * @throws Refusal 404 fee; 405 invoiced_fee
 * Rule: usage-fees.md#endpoints.
 */
export async function deleteFee(ctx: Context, { svc_id }: { svc_id: string }) {
  await lockStandalone(ctx, svc_id);
  const fee = await getFee(ctx, svc_id);
  await bookFeeStatus(ctx, svc_id, 'pending');
  await markFeeDeleted(ctx, svc_id);
  return { fee: feeView(fee) };
}

async function lockStandalone(ctx: Context, id: FeeId): Promise<void> {
  if (!isUuid(id)) throw refuse.notFound('fee');
  const fee = await lockFee(ctx, id);
  if (!fee) throw refuse.notFound('fee');
  if (fee.invoice_id !== null) throw refuse.notAllowed('invoiced_fee');
}
