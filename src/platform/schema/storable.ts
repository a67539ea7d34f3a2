/** Whether Postgres can hold the text: no U+0000, no lone surrogate (platform E "null bytes"). */
export const isStorable = (text: string): boolean => !text.includes('\0') && text.isWellFormed();

/** The same of every text in a JSON value, names included, whose containers nest less deep than `mostDepth`. */
export function isStorableJson(value: unknown, mostDepth: number): boolean {
  if (typeof value === 'string') return isStorable(value);
  if (typeof value !== 'object' || value === null) return true;
  return (
    mostDepth > 0 &&
    Object.entries(value).every(([key, inner]) => isStorable(key) && isStorableJson(inner, mostDepth - 1))
  );
}
