import { canCreditMove } from '../../../../engine/credits/credit-note-states.ts';
import type { Context } from '../../../../platform/context.ts';
import { refuse } from '../../../../platform/refusal.ts';
import { bookNoteVoided } from '../../../ledger/ledger/credit-notes.ts';
import type { CreditNoteRow } from '../queries.ts';
import { showCreditNote } from '../show-credit-note.ts';
import { changeCreditNote, lockCreditNote } from '../writes.ts';

/**
 * Forfeits what is left of a note; its refund and what it settled stay.
 *
 * @throws Refusal 404 credit_note; 405 no_voidable_amount
 * Rule: credit-notes.md#states.
 */
export async function voidCreditNote(ctx: Context, { svc_id }: { svc_id: string }) {
  const note = await lockCreditNote(ctx, svc_id);
  if (!canCreditMove(note.credit_status, 'voided') || note.balance_amount_cents === 0)
    throw refuse.notAllowed('no_voidable_amount');
  await forfeit(ctx, note);
  return showCreditNote(ctx, note.id);
}

/** Takes what is left of a locked note. Rule: ledger.md#l14. */
export async function forfeit(ctx: Context, note: CreditNoteRow): Promise<void> {
  await bookNoteVoided(ctx, note);
  await changeCreditNote(ctx, note.id, { credit_status: 'voided', balance_amount_cents: 0, voided_at: ctx.now() });
}
