import type { Temporal } from 'temporal-polyfill';
import type { Context } from '../../../platform/context.ts';
import type { Db, Fragment } from '../../../platform/db/connect.ts';
import type { Scope, WriteScope } from '../../../platform/db/scope.ts';
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
  /** What the latest call has sent; of a leased question, what the call before it has sent. */
  sent_document: TaxDocument | null;
  answer: TaxAnswer | null;
  /** Nobody wants the answer to a question that was dropped. */
  status: 'pending' | 'answered' | 'refused' | 'given_up' | 'dropped';
  attempts: number;
  asked_at: Temporal.Instant;
  /** First call since the engine holds, or may hold, the document. */
  called_at: Temporal.Instant | null;
  /** Until then a call may be under way. */
  leased_until: Temporal.Instant | null;
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
 * Stores a question, or a former one of the same document to the same engine with its new content, and owes its call.
 * Answers to the former content are dropped.
 */
export async function storeQuestion(ctx: Context, question: Question): Promise<void> {
  const { db, organizationId } = ctx;
  const [row] = await db<{ id: TaxDocumentId }[]>`
    insert into tax_documents (id, organization_id, integration_id, customer_id, kind, document_key, invoice_id, fee_id,
      credit_note_id, tax_version, document, status, asked_at, next_attempt_at, created_at, updated_at)
    values (${newId()}, ${organizationId}, ${question.integrationId}, ${question.customerId}, ${question.kind},
      ${question.documentKey}, ${question.invoiceId ?? null}, ${question.feeId ?? null},
      ${question.creditNoteId ?? null}, ${question.taxVersion ?? null}, ${json(question.document)}, 'pending',
      ${ctx.now()}, ${ctx.now()}, ${ctx.now()}, ${ctx.now()})
    on conflict on constraint tax_documents_document_key do update set
      document = excluded.document, tax_version = excluded.tax_version, status = 'pending', attempts = 0,
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
  ...['version', 'tax_version', 'document', 'sent_document', 'answer', 'status', 'attempts', 'asked_at', 'called_at'],
  ...['leased_until', 'told_at'],
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

/** Lease of a call: a worker that has not answered by then loses it. Longer than the calls of one question may take. */
const LEASED_FOR_SECONDS = 60;

/** The connections to the account of one, also deleted ones. Rule: integrations.md#accounts. */
const connectionsTo = (db: Db, organizationId: Fragment, integrationId: Fragment): Fragment => db`
  select same.id from integrations same
  join integrations this on this.organization_id = same.organization_id
  where same.organization_id = ${organizationId} and this.id = ${integrationId}
    and (same.id = this.id or same.account_fingerprint = this.account_fingerprint)`;

/**
 * Leases a question that is due; undefined if it is not, or if a call about the same document may be under way: an
 * engine that is asked to record a document and to take it back at once may end with either.
 *
 * @returns the question, with what the call before has sent
 */
export async function leaseQuestion(
  { db, organizationId }: Scope,
  id: TaxDocumentId,
  now: Temporal.Instant,
): Promise<TaxDocumentRow | undefined> {
  const until = now.add({ seconds: LEASED_FOR_SECONDS });
  const [row] = await db<(TaxDocumentRow & { sent_before: TaxDocument | null })[]>`
    update tax_documents set leased_until = ${until}, next_attempt_at = ${until},
      called_at = coalesce(called_at, ${now}), sent_document = document
    from (
      select max(twin_leased_until) as busy_until,
        (array_agg(twin_sent_document) filter (where twin_id = ${id}))[1] as sent_before
      from (
        select twin.id as twin_id, twin.leased_until as twin_leased_until, twin.sent_document as twin_sent_document
        from tax_documents twin
        join tax_documents own on own.organization_id = twin.organization_id and own.document_key = twin.document_key
        where twin.organization_id = ${organizationId} and own.id = ${id}
          and twin.integration_id in (${connectionsTo(db, db`own.organization_id`, db`own.integration_id`)})
        order by twin.id
        for no key update of twin
      ) locked
    ) twins
    where organization_id = ${organizationId} and id = ${id} and status = 'pending' and next_attempt_at <= ${now}
      and (busy_until is null or busy_until <= ${now})
    returning ${db(COLUMNS)}, sent_before`;
  return row && { ...row, sent_document: row.sent_before };
}

/** When the call about the same document that keeps a question waiting is over at the latest; undefined without one. */
export async function findLeaseBefore(
  { db, organizationId }: Scope,
  { id, integration_id, document_key }: Pick<TaxDocumentRow, 'id' | 'integration_id' | 'document_key'>,
  now: Temporal.Instant,
): Promise<Temporal.Instant | undefined> {
  const [row] = await db<{ until: Temporal.Instant | null }[]>`
    select max(twin.leased_until) as until from tax_documents twin
    where twin.organization_id = ${organizationId}
      and twin.integration_id in (${connectionsTo(db, db`${organizationId}::uuid`, db`${integration_id}::uuid`)})
      and twin.document_key = ${document_key} and twin.leased_until > ${now}
      and exists (select from tax_documents waiting
        where waiting.organization_id = twin.organization_id and waiting.id = ${id} and waiting.status = 'pending'
          and waiting.next_attempt_at <= ${now})`;
  return row?.until ?? undefined;
}

/** Ends the lease of a call whose answer nobody wants any more. */
export const endLease = ({ db, organizationId }: Scope, { id, leased_until }: TaxDocumentRow) => db`
  update tax_documents set leased_until = null
  where organization_id = ${organizationId} and id = ${id} and leased_until = ${leased_until}`;

/** Keeps what became of a question; of a record, what was recorded. */
export async function settle(
  ctx: Context,
  id: TaxDocumentId,
  end:
    | { status: 'answered'; answer: TaxAnswer | null; document: TaxDocument | null }
    | { status: 'refused'; fault: { code: string; message: string } },
): Promise<void> {
  const fault = end.status === 'refused' ? end.fault : undefined;
  await ctx.db`
    update tax_documents set status = ${end.status}, next_attempt_at = null, leased_until = null,
      attempts = attempts + 1, called_at = coalesce(called_at, ${ctx.now()}),
      document = ${end.status === 'answered' ? json(end.document) : ctx.db`document`},
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
      next_attempt_at = ${nextAttemptAt}, leased_until = null, attempts = attempts + 1,
      called_at = coalesce(called_at, ${ctx.now()}), error_code = ${fault.code},
      error_message = ${fault.message}, told_at = ${isTold ? ctx.now() : ctx.db`told_at`}, updated_at = ${ctx.now()}
    where organization_id = ${ctx.organizationId} and id = ${id}`;
}

/**
 * Questions without an answer of a customer, or to a connection, after one of them in the order of their ids.
 *
 * unanswered  without those that were refused
 */
export const listOpenQuestions = (
  { db, organizationId }: Scope,
  of: { customer_id: CustomerId } | { integration_id: IntegrationId; unanswered?: true | undefined },
  { afterId, limit }: { afterId: TaxDocumentId | null; limit: number },
) => db<TaxDocumentRow[]>`
  select ${db(COLUMNS)} from tax_documents
  where organization_id = ${organizationId} and status in ('pending', 'refused', 'given_up')
    and ${'customer_id' in of ? db`customer_id = ${of.customer_id}` : db`integration_id = ${of.integration_id}`}
    ${'unanswered' in of && of.unanswered ? db`and status <> 'refused'` : db``}
    ${afterId === null ? db`` : db`and id > ${afterId}`}
  order by id
  limit ${limit}`;

/** Holds questions that are asked anew: answers to their former content are dropped. Those that were answered stay. */
export const holdQuestions = ({ db, organizationId }: Scope, ids: readonly TaxDocumentId[]) => db<TaxDocumentRow[]>`
  update tax_documents set status = 'given_up', next_attempt_at = null, version = version + 1
  where organization_id = ${organizationId} and id = any (${ids}::uuid[])
    and status in ('pending', 'refused', 'given_up')
  returning ${db(COLUMNS)}`;

/** Drops questions whose answer nobody wants any more; as they are now, since a call may just have begun. */
export const dropQuestions = ({ db, organizationId }: Scope, ids: readonly TaxDocumentId[]) => db<TaxDocumentRow[]>`
  update tax_documents set status = 'dropped', next_attempt_at = null, version = version + 1
  where organization_id = ${organizationId} and id = any (${ids}::uuid[])
  returning ${db(COLUMNS)}`;

/** What an engine has recorded, or may record, and was not asked to take back. */
const standing = ({ db, organizationId }: Scope) => db`
  organization_id = ${organizationId} and kind in ('record', 'correct') and status <> 'dropped'`;

/** Records of an invoice with those of its fees and notes, by the order of their ids. */
export const listRecordsOfInvoice = (scope: Scope, invoiceId: InvoiceId) => {
  const { db, organizationId } = scope;
  return db<TaxDocumentRow[]>`
    select ${db(COLUMNS)} from tax_documents
    where ${standing(scope)} and (invoice_id = ${invoiceId}
      or fee_id in (select id from fees where organization_id = ${organizationId} and invoice_id = ${invoiceId})
      or credit_note_id in (
        select id from credit_notes where organization_id = ${organizationId} and invoice_id = ${invoiceId}))
    order by id`;
};

export const listRecordsOfFees = (scope: Scope, feeIds: readonly FeeId[]) => scope.db<TaxDocumentRow[]>`
  select ${scope.db(COLUMNS)} from tax_documents
  where ${standing(scope)} and fee_id = any (${feeIds}::uuid[]) order by id`;

/** Records of a fee that were taken back, the latest first. */
export const listDroppedRecords = ({ db, organizationId }: Scope, feeId: FeeId) => db<TaxDocumentRow[]>`
  select ${db(COLUMNS)} from tax_documents
  where organization_id = ${organizationId} and fee_id = ${feeId} and kind = 'record' and status = 'dropped'
  order by updated_at desc, id desc`;

/**
 * Records of the same document at other accounts than those of these engines. One of a former connection to the same
 * account is the same record there, so it stays.
 */
export const listRecordsElsewhere = (scope: Scope, documentKey: string, engines: readonly IntegrationId[]) => scope.db<
  TaxDocumentRow[]
>`
  select ${scope.db(COLUMNS)} from tax_documents
  where ${standing(scope)} and document_key = ${documentKey} and not exists (
    select from unnest(${engines}::uuid[]) as engine (id)
    where tax_documents.integration_id in (
      ${connectionsTo(scope.db, scope.db`tax_documents.organization_id`, scope.db`engine.id`)}))
  order by id`;

/** Ends the wish to take a document back that is recorded again at the same account. */
export const dropTakingBack = ({ db, organizationId }: Scope, documentKey: string, integrationId: IntegrationId) => db`
  update tax_documents set status = 'dropped', next_attempt_at = null, version = version + 1
  where organization_id = ${organizationId} and document_key = ${documentKey} and kind = 'void'
    and integration_id in (${connectionsTo(db, db`${organizationId}::uuid`, db`${integrationId}::uuid`)})
    and status <> 'dropped'`;

/** A document that was taken back, or refused, is not at the engine, unless that was asked to record it again. */
export const noteTakenBack = (
  { db, organizationId }: Scope,
  { document_key, integration_id }: Pick<TaxDocumentRow, 'document_key' | 'integration_id'>,
) => db`
  update tax_documents set called_at = null, sent_document = null
  where organization_id = ${organizationId} and document_key = ${document_key} and kind in ('record', 'correct')
    and integration_id = ${integration_id} and status not in ('pending', 'answered')`;

/** What was to be taken back was filed, so it was negated and its id is used up. */
export const noteNegated = ({ db, organizationId, now }: WriteScope, id: TaxDocumentId) => db`
  update tax_documents set negated_at = ${now()} where organization_id = ${organizationId} and id = ${id}`;

/** How many records of a document, under its id and those that followed it, were negated. */
export async function countNegated({ db, organizationId }: Scope, invoiceId: InvoiceId, id: string): Promise<number> {
  const [row] = await db<{ count: number }[]>`
    select count(distinct document_key)::int as count from tax_documents
    where organization_id = ${organizationId} and invoice_id = ${invoiceId} and kind = 'void'
      and negated_at is not null and (document_key = ${id} or starts_with(document_key, ${`${id}:`}))`;
  return row!.count;
}

/** As SQL: the engine has refused a document, or it was announced that it gives no answer. */
const isFailing = (db: Db) => db`(status in ('refused', 'given_up') or (status = 'pending' and told_at is not null))`;

/** Whether an engine could not be asked yet to record its part of a note. */
export async function hasFailedCorrections(
  { db, organizationId }: Scope,
  creditNoteId: CreditNoteId,
): Promise<boolean> {
  const rows = await db`
    select from tax_documents
    where organization_id = ${organizationId} and credit_note_id = ${creditNoteId} and kind = 'correct'
      and ${isFailing(db)}
    limit 1`;
  return rows.length > 0;
}

/** Whether a document of an invoice could not be taken back yet. */
export async function hasFailedVoids({ db, organizationId }: Scope, invoiceId: InvoiceId): Promise<boolean> {
  const rows = await db`
    select from tax_documents
    where organization_id = ${organizationId} and invoice_id = ${invoiceId} and kind = 'void'
      and ${isFailing(db)}
    limit 1`;
  return rows.length > 0;
}
