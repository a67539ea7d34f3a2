import { assert } from '../../../engine/assert.ts';
import type { DocumentFacts } from '../../../engine/e-documents/facts.ts';
import { DEFAULT_PROFILE, type Profile, profileFacts } from '../../../engine/e-documents/profiles.ts';
import { problemsOf } from '../../../engine/e-documents/rules.ts';
import { realNow } from '../../../platform/clock/real-clock.ts';
import type { Context } from '../../../platform/context.ts';
import type { Scope } from '../../../platform/db/scope.ts';
import type { BillingEntityId, CreditNoteId, CustomerId, DocumentId, InvoiceId } from '../../../platform/ids.ts';
import { newId } from '../../../platform/ids.ts';
import { refuse } from '../../../platform/refusal.ts';
import type { StepPayload } from '../../../steps.ts';
import { getCreditNote } from '../../credits/credit-notes/queries.ts';
import { getVisibleInvoice } from '../../invoices/invoices/queries.ts';
import { lockVisibleInvoice } from '../../invoices/invoices/writes.ts';
import {
  readChosenProfile,
  readECancellation,
  readEInvoice,
  readENote,
  readRestOfInvoice,
} from '../render-documents/document-subjects.ts';
import { findNoted, type Noted, readNotedNow, refuseWithdrawn, withdrawnBy } from './cancellations.ts';
import {
  type EDocumentRow,
  findDocumentOf,
  getEDocument,
  hasLines,
  listDocumentsOfInvoice,
  printedKind,
  type SubjectType,
} from './queries.ts';
import { refuseProblems } from './refuse-problems.ts';
import type { EDocumentCreate } from './schema.ts';
import { eDocumentView } from './view.ts';
import { insertEDocument, markPending } from './writes.ts';

/** Electronic documents are kept until the end of the tenth calendar year after their issue. */
const YEARS_KEPT = 10;

/** What a document is made of: an invoice or a credit note. */
export interface Subject {
  type: SubjectType;
  id: string;
  /** Absent: the document itself. */
  kind?: EDocumentRow['kind'];
  number: string;
  issuing_date: DocumentFacts['issuedOn'];
  billing_entity_id: BillingEntityId;
  customer_id: CustomerId;
  invoice_id: InvoiceId;
  /** Of a cancellation: what notes had given back. */
  noted?: Noted;
}

/**
 * The facts of a subject's document in a profile, or of the one that cancels it, as they are now; without a profile
 * those that documents always stated.
 */
export const factsOf = async (
  ctx: Pick<Context, 'db' | 'organizationId'>,
  { type, id, kind }: Pick<Subject, 'type' | 'id' | 'kind'>,
  profile: Profile | null,
): Promise<DocumentFacts> =>
  kind === 'cancellation'
    ? readECancellation(ctx, id as InvoiceId, { profile, noted: await findNoted(ctx, id as InvoiceId) })
    : type === 'Invoice'
      ? readEInvoice(ctx, id as InvoiceId, profile)
      : readENote(ctx, id as CreditNoteId, profile);

/**
 * Makes the electronic document of an invoice in a profile, or the one in its chosen profile.
 *
 * @throws Refusal 404 invoice; 405 invoice_not_finalized; 422 base e_document_not_available, with the problems
 * Rule: e-documents.md#when.
 */
export async function createInvoiceEDocument(ctx: Context, input: { svc_id: string; body: EDocumentCreate }) {
  const invoice = await getVisibleInvoice(ctx, input.svc_id);
  if (invoice.status !== 'finalized' && invoice.status !== 'voided') throw refuse.notAllowed('invoice_not_finalized');
  return made(ctx, { ...invoice, type: 'Invoice', invoice_id: invoice.id }, input.body.profile);
}

/** The same of a credit note. @throws Refusal 404 credit_note; 422 base e_document_not_available */
export async function createNoteEDocument(ctx: Context, input: { svc_id: string; body: EDocumentCreate }) {
  return made(ctx, { ...(await getCreditNote(ctx, input.svc_id)), type: 'CreditNote' }, input.body.profile);
}

