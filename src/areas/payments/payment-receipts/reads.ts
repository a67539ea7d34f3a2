import type { Context } from '../../../platform/context.ts';
import { pageMeta } from '../../../platform/lists/pagination.ts';
import { checkUuidFilter } from '../../../platform/lists/uuid-filter.ts';
import { documentLink, documentLinks } from '../../messaging/documents/signed-link.ts';
import { listPaymentsByIds, readPayment } from '../payments/queries.ts';
import { getReceipt, listReceipts } from './queries.ts';
import type { ReceiptsQuery } from './schema.ts';
import { receiptView } from './view.ts';

/** @throws Refusal 422 invoice_id is in invalid format */
export async function listReceiptsPage(ctx: Context, { query }: { query: ReceiptsQuery }) {
  checkUuidFilter('invoice_id', query.invoice_id);
  const { db } = ctx;
  const { rows, totalCount } = await listReceipts(ctx, query.invoice_id, query);
  const paymentIds = rows.map(({ payment_id }) => payment_id);
  const payments = new Map((await listPaymentsByIds(ctx, paymentIds)).map((payment) => [payment.id, payment]));
  const documentIds = rows.flatMap(({ document_id: id }) => (id === null ? [] : [id]));
  const links = await documentLinks(db, ctx.config, documentIds);
  return {
    payment_receipts: rows.map((row) =>
      receiptView(row, payments.get(row.payment_id)!, links.get(row.document_id ?? '') ?? null),
    ),
    meta: pageMeta(query, totalCount),
  };
}

/** @throws Refusal 404 payment_receipt */
export async function showReceipt(ctx: Context, { svc_id }: { svc_id: string }) {
  const receipt = await getReceipt(ctx, svc_id);
  const [payment, fileUrl] = await Promise.all([
    readPayment(ctx, receipt.payment_id),
    receipt.document_id === null ? null : documentLink(ctx.db, ctx.config, receipt.document_id),
  ]);
  return { payment_receipt: receiptView(receipt, payment, fileUrl) };
}
