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
import { documentsOfNote } from './note-documents.ts';
import { findNoteToReport, findStandaloneFee, listPayersOfFees, listStandaloneFees } from './reported-records.ts';
import { ask, takeBack } from './take-back.ts';
import {
  countNegated,
  listDroppedRecords,
  listRecordsOfFees,
  listRecordsOfInvoice,
  type TaxDocumentRow,
} from './tax-documents.ts';

/** The id by which an engine knows an invoice, a fee or a note. */
const idOfInvoice = (id: InvoiceId): string => `svc:${id}`;
const idOfFee = (id: FeeId): string => `svc:fee:${id}`;
const idOfNote = (id: CreditNoteId): string => `svc:note:${id}`;

/** Whether an engine is asked about an invoice: there is something to tax. */
export const hasTaxedAmount = (invoice: { sub_total_excluding_taxes_amount_cents: number }): boolean =>
  invoice.sub_total_excluding_taxes_amount_cents > 0;

/**
 * Asks the engine of a customer to record an invoice that waits for its taxes. One that no engine is asked about any
 * more is taken back where it was recorded.
 *
 * @returns whether an engine is asked
 * Rules: tax-engines.md#when-an-engine-is-asked, tax-engines.md#one-record.
 */
export async function requestRecord(
  ctx: Context,
  invoice: { id: InvoiceId; sub_total_excluding_taxes_amount_cents: number },
  date: Temporal.PlainDate,
): Promise<boolean> {
  const { id } = invoice;
  const isAsked =
    hasTaxedAmount(invoice) && (await request(ctx, id, { kind: 'record', documentKey: idOfInvoice(id), date }));
  if (!isAsked) await takeBack(ctx, await listRecordsOfInvoice(ctx, id));
  return isAsked;
}

/**
 * Step `estimate-draft-taxes`: asks the engine what a draft would be taxed. The answer to an older computation of the
 * draft is void. A draft whose customer has no engine any more waits for none, and is computed again.
 *
 * Rule: tax-engines.md#when-an-engine-is-asked.
 */
export async function estimateDraftTaxes(ctx: Context, { invoice_id: id }: { invoice_id: InvoiceId }): Promise<void> {
  const { customer_id } = await readInvoice(ctx, id);
  await lockPayer(ctx, customer_id);
  const invoice = await readInvoice(ctx, id);
  if (invoice.status !== 'draft' || !hasTaxedAmount(invoice)) return;
  const documentKey = `${idOfInvoice(id)}:draft`;
  if (await request(ctx, id, { kind: 'estimate', documentKey, date: invoice.issuing_date })) return;
  await ctx.db`
    update invoices set tax_status = null, ready_to_be_refreshed = true
    where organization_id = ${ctx.organizationId} and id = ${id} and status = 'draft' and tax_status is not null`;
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
  const documentKey = asked.kind === 'record' ? await unusedKey(ctx, invoiceId, asked.documentKey) : asked.documentKey;
  await ask(ctx, {
    integrationId: facts.integration_id,
    customerId: invoice.customer_id,
    kind: asked.kind,
    documentKey,
    invoiceId,
    document: { ...document, id: documentKey },
    ...(asked.kind === 'estimate' ? { taxVersion: invoice.tax_version } : {}),
  });
  return true;
}

/**
 * The id under which an invoice is recorded: that of the invoice, followed by a number once a record was filed and
 * negated, because its id stays frozen at the engine. What was asked under a former id is not asked for any more.
 *
 * Rule: tax-engines.md#one-record.
 */