async function made(ctx: Context, subject: Subject, wanted: Profile | undefined) {
  const profile = wanted ?? (await readChosenProfile(ctx, subject.invoice_id)) ?? DEFAULT_PROFILE;
  const row = await makeEDocument(ctx, subject, profile);
  return { e_document: await eDocumentView(ctx, row) };
}

/**
 * The document of a subject in a profile: the one that exists, or one that is made now.
 *
 * @param isByDefault nobody chose or named the profile: what the rules find keeps it from nothing
 * @throws Refusal 422 base e_document_not_available, with the problems
 * Rule: e-documents.md#by-default.
 */
export async function makeEDocument(
  ctx: Context,
  subject: Subject,
  profile: Profile,
  { isByDefault } = { isByDefault: false },
): Promise<EDocumentRow> {
  const { type, id } = subject;
  // The void locks the invoice as well: it cancels the document, or it came first and the document is refused.
  await lockVisibleInvoice(ctx, subject.invoice_id);
  const found = await findDocumentOf(ctx, { type, id, profile });
  if (found?.status === 'ready') {
    if (!isByDefault) refuseProblems(found.problems);
    return found;
  }
  if (found?.status === 'pending') {
    if (found.is_by_default && !isByDefault) await refuseWhatIsWrong(ctx, subject, profile);
    // It may wait behind a billing run; now somebody waits for it.
    ctx.after({ nudge: 'e-document.render', payload: { e_document_id: found.id } });
    return found;
  }
  await refuseWithdrawn(ctx, subject, profile);
  if (!isByDefault) await refuseWhatIsWrong(ctx, subject, profile);
  if (found) return again(ctx, { ...found, is_by_default: isByDefault });
  await storeEDocument(ctx, subject, profile, { inBackground: false, isByDefault });
  const stored = await findDocumentOf(ctx, { type, id, profile });
  assert(stored, 'a document that was stored is there');
  return stored;
}

/**
 * Tries a failed document again, with what was missing then; one that exists is answered as it is.
 *
 * @throws Refusal 404 e_document; 422 base e_document_not_available, with the problems
 */
export async function retryEDocument(ctx: Context, { svc_id }: { svc_id: string }) {
  const row = await getEDocument(ctx, svc_id);
  if (row.status !== 'failed') return { e_document: await eDocumentView(ctx, row) };
  if (row.kind === 'document') {
    const subject = await subjectOf(ctx, { kind: printedKind(row), subject_id: row.subject_id });
    await lockVisibleInvoice(ctx, subject.invoice_id);
    await refuseWithdrawn(ctx, subject, row.profile);
  }
  if (!row.is_by_default)
    await refuseWhatIsWrong(ctx, { type: row.subject_type, id: row.subject_id, kind: row.kind }, row.profile);
  return { e_document: await eDocumentView(ctx, await again(ctx, row)) };
}

const refuseWhatIsWrong = async (
  ctx: Context,
  subject: Pick<Subject, 'type' | 'id' | 'kind'>,
  profile: Profile,
): Promise<void> => refuseProblems(problemsOf(await factsOf(ctx, subject, profile)));

async function again(ctx: Context, row: EDocumentRow): Promise<EDocumentRow> {
  await markPending(ctx, row, { now: ctx.now(), realNow: realNow() });
  ctx.after({ nudge: 'e-document.render', payload: { e_document_id: row.id } });
  return getEDocument(ctx, row.id);
}

/** Stores a document that is to be made, unless there is one, and owes its making. */
export async function storeEDocument(
  ctx: Context,
  subject: Subject,
  profile: Profile,
  { inBackground, isByDefault = false }: { inBackground: boolean; isByDefault?: boolean },
): Promise<void> {
  const { isPdf } = profileFacts[profile];
  const id = newId() as DocumentId;
  const isNew = await insertEDocument(
    ctx,
    {
      id,
      billing_entity_id: subject.billing_entity_id,
      customer_id: subject.customer_id,
      subject_type: subject.type,
      subject_id: subject.id,
      kind: subject.kind ?? 'document',
      noted: subject.noted ?? null,
      number: subject.number,
      issued_on: subject.issuing_date,
      profile,
      is_chosen: (await readChosenProfile(ctx, subject.invoice_id)) === profile,
      is_by_default: isByDefault,
      file_name: `${subject.number}.${isPdf ? 'pdf' : 'xml'}`,
      content_type: isPdf ? 'application/pdf' : 'application/xml',
      retain_until: subject.issuing_date.add({ years: YEARS_KEPT }).with({ month: 12, day: 31 }),
    },
    { now: ctx.now(), realNow: realNow() },
  );
  if (isNew) ctx.after({ nudge: 'e-document.render', payload: { e_document_id: id }, inBackground });
}

