import type { Context } from '../../platform/context.ts';
import { readCreditNote } from './queries.ts';
import { viewOf } from './show.ts';

/** Writes a new note into the audit trail and tells those who listen. Rules: platform G.1, H.1. */
export async function recordCreditNoteCreated(ctx: Context, id: string): Promise<void> {
  const note = await readCreditNote(ctx.db, ctx.organizationId, id);
  const object = await viewOf(ctx, note);
  ctx.record({
    activity: {
      type: 'credit_note.created',
      resourceType: 'CreditNote',
      resourceId: id,
      object,
      externalCustomerId: object.customer.external_id,
    },
    webhook: {
      type: 'credit_note.created',
      objectType: 'credit_note',
      objectId: id,
      customerId: note.customer_id,
      object,
    },
  });
}
