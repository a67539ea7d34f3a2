const SECRET_KEY =
  /password|secret|token|api_key|hmac_key|authorization|certificate|private_key|signed_document|logo|otp|ssn/i;
const MAX_BODY_CHARACTERS = 64 * 1024;

/**
 * JSON text of a request or an answer for the API log: values under telling keys become "[FILTERED]", texts over 64 KiB
 * are cut with "[TRUNCATED]". Rule: platform H.2.
 */
export function redactedText(value: unknown): string | null {
  if (value === null || value === undefined) return null;
  const text = JSON.stringify(value, (key, inner) =>
    key !== '' && key !== 'public_key' && SECRET_KEY.test(key) && inner !== null ? '[FILTERED]' : inner,
  );
  return text.length > MAX_BODY_CHARACTERS ? `${text.slice(0, MAX_BODY_CHARACTERS)}[TRUNCATED]` : text;
}
