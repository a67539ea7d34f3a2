import type { Temporal } from 'temporal-polyfill';
import type { Context } from '../../../platform/context.ts';
import type { Scope } from '../../../platform/db/scope.ts';
import { json } from '../../../platform/db/values.ts';
import type {
  CreditNoteId,
  CustomerId,
  FeeId,
  IntegrationId,
  InvoiceId,
  TaxDocumentId,
} from '../../../platform/ids.ts';
import { newId } from '../../../platform/ids.ts';
import type { TaxAnswer, TaxDocument } from '../../../platform/taxes/port.ts';

/** What an engine is asked: about a draft, an invoice or fee, a credit note, or to take an invoice back. */
export type TaxDocumentKind = 'estimate' | 'record' | 'correct' | 'void';

/** A question to an engine, with what became of it. */
export interface TaxDocumentRow {
  id: TaxDocumentId;
  integration_id: IntegrationId;
  customer_id: CustomerId;
  kind: TaxDocumentKind;
  document_key: string;
  invoice_id: InvoiceId | null;
  fee_id: FeeId | null;
  credit_note_id: CreditNoteId | null;
  version: number;
  tax_version: number | null;
  document: TaxDocument | null;
  answer: TaxAnswer | null;
  status: 'pending' | 'answered' | 'refused' | 'given_up';
  attempts: number;
  asked_at: Temporal.Instant;
  /** When people were told that it failed. */
  told_at: Temporal.Instant | null;
}

/** Asks an engine outside of any transaction; the double of a sandbox answers inside one. */
const ASK_JOB = 'tax.ask';
const ASK_STEP = 'ask-tax-double';

export interface Question {
  integrationId: IntegrationId;
  customerId: CustomerId;
  kind: TaxDocumentKind;
  documentKey: string;
  invoiceId?: InvoiceId | null;
  feeId?: FeeId | null;
  creditNoteId?: CreditNoteId | null;
  /** Of an estimate: the computation of the draft that it is about. */
  taxVersion?: number;
  /** Null for one that takes back. */
  document: TaxDocument | null;
}

/**
 * Stores a question, or a former one of the same document with its new content, and owes its call. Answers to the
 * former content are dropped.
 */
export async function ask(ctx: Context, question: Question): Promise<void> {
  const { db, organizationId } = ctx;
  const [row] = await db<{ id: TaxDocumentId }[]>`
    insert into tax_documents (id, organization_id, integration_id, customer_id, kind, document_key, invoice_id, fee_id,
      credit_note_id, tax_version, document, status, asked_at, next_attempt_at, created_at, updated_at)
    values (${newId()}, ${organizationId}, ${question.integrationId}, ${question.customerId}, ${question.kind},
      ${question.documentKey}, ${question.invoiceId ?? null}, ${question.feeId ?? null},
      ${question.creditNoteId ?? null}, ${question.taxVersion ?? null}, ${json(question.document)}, 'pending',
      ${ctx.now()}, ${ctx.now()}, ${ctx.now()}, ${ctx.now()})
    on conflict on constraint tax_documents_document_key do update set
      integration_id = excluded.integration_id, document = excluded.document, tax_version = excluded.tax_version, status = 'pending', attempts = 0,
      version = tax_documents.version + 1, asked_at = excluded.asked_at, next_attempt_at = excluded.next_attempt_at,
      told_at = null, error_code = null, error_message = null, answer = null, updated_at = excluded.updated_at
    returning id`;
  oweCall(ctx, row!.id);
}

/** Owes the call of a stored question. */
export function oweCall(ctx: Context, id: TaxDocumentId): void {
  if (ctx.sandbox) ctx.after({ step: ASK_STEP, payload: { tax_document_id: id } });
  else ctx.after({ nudge: ASK_JOB, payload: { tax_document_id: id } });
}

const COLUMNS = [
  ...['id', 'integration_id', 'customer_id', 'kind', 'document_key', 'invoice_id', 'fee_id', 'credit_note_id'],
  ...['version', 'tax_version', 'document', 'answer', 'status', 'attempts', 'asked_at', 'told_at'],
];

/** A question by its id. */
export async function findTaxDocument(
  { db, organizationId }: Scope,
  id: TaxDocumentId,
): Promise<TaxDocumentRow | undefined> {
  const [row] = await db<TaxDocumentRow[]>`
    select ${db(COLUMNS)} from tax_documents where organization_id = ${organizationId} and id = ${id}`;
  return row;
}

