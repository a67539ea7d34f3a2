import { Temporal } from 'temporal-polyfill';
import type { DocumentFacts } from '../../../engine/e-documents/facts.ts';
import type { Profile } from '../../../engine/e-documents/profiles.ts';
import type { Config } from '../../../platform/config.ts';
import type { Context } from '../../../platform/context.ts';
import type { Scope } from '../../../platform/db/scope.ts';
import type { DocumentModel } from '../../../platform/documents/model.ts';
import type { CreditNoteId, InvoiceId } from '../../../platform/ids.ts';
import { recordCreditNoteGenerated } from '../../credits/credit-notes/announce.ts';
import { readCreditNote } from '../../credits/credit-notes/queries.ts';
import { feesOfNotes } from '../../credits/credit-notes/show-credit-note.ts';
import { readCustomer } from '../../customers/customers/queries.ts';
import { readMethod } from '../../customers/payment-methods/queries.ts';
import type { FeeRow } from '../../invoices/fees/queries.ts';
import { recordInvoiceGenerated } from '../../invoices/invoices/announce.ts';
import { readInvoice } from '../../invoices/invoices/queries.ts';
import { partsOf } from '../../invoices/invoices/show-invoice.ts';
import type { InvoiceParts } from '../../invoices/invoices/view.ts';
import type { DocumentKind } from '../../messaging/documents/queries.ts';
import { languageOf } from '../../messaging/documents/texts/by-locale.ts';
import { readMailSubject } from '../../messaging/mails/queries.ts';
import { recordReceiptGenerated } from '../../payments/payment-receipts/announce.ts';
import { getReceipt } from '../../payments/payment-receipts/queries.ts';
import { listShares, readPayment } from '../../payments/payments/queries.ts';
import { creditNoteModel } from './credit-note-model.ts';
import { eCreditNote } from './e-documents/of-credit-note.ts';
import { eInvoice } from './e-documents/of-invoice.ts';
import { chosenProfile, filledPrinted, frozenRecords } from './e-documents/stated-parties.ts';
import { readInvoiceSources, readSources } from './e-documents/stated-records.ts';
import { invoiceModel } from './invoice-model.ts';
import { withPayLine } from './pay-line.ts';
import { listPaidParts, type Printed, readPrinted } from './printed-invoice.ts';
import { receiptModel } from './receipt-model.ts';
import { type GivenBack, restOfInvoice, type StatedNote } from './rest-of-invoice.ts';

/** Kinds of documents: how each is read for drawing, and how it is announced. */
interface DocumentSubject {
  read(ctx: Scope & { config: Config }, subjectId: string): Promise<DocumentModel>;
  announce(ctx: Context, subjectId: string): Promise<void>;
}

const readWholeInvoice = (ctx: Scope, invoiceId: InvoiceId) =>
  Promise.all([readInvoice(ctx, invoiceId).then((invoice) => partsOf(ctx, invoice)), readPrinted(ctx, invoiceId)]);

async function readWholeNote(ctx: Scope, noteId: CreditNoteId) {
  const note = await readCreditNote(ctx, noteId);
  const [[invoice, printed], fees] = await Promise.all([
    readWholeInvoice(ctx, note.invoice_id),
    feesOfNotes(ctx, [note]),
  ]);
  return { parts: { note, invoice, fees }, printed };
}

/**
 * The profile that customer, billing entity or law had chosen for an invoice and its notes when it was issued; null
 * where none had. What is chosen later changes nothing that was handed out. Rule: e-documents.md#profiles.
 */
export async function readChosenProfile(ctx: Scope, invoiceId: InvoiceId): Promise<Profile | null> {
  const [invoice, printed] = await Promise.all([readInvoice(ctx, invoiceId), readPrinted(ctx, invoiceId)]);
  const customer = await readCustomer(ctx, invoice.customer_id);
  return chosenProfile(frozenRecords({ invoice, customer }, printed));
}

/** The electronic document of an invoice; without a profile with the facts that such documents always stated. */
export async function readEInvoice(
  ctx: Scope,
  invoiceId: InvoiceId,
  profile: Profile | null = null,
): Promise<DocumentFacts> {
  const [parts, printed] = await readWholeInvoice(ctx, invoiceId);
  const sources = await readSources(ctx, invoiceId, parts.fees);
  return eInvoice({ parts, printed, sources }, profile);
}

/** The electronic document of a credit note. */
export async function readENote(
  ctx: Scope,
  noteId: CreditNoteId,
  profile: Profile | null = null,
): Promise<DocumentFacts> {
  const { parts, printed } = await readWholeNote(ctx, noteId);
  const { note, invoice, fees } = parts;
  const sources = await readSources(ctx, note.invoice_id, [...fees.values()]);
  return eCreditNote({ note, parts: invoice, printed, fees, sources }, profile);
}

/** The note that cancels what was left of a voided invoice. */
async function readWholeCancellation(ctx: Scope, invoiceId: InvoiceId, noted: GivenBack) {
  const [invoice, printed] = await readWholeInvoice(ctx, invoiceId);
  const fees: ReadonlyMap<string, FeeRow> = new Map(invoice.fees.map((fee) => [fee.id, fee]));
  return { parts: { note: restOfInvoice(invoice, noted), invoice, fees }, printed };
}

