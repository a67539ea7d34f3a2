import type { Context } from '../../../platform/context.ts';
import { askForDocument } from '../../messaging/documents/ask-for-document.ts';
import { documentLink } from '../../messaging/documents/signed-link.ts';
import { readPayment } from '../payments/queries.ts';
import { getReceipt } from './queries.ts';
import { receiptView } from './view.ts';

/**
 * Answers a receipt with the address of its document, which is drawn in the background the first time it is asked for.
 *
 * @throws Refusal 404 payment_receipt
 * Rules: payments.md#receipts, other-routes.md.
 */
export async function downloadReceipt(ctx: Context, { svc_id }: { svc_id: string }) {
  const { db } = ctx;
  const receipt = await getReceipt(ctx, svc_id);
  const subject = { kind: 'payment_receipt', subjectId: receipt.id, number: receipt.number } as const;
  const documentId = await askForDocument(ctx, subject);
  const payment = await readPayment(ctx, receipt.payment_id);
  return { payment_receipt: receiptView(receipt, payment, await documentLink(db, ctx.config, documentId)) };
}
