import type { RefundStatus } from '../../../engine/credits/credit-note-states.ts';
import type { Context } from '../../../platform/context.ts';
import type { ProviderError } from '../../../platform/payments/port.ts';
import { changeRefund, findRefund, type RefundRow, setRefundStatus } from '../../credits/credit-notes/refunds.ts';
import { lockCreditNote } from '../../credits/credit-notes/writes.ts';
import { readPayment } from '../payments/queries.ts';
import { recordRefundFailure } from './announce.ts';

/** A provider's report about a refund: id and status are null if it refused the refund. */
export interface RefundAnswer {
  providerRefundId: string | null;
  status: string | null;
  refundStatus: RefundStatus;
  error?: ProviderError | undefined;
}

/** Status of a refund whose money came back after it was paid out: it stays failed. */
const RETURNED = 'returned';

/**
 * Applies a provider's report about a refund to its note, once. A paid refund changes only when its money came back; a
 * failed one only by an event of success, so that late and repeated answers change nothing.
 *
 * isEvent    the provider reported it by itself
 * isReturn   money that was paid out came back; a report of the payout that comes later is outdated
 * Rules: credit-notes.md#states, credit-notes.md#refunds.
 */
export async function applyRefund(
  ctx: Context,
  refund: RefundRow,
  answer: RefundAnswer,
  { isEvent = false, isReturn = false } = {},
): Promise<void> {
  const note = await lockCreditNote(ctx, refund.credit_note_id);
  const { refundStatus } = answer;
  const stored = await findRefund(ctx, refund.credit_note_id);
  if (stored?.status === RETURNED) return;
  const changes =
    note.refund_status === 'pending' ||
    (isEvent && note.refund_status === 'failed' && refundStatus === 'succeeded') ||
    (isReturn && note.refund_status === 'succeeded');
  if (!changes) {
    if (refund.provider_refund_id === null && answer.providerRefundId !== null)
      await changeRefund(ctx, note.id, { ...answer, error: answer.error ?? null });
    return;
  }
  const error =
    refundStatus === 'failed'
      ? (answer.error ?? { code: answer.status ?? 'failed', message: 'The provider could not refund.' })
      : null;
  const status = isReturn ? RETURNED : answer.status;
  await changeRefund(ctx, note.id, { ...answer, status, error: error ?? answer.error ?? null });
  await setRefundStatus(ctx, note, refundStatus);
  if (error) {
    const payment = await readPayment(ctx, refund.payment_id);
    await recordRefundFailure(ctx, note.id, error, payment);
  }
}
