import type { Profile } from '../../../engine/e-documents/profiles.ts';
import type { Problem } from '../../../engine/e-documents/rules.ts';
import type { Scope } from '../../../platform/db/scope.ts';
import type { CreditNoteId, InvoiceId } from '../../../platform/ids.ts';
import { refuse } from '../../../platform/refusal.ts';
import { sumNotes } from '../../credits/credit-notes/queries.ts';
import { readInvoice } from '../../invoices/invoices/queries.ts';
import { readRestOfInvoice } from '../render-documents/document-subjects.ts';
import type { GivenBack } from '../render-documents/rest-of-invoice.ts';
import type { SubjectType } from './queries.ts';

/** What notes had given back of an invoice when it was voided. */
export interface Noted extends GivenBack {
  /** The notes that did: those made later credit what the cancellation has credited already. */
  note_ids: CreditNoteId[];
}

/** What notes have given back of an invoice until now. */
export async function readNotedNow(scope: Scope, invoiceId: InvoiceId): Promise<Noted> {
  const { db, organizationId } = scope;
  const [{ fees, sub_total_cents, taxes_cents }, notes] = await Promise.all([
    sumNotes(scope, invoiceId),
    db<{ id: CreditNoteId }[]>`
      select id from credit_notes
      where organization_id = ${organizationId} and invoice_id = ${invoiceId} and status <> 'deleted'`,
  ]);
  return { fees, sub_total_cents, taxes_cents, note_ids: notes.map(({ id }) => id) };
}

const listCancellations = ({ db, organizationId }: Scope, invoiceId: InvoiceId) =>
  db<{ profile: Profile; noted: Noted | null }[]>`
    select profile, noted from e_documents
    where organization_id = ${organizationId} and subject_type = 'Invoice' and subject_id = ${invoiceId}
      and kind = 'cancellation'`;

/** What notes had given back of an invoice when it was voided; as of now for one from before that was kept. */
export async function findNoted(scope: Scope, invoiceId: InvoiceId): Promise<Noted> {
  const [first] = await listCancellations(scope, invoiceId);
  return first?.noted ?? readNotedNow(scope, invoiceId);
}

/** What keeps an invoice or note from having a document, because its receiver would owe or be credited twice. */
type Withdrawal = 'invoice_voided' | 'invoice_cancelled';

const TEXTS: Readonly<Record<Withdrawal, string>> = {
  invoice_voided: 'The invoice was voided, and no document would cancel this one.',
  invoice_cancelled: 'The document that cancelled the invoice has credited this note already.',
};

/**
 * Why an invoice or note may have no document in a profile any more, or null:
 *
 *   a voided invoice     unless a cancellation in this profile, or notes over all of it, stand against it
 *   a note after a void  whose invoice was cancelled
 *
 * Rule: e-documents.md#cancellations.
 */
export async function withdrawnBy(
  scope: Scope,
  { type, id, invoice_id }: { type: SubjectType; id: string; invoice_id: InvoiceId },
  profile: Profile,
): Promise<Withdrawal | null> {
  const { status } = await readInvoice(scope, invoice_id);
  if (status !== 'voided') return null;
  const cancellations = await listCancellations(scope, invoice_id);
  if (type === 'CreditNote') {
    const isCredited = cancellations.some(({ noted }) => noted !== null && !noted.note_ids.some((each) => each === id));
    return isCredited ? 'invoice_cancelled' : null;
  }
  if (cancellations.length > 0) return cancellations.some((each) => each.profile === profile) ? null : 'invoice_voided';
  const { items } = await readRestOfInvoice(scope, invoice_id, await readNotedNow(scope, invoice_id));
  return items.length > 0 ? 'invoice_voided' : null;
}

/** @throws Refusal 422 base e_document_not_available, where a void keeps an invoice or note from having a document */
export async function refuseWithdrawn(
  scope: Scope,
  subject: { type: SubjectType; id: string; invoice_id: InvoiceId },
  profile: Profile,
): Promise<void> {
  const rule = await withdrawnBy(scope, subject, profile);
  if (rule === null) return;
  const problem: Problem = { rule, severity: 'error', resource: 'invoice', field: 'status', text: TEXTS[rule] };
  throw refuse.invalid({ base: ['e_document_not_available'], problems: [problem] }, []);
}