/** What is left of an invoice after what notes gave back; without items nothing is. */
export async function readRestOfInvoice(ctx: Scope, invoiceId: InvoiceId, noted: GivenBack): Promise<StatedNote> {
  return restOfInvoice(await partsOf(ctx, await readInvoice(ctx, invoiceId)), noted);
}

/** The electronic document that cancels a voided invoice. */
export async function readECancellation(
  ctx: Scope,
  invoiceId: InvoiceId,
  { profile, noted }: { profile: Profile | null; noted: GivenBack },
): Promise<DocumentFacts> {
  const { parts, printed } = await readWholeCancellation(ctx, invoiceId, noted);
  const sources = await readSources(ctx, invoiceId, parts.invoice.fees);
  return eCreditNote({ ...parts, parts: parts.invoice, printed, sources }, profile);
}

/** The page of the document that cancels a voided invoice. */
export async function readCancellationModel(
  ctx: Scope,
  invoiceId: InvoiceId,
  noted: GivenBack,
): Promise<DocumentModel> {
  const { parts, printed } = await readWholeCancellation(ctx, invoiceId, noted);
  const filled = await readFilledPrinted(ctx, parts.invoice, printed);
  return creditNoteModel(parts, filled, languageOf(printed.customer_locale, printed.issuer.document_locale));
}

async function readFilledPrinted(ctx: Scope, { invoice, customer }: InvoiceParts, printed: Printed): Promise<Printed> {
  return filledPrinted(customer, printed, (await readInvoiceSources(ctx, invoice.id)).issuer_now);
}

/** The page that carries the XML of an invoice: with its facts, and with what was paid until the issue. */
export async function readInvoiceHybrid(ctx: Scope, invoiceId: InvoiceId): Promise<DocumentModel> {
  const [[parts, printed], paid, sources] = await Promise.all([
    readWholeInvoice(ctx, invoiceId),
    listPaidParts(ctx, invoiceId),
    readInvoiceSources(ctx, invoiceId),
  ]);
  const { finalized_at: issuedAt } = sources;
  const before = paid.filter(
    ({ created_at }) => issuedAt !== null && Temporal.Instant.compare(created_at, issuedAt) < 0,
  );
  const filled = filledPrinted(parts.customer, printed, sources.issuer_now);
  const language = languageOf(printed.customer_locale, printed.issuer.document_locale);
  return invoiceModel(asIssued(parts, Number(sources.paid_before_cents)), filled, before, language);
}

/** An invoice as it was when it was issued: what paid, settled or ended it later is no part of its document. */
const asIssued = (parts: InvoiceParts, paidBeforeCents: number): InvoiceParts => ({
  ...parts,
  invoice: {
    ...parts.invoice,
    status: 'finalized',
    payment_status: 'pending',
    total_paid_amount_cents: paidBeforeCents,
    total_offsetted_credit_note_amount_cents: 0,
    total_written_off_amount_cents: 0,
  },
});

/** The page that carries the XML of a credit note, with its facts. */
export async function readNoteHybrid(ctx: Scope, noteId: CreditNoteId): Promise<DocumentModel> {
  const { parts, printed } = await readWholeNote(ctx, noteId);
  const filled = await readFilledPrinted(ctx, parts.invoice, printed);
  return creditNoteModel(parts, filled, languageOf(printed.customer_locale, printed.issuer.document_locale));
}

export const documentSubjects: Readonly<Record<DocumentKind, DocumentSubject>> = {
  invoice: {
    async read(ctx, invoiceId) {
      const [[parts, printed], paid] = await Promise.all([
        readWholeInvoice(ctx, invoiceId),
        listPaidParts(ctx, invoiceId),
      ]);
      const language = languageOf(printed.customer_locale, printed.issuer.document_locale);
      const model = invoiceModel(parts, printed, paid, language);
      return withPayLine(ctx, model, { invoice: parts.invoice, language });
    },
    announce: recordInvoiceGenerated,
  },
  mailed_draft: {
    read: async (ctx, mailId) => documentSubjects.invoice.read(ctx, await readMailSubject(ctx, mailId)),
    // The page of one mail: nothing of the invoice is made by it.
    announce: async () => {},
  },
  credit_note: {
    async read(ctx, noteId) {
      const { parts, printed } = await readWholeNote(ctx, noteId);
      const language = languageOf(printed.customer_locale, printed.issuer.document_locale);
      return creditNoteModel(parts, printed, language);
    },
    announce: recordCreditNoteGenerated,
  },
  payment_receipt: {
    async read(ctx, receiptId) {
      const receipt = await getReceipt(ctx, receiptId);
      const [payment, shares] = await Promise.all([
        readPayment(ctx, receipt.payment_id),
        listShares(ctx, receipt.payment_id),
      ]);
      const { payment_method_id: methodId } = payment;
      const [invoice, method] = await Promise.all([
        readInvoice(ctx, shares[0]!.invoice_id),
        methodId && readMethod(ctx, methodId),
      ]);
      const [parts, printed] = await Promise.all([partsOf(ctx, invoice), readPrinted(ctx, invoice.id)]);
      const language = languageOf(printed.customer_locale, printed.issuer.document_locale);
      return receiptModel({ receipt, payment, method, shares, invoice: parts }, printed, language);
    },
    announce: recordReceiptGenerated,
  },
};