async function unusedKey(ctx: Context, invoiceId: InvoiceId, key: string): Promise<string> {
  const negated = await countNegated(ctx, invoiceId, key);
  if (negated === 0) return key;
  const unused = `${key}:${negated + 1}`;
  const records = await listRecordsOfInvoice(ctx, invoiceId);
  const isFormer = ({ kind, fee_id, document_key }: TaxDocumentRow) =>
    kind === 'record' && fee_id === null && document_key !== unused;
  await takeBack(ctx, records.filter(isFormer));
  return unused;
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
 * Those that no engine is asked about any more are taken back where they were recorded.
 *
 * Rules: tax-engines.md#when-an-engine-is-asked, tax-engines.md#one-record.
 */
export async function taxStandaloneFees(ctx: Context, { fee_ids: ids }: { fee_ids: readonly FeeId[] }): Promise<void> {
  const payers = await listPayersOfFees(ctx, ids);
  for (const { customer_id } of payers) await lockPayer(ctx, customer_id);
  const left = new Set(ids);
  const read = new Map<string, DocumentFacts | undefined>();
  for (const fee of await listStandaloneFees(ctx, ids)) {
    const { customer_id, billing_entity_id } = fee;
    const key = `${customer_id}:${billing_entity_id}`;
    if (!read.has(key)) read.set(key, await readDocumentFacts(ctx, customer_id, billing_entity_id));
    const facts = read.get(key);
    if (!facts || fee.amount_cents <= 0) continue;
    left.delete(fee.id);
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
  if (left.size === 0) return;
  const records = await listRecordsOfFees(ctx, [...left]);
  await takeBack(
    ctx,
    records.filter(({ status }) => status !== 'answered'),
  );
}

/**
 * Step `follow-fee-taxes`: a fee on no invoice that was deleted or refunded is taken back at the engine that recorded
 * it; one that is paid after all is recorded there again as it was, under a new id, since the former one stays frozen
 * where it was filed and negated. A record that the engine holds, or is asked for,
 * stays; one that has failed is asked for again.
 *
 * Rule: tax-engines.md#one-record.
 */
export async function followFeeTaxes(ctx: Context, { fee_id: id }: { fee_id: FeeId }): Promise<void> {
  const fee = await findStandaloneFee(ctx, id);
  if (!fee) return;
  await lockPayer(ctx, fee.customer_id);
  const { is_billed: isBilled, has_engine_taxes: isTaxed } = (await findStandaloneFee(ctx, id))!;
  const standing = await listRecordsOfFees(ctx, [id]);
  if (!isBilled) return takeBack(ctx, standing);
  if (!isTaxed || standing.some(({ status }) => status === 'answered' || status === 'pending')) return;
  const dropped = standing.length > 0 ? [] : await listDroppedRecords(ctx, id);
  const former = standing.at(-1) ?? dropped[0];
  if (!former?.document) return;
  const documentKey = dropped.length === 0 ? former.document_key : `${idOfFee(id)}:${dropped.length + 1}`;
  const { integration_id: integrationId, customer_id: customerId } = former;
  const document = { ...former.document, id: documentKey };
  await ask(ctx, { integrationId, customerId, kind: 'record', documentKey, feeId: id, document });
}

/**
 * Step `report-note-taxes`: records a final note with negative lines at the engines that recorded what it gives back,
 * with the facts that were recorded. The note's own tax is computed from the invoice's rates and stays. A note of an
 * invoice that is taken back is not reported, since all of the invoice is.
 *
 * Rules: tax-engines.md#when-an-engine-is-asked, tax-engines.md#one-record.
 */
export async function reportNoteTaxes(ctx: Context, { credit_note_id: id }: { credit_note_id: CreditNoteId }) {
  const found = await findNoteToReport(ctx, id);
  if (!found) return;
  await lockPayer(ctx, found.customer_id);
  const note = await findNoteToReport(ctx, id);
  if (!note) return;
  const documentKey = idOfNote(id);
  const documents = note.isOver ? [] : documentsOfNote(documentKey, note);
  const engines = documents.map(({ integrationId }) => integrationId);
  for (const { integrationId, document } of documents)
    await ask(
      ctx,
      { integrationId, customerId: note.customer_id, kind: 'correct', documentKey, creditNoteId: id, document },
      engines,
    );
}
