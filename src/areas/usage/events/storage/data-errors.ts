import { refuse } from '../../../../platform/refusal.ts';
import type { IncomingBatch, IncomingEvent, Verdict } from '../incoming-event.ts';

/** SQLSTATE classes caused by a value: data exceptions, program limits (too deep, too large for an index). */
const DATA_ERROR = /^(22|54)...$/;

/** Whether a value that cannot be stored made a statement fail. */
export const isDataError = (error: unknown): boolean => DATA_ERROR.test(String((error as { code?: unknown }).code));

/** The refusal of an event with such a value. */
export function unstorable(): Verdict {
  const { status, body } = refuse.invalid({ base: ['invalid_format'] });
  return { e: { status, body } };
}

/** The same batch with one of its events. */
export const alone = (batch: IncomingBatch, event: IncomingEvent): IncomingBatch => ({ ...batch, events: [event] });
