import type { Context } from '../../platform/context.ts';
import type { DocumentModel } from '../../platform/documents/model.ts';
import { readCreditNote } from '../../resources/credit-notes/queries.ts';
import { recordCreditNoteGenerated } from '../../resources/credit-notes/record.ts';
import { feesOfNotes } from '../../resources/credit-notes/show.ts';
import type { DocumentKind } from '../../resources/documents/queries.ts';
import { readInvoice } from '../../resources/invoices/queries.ts';
import { recordInvoiceGenerated } from '../../resources/invoices/record.ts';
import { partsOf } from '../../resources/invoices/show.ts';
import { getReceipt } from '../../resources/payment-receipts/queries.ts';
import { recordReceiptGenerated } from '../../resources/payment-receipts/record.ts';
import { listShares, readPayment } from '../../resources/payments/queries.ts';
import { creditNoteModel } from './credit-note-model.ts';
import { invoiceModel } from './invoice-model.ts';
import { receiptModel } from './receipt-model.ts';
import { readPrinted } from './sql.ts';
import { languageOf } from './texts/by-locale.ts';

/** What can be drawn: how its document is read, and who is told when it is there. */
interface DocumentSubject {
  read(
    ctx: Pick<Context, 'db' | 'organizationId'>,
    subjectId: string,
    fonts: { drawsEastAsian: boolean },
  ): Promise<DocumentModel>;
  announce(ctx: Context, subjectId: string): Promise<void>;
}

export const documentSubjects: Readonly<Record<DocumentKind, DocumentSubject>> = {
  invoice: {
    async read(ctx, invoiceId, fonts) {
      const [parts, printed] = await Promise.all([
        readInvoice(ctx.db, ctx.organizationId, invoiceId).then((invoice) => partsOf(ctx, invoice)),
        readPrinted(ctx.db, ctx.organizationId, invoiceId),
      ]);
      const language = languageOf(printed.customer_locale, printed.issuer.document_locale, fonts);
      return invoiceModel(parts, printed, language);
    },
    announce: recordInvoiceGenerated,
  },
  credit_note: {
    async read(ctx, noteId, fonts) {
      const note = await readCreditNote(ctx.db, ctx.organizationId, noteId);
      const [invoice, fees, printed] = await Promise.all([
        readInvoice(ctx.db, ctx.organizationId, note.invoice_id).then((row) => partsOf(ctx, row)),
        feesOfNotes(ctx, [note]),
        readPrinted(ctx.db, ctx.organizationId, note.invoice_id),
      ]);
      const language = languageOf(printed.customer_locale, printed.issuer.document_locale, fonts);
      return creditNoteModel({ note, invoice, fees }, printed, language);
    },
    announce: recordCreditNoteGenerated,
  },
  payment_receipt: {
    async read(ctx, receiptId, fonts) {
      const { db, organizationId } = ctx;
      const receipt = await getReceipt(db, organizationId, receiptId);
      const [payment, shares] = await Promise.all([
        readPayment(db, organizationId, receipt.payment_id),
        listShares(db, organizationId, receipt.payment_id),
      ]);
      const invoice = await readInvoice(db, organizationId, shares[0]!.invoice_id);
      const [parts, printed] = await Promise.all([partsOf(ctx, invoice), readPrinted(db, organizationId, invoice.id)]);
      const language = languageOf(printed.customer_locale, printed.issuer.document_locale, fonts);
      return receiptModel({ receipt, payment, shares, invoice: parts }, printed, language);
    },
    announce: recordReceiptGenerated,
  },
};
