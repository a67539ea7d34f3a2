/** Whether Postgres can hold the text: no U+0000, no lone surrogate (json.md "null bytes"). */
export const isStorable = (text: string): boolean => !text.includes('\0') && text.isWellFormed();

/**
 * Checks the same for every text in a JSON value, names included, whose containers are nested less than `mostDepth`.
 */
export function isStorableJson(value: unknown, mostDepth: number): boolean {
  if (typeof value === 'string') return isStorable(value);
  if (typeof value !== 'object' || value === null) return true;
  return (
    mostDepth > 0 &&
    Object.entries(value).every(([key, inner]) => isStorable(key) && isStorableJson(inner, mostDepth - 1))
  );
}

/** A text that Postgres can store: without U+0000, and with U+FFFD in place of lone surrogates. */
export const storableText = (text: string): string => text.replaceAll('\0', '').toWellFormed();

/**
 * The same for every text in a JSON value, names included; its containers are nested no deeper than recursion allows.
 */
export function storableJson(value: unknown): unknown {
  if (typeof value === 'string') return storableText(value);
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return value.map(storableJson);
  return Object.fromEntries(Object.entries(value).map(([name, inner]) => [storableText(name), storableJson(inner)]));
}
