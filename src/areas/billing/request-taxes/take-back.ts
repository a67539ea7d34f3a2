import type { Context } from '../../../platform/context.ts';
import type { IntegrationId, InvoiceId } from '../../../platform/ids.ts';
import { type InvoiceRow, readInvoice } from '../../invoices/invoices/queries.ts';
import { lockPayer } from '../build-invoice/payer-and-issuer.ts';
import {
  dropQuestions,
  dropTakingBack,
  listRecordsElsewhere,
  listRecordsOfInvoice,
  type Question,
  storeQuestion,
  type TaxDocumentRow,
} from './tax-documents.ts';

/**
 * Asks an engine about a document. One that is to be recorded is no longer to be taken back there, and what another
 * engine has recorded of it is.
 *
 * engines  those that may hold a part of the document: only the one that is asked, but of a note all that it is about
 *
 * Rule: tax-engines.md#one-record.
 */
export async function ask(
  ctx: Context,
  question: Question,
  engines: readonly IntegrationId[] = [question.integrationId],
): Promise<void> {
  const { kind, documentKey, integrationId } = question;
  if (kind === 'record' || kind === 'correct') {
    await dropTakingBack(ctx, documentKey, integrationId);
    await takeBack(ctx, await listRecordsElsewhere(ctx, documentKey, engines));
  }
  await storeQuestion(ctx, question);
}

/**
 * Takes back what engines have recorded, or may have recorded since a call was under way; a question that was never
 * sent is just dropped. Answers that come later change nothing. The caller holds the customer's lock or that of the
 * questions, so that no answer is applied meanwhile.
 *
 * Rule: tax-engines.md#one-record.
 */
export async function takeBack(
  ctx: Context,
  records: readonly Pick<TaxDocumentRow, 'id'>[],
  of?: InvoiceId,
): Promise<void> {
  if (records.length === 0) return;
  const dropped = await dropQuestions(
    ctx,
    records.map(({ id }) => id),
  );
  for (const record of dropped.filter(({ called_at }) => called_at !== null))
    await askTakingBack(ctx, { ...record, invoice_id: of ?? record.invoice_id });
}

/** Asks an engine to take back a document that it has recorded, or may have recorded. */
export const askTakingBack = (ctx: Context, record: TaxDocumentRow): Promise<void> =>
  storeQuestion(ctx, {
    integrationId: record.integration_id,
    customerId: record.customer_id,
    kind: 'void',
    documentKey: record.document_key,
    invoiceId: record.invoice_id,
    feeId: record.fee_id,
    creditNoteId: record.credit_note_id,
    document: null,
  });

/**
 * Step `take-invoice-taxes-back`: what engines have recorded of an invoice that is not billed any more, with its notes
 * and its fees, is taken back there.
 *
 * Rule: tax-engines.md#one-record.
 */
export async function takeInvoiceTaxesBack(ctx: Context, { invoice_id: id }: { invoice_id: InvoiceId }): Promise<void> {
  const { customer_id } = await readInvoice(ctx, id);
  await lockPayer(ctx, customer_id);
  if (isTakenBack(await readInvoice(ctx, id))) await takeBack(ctx, await listRecordsOfInvoice(ctx, id), id);
}

/** Whether an invoice is not billed any more: void, closed unpaid, deleted, or with a dispute that was lost. */
export const isTakenBack = ({
  status,
  payment_dispute_lost_at,
}: Pick<InvoiceRow, 'status' | 'payment_dispute_lost_at'>): boolean =>
  payment_dispute_lost_at !== null || status === 'voided' || status === 'closed' || status === 'deleted';
