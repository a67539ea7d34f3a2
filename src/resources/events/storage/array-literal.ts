const SPECIAL = /["\\]/;

/**
 * A column of values as Postgres' array literal, built here since that is faster than the driver's encoding of an array
 * (performance-design 4.1). Null is NULL.
 */
export function textArray(values: readonly (string | null)[]): string {
  let literal = '';
  for (const value of values) {
    literal += literal === '' ? '{' : ',';
    if (value === null) literal += 'NULL';
    else if (SPECIAL.test(value)) literal += `"${value.replace(/["\\]/g, '\\$&')}"`;
    else literal += `"${value}"`;
  }
  return literal === '' ? '{}' : `${literal}}`;
}

/** The same for values that need no quotes: numbers, uuids, instants, booleans. */
export const plainArray = (values: readonly (string | number | boolean | null)[]): string =>
  `{${values.map((value) => value ?? 'NULL').join(',')}}`;

/** The same for bytes given in hex. */
export const bytesArray = (values: readonly string[]): string =>
  values.length === 0 ? '{}' : `{"\\\\x${values.join('","\\\\x')}"}`;