/**
 * Makes the document of an invoice or note that became final, in the profile that was chosen; none where none was, none
 * where there is no line to state, and none where a void came first. Nobody waits for it, so it stands behind what was
 * asked for.
 *
 * Rule: e-documents.md#when.
 */
export async function makeChosenEDocument(ctx: Context, payload: StepPayload<'make-e-document'>): Promise<void> {
  const subject = await subjectOf(ctx, payload);
  const profile = await readChosenProfile(ctx, subject.invoice_id);
  if (profile === null || !(await hasLines(ctx, subject.type, subject.id))) return;
  await storeUnlessWithdrawn(ctx, subject, profile, { inBackground: true });
}

/**
 * The electronic document that goes with the mail of an invoice or a note: the one in the profile that was chosen. It
 * is stored here, if it is not yet; none goes where the page carries it, where none was chosen, and where it failed.
 */
export async function eDocumentToMail(ctx: Context, payload: StepPayload<'make-e-document'>): Promise<DocumentId[]> {
  const subject = await subjectOf(ctx, payload);
  const { type, id } = subject;
  const profile = await readChosenProfile(ctx, subject.invoice_id);
  if (profile === null || profileFacts[profile].isPdf || !(await hasLines(ctx, type, id))) return [];
  await storeUnlessWithdrawn(ctx, subject, profile, { inBackground: true });
  const found = await findDocumentOf(ctx, { type, id, profile });
  return found && found.status !== 'failed' ? [found.id] : [];
}

/**
 * Stores a document that is to be made, unless a void came first or the invoice is not final, whose number and amounts
 * are not those of the invoice. A void and this lock the invoice, so a void that comes later finds the document and
 * cancels it.
 *
 * @returns whether there is one to be made
 */
export async function storeUnlessWithdrawn(
  ctx: Context,
  subject: Subject,
  profile: Profile,
  options: { inBackground: boolean },
): Promise<boolean> {
  const { status } = await lockVisibleInvoice(ctx, subject.invoice_id);
  if (status !== 'finalized' && status !== 'voided') return false;
  if ((await withdrawnBy(ctx, subject, profile)) !== null) return false;
  await storeEDocument(ctx, subject, profile, options);
  return true;
}

/**
 * Cancels what was handed out of an invoice that is voided without a note: in each of its profiles a document over what
 * its notes have not given back until now. The former documents stay.
 *
 * Rule: e-documents.md#cancellations.
 */
export async function cancelEDocuments(ctx: Context, invoiceId: InvoiceId): Promise<void> {
  const documents = await listDocumentsOfInvoice(ctx, invoiceId);
  if (documents.length === 0) return;
  const noted = await readNotedNow(ctx, invoiceId);
  const { number, issuing_date, items } = await readRestOfInvoice(ctx, invoiceId, noted);
  if (items.length === 0) return;
  const invoice = await getVisibleInvoice(ctx, invoiceId);
  const subject: Subject = { ...invoice, type: 'Invoice', kind: 'cancellation', invoice_id: invoice.id };
  const cancelled = { ...subject, number, issuing_date, noted };
  for (const { profile, is_by_default: isByDefault } of documents)
    await storeEDocument(ctx, cancelled, profile, { inBackground: true, isByDefault });
}

/** What a document of an invoice or a credit note is made of. @throws Refusal 404 of the record */
export async function subjectOf(ctx: Scope, { kind, subject_id }: StepPayload<'make-e-document'>): Promise<Subject> {
  if (kind === 'credit_note') return { ...(await getCreditNote(ctx, subject_id)), type: 'CreditNote' };
  const invoice = await getVisibleInvoice(ctx, subject_id);
  return { ...invoice, type: 'Invoice', invoice_id: invoice.id };
}
