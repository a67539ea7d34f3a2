import { microsOf } from '../events/iso-time.ts';

/** Date and time to the minute at least, digits of the fraction, zone. */
const ISO_8601 = /^(\d{4}-\d\d-\d\d)[T ](\d\d:\d\d(?::\d\d)?)(?:[.,](\d+))?(Z|[+-]\d\d(?::?\d\d)?)$/i;
const LONGEST = 64;

/**
 * The Unix seconds of an instant in ISO 8601 as text, exact to the microsecond, for whoever reads Unix seconds;
 * anything else as it is. A text without zone is no instant: an hour guessed wrong would be billed in another day.
 *
 *   "2026-03-10T00:00:00.5+01:00" → "1773097200500000e-6"
 *
 * Rule: streams.md#event.
 */
export function unixSecondsOf(sent: unknown): unknown {
  if (typeof sent !== 'string' || sent.length > LONGEST) return sent;
  const match = ISO_8601.exec(sent.trim());
  if (!match) return sent;
  const [, date, clock, fraction = '', zone] = match;
  const seconds = clock!.length === 5 ? `${clock}:00` : clock;
  // A fraction of a minute is refused: it stands behind seconds only.
  if (fraction !== '' && seconds !== clock) return sent;
  const micros = microsOf(`${date}T${seconds}`, fraction, zone!);
  return micros === undefined ? sent : `${micros}e-6`;
}
