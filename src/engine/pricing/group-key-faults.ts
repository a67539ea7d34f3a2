/** How many presentation group keys a charge may have. Rule: groups-and-filters.md#presentation. */
const MAX_PRESENTATION_KEYS = 2;

/** Codes of what is wrong with pricing group keys: null, or a list of texts. Blank ones are dropped, not refused. */
export function pricingKeyFaults(keys: unknown): string[] {
  if (keys === undefined || keys === null) return [];
  return Array.isArray(keys) && keys.every((key) => typeof key === 'string') ? [] : ['invalid_type'];
}

/** Codes of what is wrong with presentation group keys: a list of at most two different values with their options. */
export function presentationKeyFaults(keys: unknown): string[] {
  if (keys === undefined || keys === null) return [];
  if (!Array.isArray(keys) || !keys.every(isPresentationKey)) return ['invalid_type'];

  const values = new Set(keys.map((key) => key.value));
  return [
    ...(keys.length > MAX_PRESENTATION_KEYS ? ['too_many_keys'] : []),
    ...(values.size < keys.length ? ['value_is_duplicated'] : []),
  ];
}

function isPresentationKey(key: unknown): key is { value: string } {
  if (!isObject(key) || !hasOnly(key, ['value', 'options'])) return false;
  if (typeof key.value !== 'string' || key.value.trim() === '') return false;
  return key.options === undefined || isOptions(key.options);
}

const isOptions = (options: unknown): boolean =>
  isObject(options) &&
  hasOnly(options, ['display_in_invoice']) &&
  (options.display_in_invoice === undefined || typeof options.display_in_invoice === 'boolean');

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

const hasOnly = (value: object, keys: readonly string[]): boolean =>
  Object.keys(value).every((key) => keys.includes(key));
