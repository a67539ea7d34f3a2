// Control characters, which JSON escapes in ways that an array literal does not know, and backslashes, which may look
// like them.
const OTHER_ESCAPE = /\\[^"\\]/;

/**
 * A column of texts as Postgres' array literal, built here because that is faster than the driver's encoding of an
 * array (storing-events.md#statement). Null is NULL. JSON.stringify escapes quotes and backslashes in the form of the
 * literal: 1 000 properties take a quarter of the time of a loop.
 */
export function textArray(values: readonly (string | null)[]): string {
  const json = JSON.stringify(values);
  if (!OTHER_ESCAPE.test(json)) return `{${json.slice(1, -1)}}`;
  return `{${values.map((value) => (value === null ? 'NULL' : `"${value.replace(/["\\]/g, '\\$&')}"`)).join(',')}}`;
}

/** The same for values that need no quotes: numbers, uuids, instants, booleans. */
export const plainArray = (values: readonly (string | number | boolean | null)[]): string =>
  `{${values.map((value) => value ?? 'NULL').join(',')}}`;

/** The same for bytes given in hex. */
export const bytesArray = (values: readonly string[]): string =>
  values.length === 0 ? '{}' : `{"\\\\x${values.join('","\\\\x')}"}`;
