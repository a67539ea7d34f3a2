import type { Context } from '../../../platform/context.ts';
import type { CreditNoteId } from '../../../platform/ids.ts';
import { readCustomer } from '../../customers/customers/queries.ts';
import { type FeeRow, listFeesByIds } from '../../invoices/fees/queries.ts';
import { urlsOf } from '../../messaging/documents/document-urls.ts';
import { type CreditNoteRow, readCreditNote } from './queries.ts';
import { creditNoteView } from './view.ts';

type Reading = Pick<Context, 'db' | 'config' | 'organizationId'>;

/** Fees that the items of notes give back, by id: one statement, however many. */
export async function feesOfNotes(
  ctx: Pick<Reading, 'db' | 'organizationId'>,
  notes: readonly CreditNoteRow[],
): Promise<ReadonlyMap<string, FeeRow>> {
  const ids = [...new Set(notes.flatMap(({ items }) => items.flatMap(({ fee_id: id }) => (id === null ? [] : [id]))))];
  const fees = ids.length === 0 ? [] : await listFeesByIds(ctx, ids);
  return new Map(fees.map((fee) => [fee.id, fee]));
}

/** A note read by its id. */
export async function viewOf(ctx: Reading, note: CreditNoteRow) {
  const fees = await feesOfNotes(ctx, [note]);
  const customer = await readCustomer(ctx, note.customer_id);
  return { ...creditNoteView(note, fees, customer), ...(await urlsOf(ctx, note)) };
}

/** A note of ours, whatever its status: what commands answer. */
export async function showCreditNote(ctx: Reading, id: CreditNoteId) {
  return { credit_note: await viewOf(ctx, await readCreditNote(ctx, id)) };
}