/** Locks a question that waits for its answer, as it was asked; undefined when it was asked anew or answered. */
export async function lockQuestion(
  { db, organizationId }: Scope,
  { id, version }: Pick<TaxDocumentRow, 'id' | 'version'>,
): Promise<TaxDocumentRow | undefined> {
  const [row] = await db<TaxDocumentRow[]>`
    select ${db(COLUMNS)} from tax_documents
    where organization_id = ${organizationId} and id = ${id} and version = ${version} and status = 'pending'
    for update`;
  return row;
}

/** Lease of a call: a worker that has not answered by then loses it. Longer than two calls may take. */
const LEASED_FOR_SECONDS = 60;

/** Leases a question that is due; undefined if it is not. */
export async function leaseQuestion(
  { db, organizationId }: Scope,
  id: TaxDocumentId,
  now: Temporal.Instant,
): Promise<TaxDocumentRow | undefined> {
  const [row] = await db<TaxDocumentRow[]>`
    update tax_documents set next_attempt_at = ${now.add({ seconds: LEASED_FOR_SECONDS })}
    where organization_id = ${organizationId} and id = ${id} and status = 'pending' and next_attempt_at <= ${now}
    returning ${db(COLUMNS)}`;
  return row;
}

/** Keeps what became of a question. */
export async function settle(
  ctx: Context,
  id: TaxDocumentId,
  end:
    | { status: 'answered'; answer: TaxAnswer | null }
    | { status: 'refused'; fault: { code: string; message: string } },
): Promise<void> {
  const fault = end.status === 'refused' ? end.fault : undefined;
  await ctx.db`
    update tax_documents set status = ${end.status}, next_attempt_at = null, attempts = attempts + 1,
      answer = ${json(end.status === 'answered' ? end.answer : null)}, error_code = ${fault?.code ?? null},
      error_message = ${fault?.message ?? null}, updated_at = ${ctx.now()}
    where organization_id = ${ctx.organizationId} and id = ${id}`;
}

/** Keeps when a question is asked again, where null is no more, and whether people are told now that it failed. */
export async function postpone(
  ctx: Context,
  id: TaxDocumentId,
  {
    nextAttemptAt,
    isTold,
    fault,
  }: { nextAttemptAt: Temporal.Instant | null; isTold: boolean; fault: { code: string; message: string } },
): Promise<void> {
  await ctx.db`
    update tax_documents set status = ${nextAttemptAt === null ? 'given_up' : 'pending'},
      next_attempt_at = ${nextAttemptAt}, attempts = attempts + 1, error_code = ${fault.code},
      error_message = ${fault.message}, told_at = ${isTold ? ctx.now() : ctx.db`told_at`}, updated_at = ${ctx.now()}
    where organization_id = ${ctx.organizationId} and id = ${id}`;
}

/** The record of an invoice that an engine keeps. */
export async function findRecordOf(
  { db, organizationId }: Scope,
  invoiceId: InvoiceId,
): Promise<Pick<TaxDocumentRow, 'integration_id' | 'customer_id' | 'document_key'> | undefined> {
  const [row] = await db<Pick<TaxDocumentRow, 'integration_id' | 'customer_id' | 'document_key'>[]>`
    select integration_id, customer_id, document_key from tax_documents
    where organization_id = ${organizationId} and invoice_id = ${invoiceId} and kind = 'record'
      and status = 'answered'`;
  return row;
}

/** Questions without an answer of a customer, or to a connection, after one of them in the order of their ids. */
export const listOpenQuestions = (
  { db, organizationId }: Scope,
  of: { customer_id: CustomerId } | { integration_id: IntegrationId },
  { afterId, limit }: { afterId: TaxDocumentId | null; limit: number },
) => db<TaxDocumentRow[]>`
  select ${db(COLUMNS)} from tax_documents
  where organization_id = ${organizationId} and status <> 'answered'
    and ${'customer_id' in of ? db`customer_id = ${of.customer_id}` : db`integration_id = ${of.integration_id}`}
    ${afterId === null ? db`` : db`and id > ${afterId}`}
  order by id
  limit ${limit}`;

/** Ends questions that are asked anew, or no more. */
export const giveUp = ({ db, organizationId }: Scope, ids: readonly TaxDocumentId[]) => db`
  update tax_documents set status = 'given_up', next_attempt_at = null, version = version + 1
  where organization_id = ${organizationId} and id = any (${ids}::uuid[]) and status <> 'answered'`;
