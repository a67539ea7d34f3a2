import type { Context } from '../../../platform/context.ts';
import type { PaymentReceiptId } from '../../../platform/ids.ts';
import { documentLink } from '../../messaging/documents/signed-link.ts';
import { isMailed, oweMail } from '../../messaging/mails/owe-mail.ts';
import { type PaymentRow, readPayment } from '../payments/queries.ts';
import { getReceipt, type ReceiptRow } from './queries.ts';
import { receiptView } from './view.ts';

/**
 * Writes a new receipt into the audit trail and sends its webhook. Rules: webhooks.md#event-types,
 * logs.md#activity-logs.
 */
export async function recordReceiptCreated(ctx: Context, id: PaymentReceiptId): Promise<void> {
  const { receipt, payment } = await read(ctx, id);
  tell(ctx, 'payment_receipt.created', { receipt, payment, fileUrl: null });
  if (await isMailed(ctx, receipt.billing_entity_id, 'payment_receipt.created'))
    oweMail(ctx, { kind: 'payment_receipt', subject_id: id });
}

/**
 * Announces the document of a receipt with its address. Rules: payments.md#receipts, webhooks.md#event-types,
 * logs.md#activity-logs.
 */
export async function recordReceiptGenerated(ctx: Context, id: PaymentReceiptId): Promise<void> {
  const { receipt, payment } = await read(ctx, id);
  const fileUrl = await documentLink(ctx.db, ctx.config, receipt.document_id!);
  tell(ctx, 'payment_receipt.generated', { receipt, payment, fileUrl });
}

async function read(ctx: Context, id: string) {
  const receipt = await getReceipt(ctx, id);
  return { receipt, payment: await readPayment(ctx, receipt.payment_id) };
}

function tell(
  ctx: Context,
  type: 'payment_receipt.created' | 'payment_receipt.generated',
  { receipt, payment, fileUrl }: { receipt: ReceiptRow; payment: PaymentRow; fileUrl: string | null },
): void {
  const object = receiptView(receipt, payment, fileUrl);
  ctx.record({
    activity: {
      type,
      resourceType: 'PaymentReceipt',
      resourceId: receipt.id,
      object,
      externalCustomerId: payment.external_customer_id,
    },
    webhook: {
      type,
      objectType: 'payment_receipt',
      objectId: receipt.id,
      customerId: receipt.customer_id,
      object,
    },
  });
}
