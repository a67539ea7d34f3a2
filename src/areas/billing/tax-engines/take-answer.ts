import type { Temporal } from 'temporal-polyfill';
import type { Context } from '../../../platform/context.ts';
import type { TaxAnswer, TaxFault, TaxOutcome } from '../../../platform/taxes/port.ts';
import { findIntegrationById } from '../../customers/integrations/queries.ts';
import { clearErrors } from '../../invoices/invoices/writes.ts';
import { lockPayer } from '../build-invoice/payer-and-issuer.ts';
import { resumeInvoice } from '../finalize-invoice/finalize-pending.ts';
import { lockQuestion, postpone, settle, type TaxDocumentRow } from '../request-taxes/tax-documents.ts';
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

/**
 * Applies the end of a call: taxes and finalization, or the failure, in one transaction. The answer to a question that
 * was asked anew meanwhile is dropped.
 *
 * Rules: tax-engines.md#when-an-engine-is-asked, tax-engines.md#failures.
 */
export async function takeAnswer(
  ctx: Context,
  asked: TaxDocumentRow,
  outcome: TaxOutcome<TaxAnswer | null>,
): Promise<void> {
  await lockPayer(ctx, asked.customer_id);
  const question = await lockQuestion(ctx, asked);
  if (!question) return;
  if (outcome.kind === 'answered') {
    await settle(ctx, question.id, { status: 'answered', answer: outcome.answer });
    return applyAnswer(ctx, question, outcome.answer);
  }
  if (outcome.kind === 'unreachable') return retryLater(ctx, question, outcome.fault);
  await settle(ctx, question.id, { status: 'refused', fault: outcome.fault });
  await fail(ctx, question, outcome.fault);
}

async function applyAnswer(ctx: Context, question: TaxDocumentRow, answer: TaxAnswer | null): Promise<void> {
  if (question.kind === 'void') return void (await clearErrors(ctx, question.invoice_id!, ['tax_voiding_error']));
  if (question.kind === 'correct')
    return void (await ctx.db`
      delete from credit_note_error_details
      where organization_id = ${ctx.organizationId} and credit_note_id = ${question.credit_note_id}`);
  if (question.kind === 'estimate') return taxDraft(ctx, question, answer!);
  if (question.fee_id !== null) return taxStandaloneFee(ctx, question, answer!);
  await resumeInvoice(ctx, question.invoice_id!, {
    answer: answer!,
    document: question.document!,
    integrationId: question.integration_id,
  });
}

async function retryLater(ctx: Context, question: TaxDocumentRow, fault: TaxFault): Promise<void> {
  const passed = question.asked_at.until(ctx.now()).total('minutes');
  const isTold = passed >= TOLD_AFTER_MINUTES && question.told_at === null;
  await postpone(ctx, question.id, { nextAttemptAt: nextAttempt(question.asked_at, passed), isTold, fault });
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
