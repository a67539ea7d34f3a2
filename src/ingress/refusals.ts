import { AmountOutOfRange } from '../engine/money/cents.ts';
import { isCancelled, isPassing } from '../platform/db/refusal-of-database.ts';
import type { Log } from '../platform/log/log.ts';
import { Outage, Refusal, refuse } from '../platform/refusal.ts';
import { OUT_OF_RANGE } from '../platform/schema/fields.ts';

export interface ErrorAnswer {
  status: number;
  body: object;
  headers: Record<string, string>;
}

/**
 * The only mapping of errors to answers: refusals as they are, amounts beyond what is counted to 422, since callers set
 * units and prices, outages to 503 with Retry-After, defects to 500 with the stack in the log (error-bodies.md#shapes).
 */
export function answerOfError(error: unknown, log: Log, facts: { requestId: string; operation?: string }): ErrorAnswer {
  if (error instanceof Refusal) {
    const isSoonOver = error.status === 429 || error.status === 503;
    return {
      status: error.status,
      body: error.body,
      headers: { ...(isSoonOver ? { 'Retry-After': '1' } : {}), ...error.headers },
    };
  }
  if (error instanceof AmountOutOfRange) return answerOfError(refuse.invalid({ base: [OUT_OF_RANGE] }), log, facts);
  if (isPassing(error) || isCancelled(error) || error instanceof Outage) {
    log.warn({ ...facts, err: (error as Error).message }, 'outage');
    const refusal = refuse.unavailable();
    return { status: refusal.status, body: refusal.body, headers: { 'Retry-After': '1' } };
  }
  log.error({ ...facts, err: error }, 'request failed');
  return { status: 500, body: { status: 500, error: 'Internal Server Error' }, headers: {} };
}
