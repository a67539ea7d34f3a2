import { isKeptNumber } from '../../engine/metrics/property-text.ts';

const SECRET_KEY =
  /password|secret|token|api_key|hmac_key|authorization|certificate|private_key|signed_document|logo|otp|ssn/i;
const BODY_MAX_BYTES = 64 * 1024;
const CUT = '[TRUNCATED]';

/**
 * JSON text of a request or an answer for the API log: values under telling keys become "[FILTERED]", texts over 64 KiB
 * are cut with "[TRUNCATED]". Rule: platform H.2.
 */
export function redactedText(value: unknown): string | null {
  if (value === null || value === undefined) return null;
  const text = JSON.stringify(value, (key, inner) =>
    key !== '' && key !== 'public_key' && SECRET_KEY.test(key) && inner !== null
      ? '[FILTERED]'
      : isKeptNumber(inner)
        ? String(inner)
        : inner,
  );
  return cutText(text);
}

/** The first 64 KiB of a text, with a mark where something is missing. Half of a character is none, and Postgres refuses it. */
export function cutText(text: string): string {
  if (text.length * BYTES_OF_A_UNIT <= BODY_MAX_BYTES || Buffer.byteLength(text) <= BODY_MAX_BYTES) return text;
  const bytes = Buffer.from(text);
  let end = BODY_MAX_BYTES;
  while (isContinuation(bytes[end]!)) end -= 1;
  return `${bytes.toString('utf8', 0, end)}${CUT}`;
}

/** At most, of a UTF-16 unit in UTF-8. */
const BYTES_OF_A_UNIT = 3;

const isContinuation = (byte: number): boolean => (byte & 0b1100_0000) === 0b1000_0000;
