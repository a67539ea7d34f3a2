import type { Context } from '../../../platform/context.ts';
import type { Scope } from '../../../platform/db/scope.ts';
import type { CreditNoteId } from '../../../platform/ids.ts';
import { drawUnasked } from '../../messaging/documents/ask-for-document.ts';
import { urlsOf } from '../../messaging/documents/document-urls.ts';
import { isMailed, oweEDocument, oweMail } from '../../messaging/mails/owe-mail.ts';
import { type CreditNoteRow, readCreditNote } from './queries.ts';
import { viewOf } from './show-credit-note.ts';

/**
 * Writes a new note into the audit trail and sends its webhook. Rules: webhooks.md#event-types,
 * logs.md#activity-logs.
 */
export async function recordCreditNoteCreated(ctx: Context, id: CreditNoteId): Promise<void> {
  const note = await readCreditNote(ctx, id);
  const shown = await viewOf(ctx, note);
  tell(ctx, 'credit_note.created', { note, shown, told: shown });
  if (await isMailed(ctx, note.billing_entity_id, 'credit_note.created'))
    oweMail(ctx, { kind: 'credit_note', subject_id: id });
  if (await wantsEDocuments(ctx, note)) oweEDocument(ctx, { kind: 'credit_note', subject_id: id });
  if (ctx.config.DRAW_UNASKED && note.status === 'finalized')
    await drawUnasked(ctx, { kind: 'credit_note', subjectId: id, number: note.number });
}

/**
 * Announces that the document of a note is there. Rules: credit-notes.md#endpoints, webhooks.md#event-types,
 * logs.md#activity-logs.
 */
export async function recordCreditNoteGenerated(ctx: Context, id: CreditNoteId): Promise<void> {
  const note = await readCreditNote(ctx, id);
  const urls = await urlsOf(ctx, note);
  const shown = { ...(await viewOf(ctx, note)), ...urls };
  const { items: _items, applied_taxes: _taxes, error_details: _errors, ...told } = shown;
  tell(ctx, 'credit_note.generated', { note, shown, told });
}

/** The audit trail keeps the whole note; the webhook carries the parts of its type. */
function tell(
  ctx: Context,
  type: 'credit_note.created' | 'credit_note.generated',
  {
    note,
    shown,
    told,
  }: { note: CreditNoteRow; shown: Pick<Awaited<ReturnType<typeof viewOf>>, 'customer'>; told: object },
): void {
  ctx.record({
    activity: {
      type,
      resourceType: 'CreditNote',
      resourceId: note.id,
      object: shown,
      externalCustomerId: shown.customer.external_id,
    },
    webhook: {
      type,
      objectType: 'credit_note',
      objectId: note.id,
      customerId: note.customer_id,
      object: told,
    },
  });
}

/** Whether the seller, or the customer, of a note has electronic documents made. Rule: e-documents.md#profiles. */
async function wantsEDocuments(
  { db, organizationId }: Scope,
  note: Pick<CreditNoteRow, 'billing_entity_id' | 'customer_id' | 'status'>,
): Promise<boolean> {
  if (note.status !== 'finalized') return false;
  const [row] = await db<{ wants: boolean }[]>`
    select entity.e_document_profile is not null or entity.einvoicing
      or customer.e_document_profile is not null as wants
    from customers customer
    join billing_entities entity on entity.organization_id = customer.organization_id
      and entity.id = ${note.billing_entity_id}
    where customer.organization_id = ${organizationId} and customer.id = ${note.customer_id}`;
  return row?.wants === true;
}
