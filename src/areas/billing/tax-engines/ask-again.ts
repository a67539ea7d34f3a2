import type { Context } from '../../../platform/context.ts';
import type { CustomerId, FeeId, IntegrationId, TaxDocumentId } from '../../../platform/ids.ts';
import { clearErrors } from '../../invoices/invoices/writes.ts';
import { markWallets } from '../../usage/wallet-marks/wallet-marks.ts';
import { findStandaloneFee } from '../request-taxes/reported-records.ts';
import { askTakingBack, takeBack } from '../request-taxes/take-back.ts';
import { holdQuestions, listOpenQuestions, type TaxDocumentRow } from '../request-taxes/tax-documents.ts';

/** What changed: the address of a customer, or the mappings or the key of a connection, or the connection itself. */
type Changed = { customer_id: CustomerId } | { integration_id: IntegrationId; unanswered?: true | undefined };

/** How many questions one step asks anew; the rest follows in further ones. */
const QUESTIONS_AT_ONCE = 200;

/** Reaction to changed facts: what has no answer yet is asked again with them. */
export async function oweAskingAgain(ctx: Context, changed: Changed): Promise<void> {
  ctx.after({ step: 'ask-taxes-again', payload: { ...changed } });
}

/**
 * Reaction to a connection that works: what got no answer is asked again. What the engine has refused is not, since it
 * would refuse it again; otherwise a key that may do some calls only would go round between failing and working.
 */
export async function oweAskingUnanswered(ctx: Context, works: { integration_id: IntegrationId }): Promise<void> {
  ctx.after({ step: 'ask-taxes-again', payload: { ...works, unanswered: true } });
}

/**
 * Step `ask-taxes-again`: builds the documents of all questions without an answer anew. An invoice whose customer has
 * no engine any more takes our own rates.
 *
 * Rule: tax-engines.md#failures.
 */
export async function askTaxesAgain(
  ctx: Context,
  { after_id: afterId = null, ...changed }: Changed & { after_id?: TaxDocumentId | null | undefined },
): Promise<void> {
  const questions = await listOpenQuestions(ctx, changed, { afterId, limit: QUESTIONS_AT_ONCE });
  if (questions.length === 0) return;
  const held = await holdQuestions(
    ctx,
    questions.map(({ id }) => id),
  );
  for (const question of held) await askAnew(ctx, question);
  if (questions.length === QUESTIONS_AT_ONCE)
    ctx.after({ step: 'ask-taxes-again', payload: { ...changed, after_id: questions.at(-1)!.id } });
}

async function askAnew(ctx: Context, question: TaxDocumentRow): Promise<void> {
  const { kind, invoice_id, fee_id, credit_note_id } = question;
  if (kind === 'correct') return ctx.after({ step: 'report-note-taxes', payload: { credit_note_id: credit_note_id! } });
  // What was recorded at an engine is taken back there, wherever the customer is linked to by now.
  if (kind === 'void') return askTakingBack(ctx, question);
  if (kind === 'estimate') return ctx.after({ step: 'estimate-draft-taxes', payload: { invoice_id: invoice_id! } });
  if (fee_id !== null) return askAboutFee(ctx, fee_id);
  const waiting = await ctx.db`
    update invoices set status = 'pending', tax_status = 'pending', updated_at = ${ctx.now()}
    where organization_id = ${ctx.organizationId} and id = ${invoice_id} and status in ('pending', 'failed')
    returning id`;
  if (waiting.length === 0) return takeBack(ctx, [question]);
  await clearErrors(ctx, invoice_id!, ['tax_error']);
  await markWallets(ctx, question.customer_id);
  ctx.after({ step: 'finalize-pending-invoice', payload: { invoice_id: invoice_id! } });
}

/** A fee whose taxes are known, such as one that was paid, refunded and paid again, is recorded as it was. */
async function askAboutFee(ctx: Context, id: FeeId): Promise<void> {
  const fee = await findStandaloneFee(ctx, id);
  if (fee?.has_engine_taxes) ctx.after({ step: 'follow-fee-taxes', payload: { fee_id: id } });
  else ctx.after({ step: 'tax-standalone-fees', payload: { fee_ids: [id] } });
}
