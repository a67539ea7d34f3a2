import { realNowMs } from '../clock/real-clock.ts';

/** Longest pause that is believed, in seconds: who asks for more than a day is mistaken, or wants to silence us. */
const LONGEST_SECONDS = 24 * 3600;

/** Seconds; some servers send a fraction. */
const SECONDS = /^\d+(?:\.\d+)?$/;
/** The forms of an instant: those of HTTP, and ISO 8601. Other texts may be read as a date that nobody meant. */
const INSTANT = /^(?:[A-Za-z]{3,9},? |\d{4}-\d\d-\d\dT)/;

/**
 * The pause that an answer asks for by `Retry-After`, or by a header of the same form: seconds from now, or an instant.
 * Zero, and an instant that is over, ask for none. Undefined where the header is absent or in another form.
 */
export function readRetryAfterMs(header: string | readonly string[] | undefined): number | undefined {
  const value = (typeof header === 'string' ? header : header?.[0])?.trim();
  if (value === undefined) return undefined;
  const pauseMs = SECONDS.test(value)
    ? Number(value) * 1000
    : INSTANT.test(value)
      ? Date.parse(value) - realNowMs()
      : Number.NaN;
  return Number.isNaN(pauseMs) ? undefined : Math.min(Math.max(Math.ceil(pauseMs), 0), LONGEST_SECONDS * 1000);
}
