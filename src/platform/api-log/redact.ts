import { isKeptNumber } from '../../engine/metrics/property-text.ts';

const SECRET_KEY = new RegExp(
  'password|secret|token|api_key|hmac_key|authorization|certificate|private_key|signed_document|logo|otp|ssn' +
    '|(^|_)card(_|$)|card_?number|(^|_)iban(_|$)',
  'i',
);
const URL_KEY = /(^|_)urls?$/i;
/** User and password before the host, and values after a question mark. */
const USER_OF_URL = /^([a-z]+:\/\/)[^/?#]*@/i;
const VALUE_OF_QUERY = /([?&][^=&#]*=)[^&#]*/g;
const FILTERED = '[FILTERED]';
const BODY_MAX_BYTES = 64 * 1024;
const CUT = '[TRUNCATED]';

/**
 * JSON text of a request or an answer for the API log: values under secret names become "[FILTERED]", also those of
 * pairs with a secret name and in the query of an address; texts over 64 KiB are cut with "[TRUNCATED]". Rule:
 * logs.md#api-logs.
 */
export function redactedText(value: unknown): string | null {
  if (value === null || value === undefined) return null;
  return cutText(JSON.stringify(value, shownUnder));
}

function shownUnder(key: string, value: unknown): unknown {
  if (value === null) return null;
  if (isTelling(key)) return FILTERED;
  if (isKeptNumber(value)) return String(value);
  if (URL_KEY.test(key)) return Array.isArray(value) ? value.map(withoutSecrets) : withoutSecrets(value);
  return isTellingPair(value) ? { ...value, value: FILTERED } : value;
}

const isTelling = (key: string): boolean => key !== 'public_key' && SECRET_KEY.test(key);

/** `{key, value}`, as metadata lists have them. */
const isTellingPair = (value: unknown): value is { key: string; value: unknown } =>
  typeof value === 'object' &&
  value !== null &&
  'key' in value &&
  'value' in value &&
  typeof value.key === 'string' &&
  isTelling(value.key);

const withoutSecrets = (address: unknown): unknown =>
  typeof address === 'string' && /^https?:\/\//i.test(address)
    ? address.replace(USER_OF_URL, `$1${FILTERED}@`).replaceAll(VALUE_OF_QUERY, `$1${FILTERED}`)
    : address;

/** The first 64 KiB of a text, with a mark if it was cut. Never cuts a surrogate pair; Postgres rejects half of one. */
export function cutText(text: string): string {
  if (text.length * BYTES_OF_A_UNIT <= BODY_MAX_BYTES || Buffer.byteLength(text) <= BODY_MAX_BYTES) return text;
  const bytes = Buffer.from(text);
  let end = BODY_MAX_BYTES;
  while (isContinuation(bytes[end]!)) end -= 1;
  return `${bytes.toString('utf8', 0, end)}${CUT}`;
}

/** How many bytes a UTF-16 unit takes in UTF-8 at most. */
const BYTES_OF_A_UNIT = 3;

const isContinuation = (byte: number): boolean => (byte & 0b1100_0000) === 0b1000_0000;
