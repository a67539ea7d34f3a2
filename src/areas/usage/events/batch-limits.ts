import { refuse } from '../../../platform/refusal.ts';

/** How many events a batch may hold, as the operator sets it. */
export interface EventLimits {
  EVENTS_BATCH_MAX_LENGTH: number;
  TOLERANT_BATCH_MAX_LENGTH: number;
}

/**
 * How many characters all canonical properties of a batch may have: as many as its body may have; only numbers with
 * exponents become longer than sent.
 */
export const BATCH_PROPERTIES_MAX = 5 * 1024 * 1024;

/** Events that a batch may hold: all of them succeed together (`batch`), or each for itself (`tolerant`). */
export const mostEvents = (form: 'batch' | 'tolerant', limits: EventLimits): number =>
  form === 'batch' ? limits.EVENTS_BATCH_MAX_LENGTH : limits.TOLERANT_BATCH_MAX_LENGTH;

/** The events of a batch. @throws Refusal 422 events: no_events, too_many_events */
export function listOfEvents(sent: unknown, most: number): unknown[] {
  if (!Array.isArray(sent) || sent.length === 0) throw refuse.invalid({ events: ['no_events'] });
  if (sent.length > most) throw refuse.invalid({ events: ['too_many_events'] });
  return sent;
}
