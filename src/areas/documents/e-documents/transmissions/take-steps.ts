import type { Temporal } from 'temporal-polyfill';
import { canMove, type Report, type SendFault, type SendOutcome } from '../../../../platform/senders/port.ts';
import type { TransmissionRow } from './queries.ts';
import type { Change } from './writes.ts';

/** How long a document that nobody took is sent again under its id. */
const TRIED_DAYS = 3;
/** Pauses between these tries, in minutes; the last one repeats. */
const TRY_AFTER_MINUTES = [1, 5, 15, 60, 180, 360];
/** How long an answer of the receiver is waited for: a month is the longest usual term of payment. */
const HEARD_DAYS = 30;
/** Shortest and longest pause between two questions what became of a document. */
const ASK_LEAST_SECONDS = 60;
const ASK_MOST_SECONDS = 6 * 3600;

type Found = Pick<TransmissionRow, 'status' | 'attempts' | 'queued_at'>;

/**
 * What becomes of a document that was handed over:
 *
 *   taken      sent, and asked about a minute later
 *   refused    failed, but for credentials that are not accepted: those are repaired, and it is tried again
 *   no answer  the same id again after 1, 5, 15, 60, 180, 360, 360 … minutes, for three days, then failed
 *
 * Rule: e-documents.md#sending.
 */
export function afterSending(
  found: Found,
  outcome: SendOutcome<{ providerId: string }>,
  now: Temporal.Instant,
): Change {
  if (outcome.kind === 'answered') {
    const nextAt = now.add({ seconds: ASK_LEAST_SECONDS });
    return { status: 'sent', providerId: outcome.answer.providerId, error: null, nextAt };
  }
  if (outcome.kind === 'refused' && !outcome.isUnauthorized) return failed(outcome.fault);
  const minutes = TRY_AFTER_MINUTES[Math.min(found.attempts, TRY_AFTER_MINUTES.length - 1)]!;
  const nextAt = now.add({ minutes });
  const isOver = nextAt.epochMilliseconds > found.queued_at.add({ hours: TRIED_DAYS * 24 }).epochMilliseconds;
  return isOver ? failed(outcome.fault) : { status: 'queued', error: outcome.fault, nextAt };
}

/** A document that goes nowhere. */
export const failed = (error: SendFault): Change => ({ status: 'failed', error, nextAt: null });

/**
 * What becomes of a document that was taken, after it was asked about: a later state is kept, an earlier one is ignored
 * and counted. It is asked about after half of the time that has passed, at least a minute and at most six hours, for
 * thirty days, or until the receiver has rejected or paid it.
 */
export function afterReport(
  found: Found & Pick<TransmissionRow, 'error'>,
  outcome: SendOutcome<Report>,
  now: Temporal.Instant,
): Change {
  const report: Report =
    outcome.kind === 'answered' ? outcome.answer : { status: found.status as Report['status'], reason: null };
  const isMoved = canMove(found.status, report.status);
  const status = isMoved ? report.status : found.status;
  const isOver = status === 'rejected' || status === 'paid_reported';
  return {
    status,
    error: status === 'rejected' ? (report.reason ?? NO_REASON) : null,
    nextAt: isOver ? null : askedNext(found.queued_at, now),
    isIgnored: !isMoved && report.status !== found.status,
  };
}

const NO_REASON: SendFault = { code: 'rejected', message: 'The receiver rejected the document and gave no reason.' };

function askedNext(queuedAt: Temporal.Instant, now: Temporal.Instant): Temporal.Instant | null {
  const passed = Math.trunc((now.epochMilliseconds - queuedAt.epochMilliseconds) / 1000);
  if (passed > HEARD_DAYS * 24 * 3600) return null;
  const pause = Math.min(Math.max(Math.trunc(passed / 2), ASK_LEAST_SECONDS), ASK_MOST_SECONDS);
  return now.add({ seconds: pause });
}
