import type { Temporal } from 'temporal-polyfill';
import type { Context } from '../../../platform/context.ts';
import type { CreditNoteId } from '../../../platform/ids.ts';
import type { TaxAnswer, TaxDocument, TaxFault, TaxOutcome } from '../../../platform/taxes/port.ts';
import { findIntegrationById } from '../../customers/integrations/queries.ts';
import { clearErrors } from '../../invoices/invoices/writes.ts';
import { lockPayer } from '../build-invoice/payer-and-issuer.ts';
import { resumeInvoice } from '../finalize-invoice/finalize-pending.ts';
import { askTakingBack, takeBack } from '../request-taxes/take-back.ts';
import {
  endLease,
  hasFailedCorrections,
  hasFailedVoids,
  lockQuestion,
  noteNegated,
  noteTakenBack,
  postpone,
  settle,
  type TaxDocumentRow,
} from '../request-taxes/tax-documents.ts';
import { failCorrection, failEstimate, failFee, failRecord, failVoid } from './failures.ts';
import { taxDraft } from './tax-draft.ts';
import { taxStandaloneFee } from './tax-fee.ts';

/** Minutes after the first call at which an engine out of reach is asked again; then every hour. */
const RETRY_MINUTES = [1, 5, 15, 30, 60];
const HOUR_MINUTES = 60;
/** Hours after which nobody is asked any more by itself. */
const GIVEN_UP_HOURS = 72;
/** Minutes after which people are told that an engine is out of reach. */
const TOLD_AFTER_MINUTES = 15;

/** What an engine says: about a document, and null when there is nothing to compute. */
export interface Told {
  answer: TaxAnswer | null;
  document: TaxDocument | null;
  /** Of what was to be taken back: it was filed, so its inverse was recorded, and its id is used up. */
  isNegated?: true;
}

/**
 * Applies the end of a call: taxes and finalization, or the failure, in one transaction. The answer to a question that
 * was asked anew meanwhile, or dropped, changes nothing.
 *
 * Rules: tax-engines.md#when-an-engine-is-asked, tax-engines.md#failures.
 */
export async function takeAnswer(ctx: Context, asked: TaxDocumentRow, outcome: TaxOutcome<Told>): Promise<void> {
  await lockPayer(ctx, asked.customer_id);
  // Also where nobody waits for this answer any more: the id stays used up.
  if (outcome.kind === 'answered' && outcome.answer.isNegated) await noteNegated(ctx, asked.id);
  const question = await lockQuestion(ctx, asked);
  if (!question) return void (await endLease(ctx, asked));
  if (outcome.kind === 'answered') {
    const { answer, document } = outcome.answer;
    await settle(ctx, question.id, { status: 'answered', answer, document });
    return applyAnswer(ctx, question, outcome.answer);
  }
  // A key that is renewed is accepted later, so the call is repeated; people see the failure at once.
  if (outcome.kind === 'refused' && outcome.isUnauthorized) return retryLater(ctx, question, outcome.fault, 0);
  if (outcome.kind === 'unreachable') return retryLater(ctx, question, outcome.fault, TOLD_AFTER_MINUTES);
  await settle(ctx, question.id, { status: 'refused', fault: outcome.fault });
  if (question.kind === 'record') await takeBackUnbilled(ctx, question, asked.sent_document !== null);
  await fail(ctx, question, outcome.fault);
}

/**
 * What waits without an answer is not billed: what an earlier call may have recorded of it is taken back, until it is
 * asked again. A call that is refused records nothing.
 *
 * Rule: tax-engines.md#one-record.
 */
async function takeBackUnbilled(ctx: Context, question: TaxDocumentRow, maybeRecorded: boolean): Promise<void> {
  if (maybeRecorded) await askTakingBack(ctx, question);
  else await noteTakenBack(ctx, question);
}

async function applyAnswer(ctx: Context, question: TaxDocumentRow, { answer, document }: Told): Promise<void> {
  if (question.kind === 'void') return noteVoid(ctx, question);
  if (question.kind === 'correct') return clearCorrectionError(ctx, question.credit_note_id!);
  if (question.kind === 'estimate') return taxDraft(ctx, question, answer!);
  const recorded = { answer: answer!, document: document!, integrationId: question.integration_id };
  const isBilled =
    question.fee_id === null
      ? await resumeInvoice(ctx, question.invoice_id!, recorded)
      : await taxStandaloneFee(ctx, question.fee_id, recorded);
  // The record is nobody's: the invoice was closed, or the fee deleted or paid without tax.
  if (!isBilled) await takeBack(ctx, [question]);
}

/** A note shows a failure until all engines have recorded their part of it. */
async function clearCorrectionError(ctx: Context, id: CreditNoteId): Promise<void> {
  if (await hasFailedCorrections(ctx, id)) return;
  await ctx.db`
    delete from credit_note_error_details
    where organization_id = ${ctx.organizationId} and credit_note_id = ${id}`;
}

/** A document was taken back; its invoice shows a failure until all of its documents are. */
async function noteVoid(ctx: Context, question: TaxDocumentRow): Promise<void> {
  await noteTakenBack(ctx, question);
  const { invoice_id: invoiceId } = question;
  if (invoiceId !== null && !(await hasFailedVoids(ctx, invoiceId)))
    await clearErrors(ctx, invoiceId, ['tax_voiding_error']);
}

async function retryLater(
  ctx: Context,
  question: TaxDocumentRow,
  fault: TaxFault,
  toldAfterMinutes: number,
): Promise<void> {
  const passed = Math.max(question.asked_at.until(ctx.now()).total('minutes'), 0);
  const isTold = passed >= toldAfterMinutes && question.told_at === null;
  const nextAttemptAt = nextAttempt(question.asked_at, passed);
  await postpone(ctx, question.id, { nextAttemptAt, isTold, fault });
  if (nextAttemptAt === null && question.kind === 'record') await takeBackUnbilled(ctx, question, true);
  if (isTold) await fail(ctx, question, fault);
}

/** Null when it is given up. */
function nextAttempt(askedAt: Temporal.Instant, passedMinutes: number): Temporal.Instant | null {
  if (passedMinutes >= GIVEN_UP_HOURS * HOUR_MINUTES) return null;
  const next = RETRY_MINUTES.find((minutes) => minutes > passedMinutes);
  const hourly = (Math.floor(passedMinutes / HOUR_MINUTES) + 1) * HOUR_MINUTES;
  return askedAt.add({ minutes: next ?? hourly });
}

async function fail(ctx: Context, question: TaxDocumentRow, fault: TaxFault): Promise<void> {
  const integration = (await findIntegrationById(ctx, question.integration_id))!;
  const failed = { question, integration, fault };
  if (question.kind === 'estimate') return failEstimate(ctx, failed);
  if (question.kind === 'void') return failVoid(ctx, failed);
  if (question.kind === 'correct') return failCorrection(ctx, failed);
  return question.fee_id === null ? failRecord(ctx, failed) : failFee(ctx, failed);
}
