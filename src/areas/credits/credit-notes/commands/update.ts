import type { Context } from '../../../../platform/context.ts';
import { refuse } from '../../../../platform/refusal.ts';
import { setRefundStatus } from '../refunds.ts';
import type { CreditNoteUpdate } from '../schema.ts';
import { showCreditNote } from '../show-credit-note.ts';
import { changeCreditNote, lockCreditNote } from '../writes.ts';
import { mergedMetadata } from './metadata.ts';

/**
 * Sets how the refund of a note went, for refunds made by hand, and adds metadata.
 *
 * @throws Refusal 404 credit_note; 422 refund_status, also when the note refunds nothing; 422 value of the metadata
 * Rule: credit-notes.md#states.
 */
export async function updateCreditNote(ctx: Context, { svc_id, body }: { svc_id: string; body: CreditNoteUpdate }) {
  const note = await lockCreditNote(ctx, svc_id);
  const { refund_status: refundStatus, metadata } = body;
  if (refundStatus && note.refund_status === null) throw refuse.invalid({ refund_status: ['value_is_invalid'] });
  if (metadata) await changeCreditNote(ctx, note.id, { metadata: mergedMetadata(note.metadata, metadata) });
  if (refundStatus) await setRefundStatus(ctx, note, refundStatus);
  return showCreditNote(ctx, note.id);
}
