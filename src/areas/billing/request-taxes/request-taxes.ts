import type { Temporal } from 'temporal-polyfill';
import { localDate } from '../../../engine/calendar/local-day.ts';
import { cents } from '../../../engine/money/cents.ts';
import type { Context } from '../../../platform/context.ts';
import type { CreditNoteId, FeeId, InvoiceId } from '../../../platform/ids.ts';
import type { TaxDocument } from '../../../platform/taxes/port.ts';
import { listFeesOfInvoice } from '../../invoices/fees/queries.ts';
import { type InvoiceRow, readInvoice } from '../../invoices/invoices/queries.ts';
import { lockPayer } from '../build-invoice/payer-and-issuer.ts';
import { type DocumentFacts, documentOf, readDocumentFacts, type SentFee } from './documents.ts';
import { findNoteToReport, listStandaloneFees } from './reported-records.ts';
import { ask, findRecordOf } from './tax-documents.ts';

/** The id by which an engine knows an invoice, a fee or a note. */
const idOfInvoice = (id: InvoiceId): string => `svc:${id}`;
const idOfFee = (id: FeeId): string => `svc:fee:${id}`;
const idOfNote = (id: CreditNoteId): string => `svc:note:${id}`;

/** Whether an engine is asked about an invoice: there is something to tax. */
export const hasTaxedAmount = (invoice: { sub_total_excluding_taxes_amount_cents: number }): boolean =>
  invoice.sub_total_excluding_taxes_amount_cents > 0;

/**
 * Asks the engine of a customer to record an invoice that waits for its taxes.
 *
 * @returns whether there is such an engine
 * Rule: tax-engines.md#when-an-engine-is-asked.
 */
export async function requestRecord(ctx: Context, invoiceId: InvoiceId, date: Temporal.PlainDate): Promise<boolean> {
  return request(ctx, invoiceId, { kind: 'record', documentKey: idOfInvoice(invoiceId), date });
}

/**
 * Step `estimate-draft-taxes`: asks the engine what a draft would be taxed. The answer to an older computation of the
 * draft is void.
 *
 * Rule: tax-engines.md#when-an-engine-is-asked.
 */
export async function estimateDraftTaxes(ctx: Context, { invoice_id: id }: { invoice_id: InvoiceId }): Promise<void> {
  const { customer_id } = await readInvoice(ctx, id);
  await lockPayer(ctx, customer_id);
  const invoice = await readInvoice(ctx, id);
  if (invoice.status !== 'draft' || !hasTaxedAmount(invoice)) return;
  const documentKey = `${idOfInvoice(id)}:draft`;
  await request(ctx, id, { kind: 'estimate', documentKey, date: invoice.issuing_date });
}

async function request(
  ctx: Context,
  invoiceId: InvoiceId,
  asked: { kind: 'estimate' | 'record'; documentKey: string; date: Temporal.PlainDate },
): Promise<boolean> {
  const invoice = await readInvoice(ctx, invoiceId);
  const found = await documentOfInvoice(ctx, invoice, { id: asked.documentKey, date: asked.date });
  if (!found) return false;
  const { document, facts } = found;
  await ask(ctx, {
    integrationId: facts.integration_id,
    customerId: invoice.customer_id,
    kind: asked.kind,
    documentKey: asked.documentKey,
    invoiceId,
    document,
    ...(asked.kind === 'estimate' ? { taxVersion: invoice.tax_version } : {}),
  });
  return true;
}

/** What is sent about an invoice; undefined if no engine taxes its customer. */
export async function documentOfInvoice(
  ctx: Context,
  invoice: InvoiceRow,
  head: { id: string; date: Temporal.PlainDate },
): Promise<{ document: TaxDocument; facts: DocumentFacts } | undefined> {
  const facts = await readDocumentFacts(ctx, invoice.customer_id, invoice.billing_entity_id);
  if (!facts) return undefined;
  const fees = (await listFeesOfInvoice(ctx, invoice.id)).map(sentFee);
  const netTotalCents = cents(invoice.sub_total_excluding_taxes_amount_cents);
  return { facts, document: documentOf(facts, { ...head, currency: invoice.currency }, { fees, netTotalCents }) };
}

const sentFee = (fee: Omit<SentFee, 'amount_cents'> & { amount_cents: number }): SentFee => ({
  ...fee,
  amount_cents: cents(fee.amount_cents),
});

/**
 * Step `tax-standalone-fees`: asks the engine to record fees that are on no invoice, each as a document of its own.
 * Rule: tax-engines.md#when-an-engine-is-asked.
 */
export async function taxStandaloneFees(ctx: Context, { fee_ids: ids }: { fee_ids: readonly FeeId[] }): Promise<void> {
  for (const fee of await listStandaloneFees(ctx, ids)) {
    const facts = await readDocumentFacts(ctx, fee.customer_id, fee.billing_entity_id);
    if (!facts || fee.amount_cents <= 0) continue;
    const documentKey = idOfFee(fee.id);
    const document = documentOf(
      facts,
      { id: documentKey, date: localDate(fee.created_at, facts.timezone), currency: fee.amount_currency },
      { fees: [sentFee(fee)], netTotalCents: cents(fee.amount_cents) },
    );
    const { integration_id: integrationId } = facts;
    await ask(ctx, {
      integrationId,
      customerId: fee.customer_id,
      kind: 'record',
      documentKey,
      feeId: fee.id,
      document,
    });
  }
}

/**
 * Step `report-note-taxes`: records a final note with negative lines at the engine that taxed its invoice. The note's
 * own tax is computed from the invoice's rates and stays.
 *
 * Rule: tax-engines.md#when-an-engine-is-asked.
 */
export async function reportNoteTaxes(ctx: Context, { credit_note_id: id }: { credit_note_id: CreditNoteId }) {
  const note = await findNoteToReport(ctx, id);
  const facts = note && (await readDocumentFacts(ctx, note.customer_id, note.billing_entity_id));
  if (!note || !facts) return;
  const documentKey = idOfNote(id);
  const document = documentOf(
    facts,
    { id: documentKey, date: note.issuing_date, currency: note.currency },
    { fees: note.items.map(sentFee), netTotalCents: cents(note.sub_total_excluding_taxes_amount_cents) },
  );
  await ask(ctx, {
    integrationId: facts.integration_id,
    customerId: note.customer_id,
    kind: 'correct',
    documentKey,
    creditNoteId: id,
    document: { ...document, lines: document.lines.map((line) => ({ ...line, netCents: -line.netCents })) },
  });
}

/**
 * Step `take-invoice-taxes-back`: a voided invoice, or one whose dispute was lost, is taken back at the engine that
 * recorded it.
 *
 * Rule: tax-engines.md#when-an-engine-is-asked.
 */
export async function takeInvoiceTaxesBack(ctx: Context, { invoice_id: id }: { invoice_id: InvoiceId }): Promise<void> {
  const recorded = await findRecordOf(ctx, id);
  if (!recorded) return;
  await ask(ctx, {
    integrationId: recorded.integration_id,
    customerId: recorded.customer_id,
    kind: 'void',
    documentKey: recorded.document_key,
    invoiceId: id,
    document: null,
  });
}
