import type { Context } from '../../../platform/context.ts';
import type { CreditNoteId } from '../../../platform/ids.ts';
import type { ProviderError } from '../../../platform/payments/port.ts';
import { readCreditNote } from '../../credits/credit-notes/queries.ts';
import { viewOf } from '../../credits/credit-notes/show-credit-note.ts';
import { failureOf } from '../payments/announce-failure.ts';
import type { PaymentRow } from '../payments/queries.ts';

/**
 * Announces that the provider did not refund a note. Rules: credit-notes.md#refunds, webhooks.md#event-types,
 * logs.md#activity-logs.
 */
export async function recordRefundFailure(
  ctx: Context,
  id: CreditNoteId,
  error: ProviderError,
  payment: PaymentRow,
): Promise<void> {
  const note = await readCreditNote(ctx, id);
  const { error_details: _details, ...failure } = await failureOf(ctx, note.customer_id, error, payment);
  ctx.record({
    activity: {
      type: 'credit_note.refund_failure',
      resourceType: 'CreditNote',
      resourceId: id,
      object: await viewOf(ctx, note),
      externalCustomerId: failure.external_customer_id,
    },
    webhook: {
      type: 'credit_note.refund_failure',
      objectType: 'credit_note_payment_provider_refund_error',
      objectId: id,
      customerId: note.customer_id,
      object: { svc_credit_note_id: id, ...failure },
    },
  });
}
