export const VALUE_TYPES = ['integer', 'boolean', 'string', 'select'] as const;
export type ValueType = (typeof VALUE_TYPES)[number];

/** The value of a privilege as the API shows it. */
export type PrivilegeValue = number | boolean | string;

export type ReadValue =
  | { ok: true; text: string }
  | { ok: false; reason: 'value_is_mandatory' | 'value_is_invalid' | 'value_not_in_select_options' };

const INTEGER = /^(0|-?[1-9]\d*)$/;
const invalid: ReadValue = { ok: false, reason: 'value_is_invalid' };

/**
 * The text under which a given value of a privilege is stored; equal values have equal texts.
 *
 *   integer "10" and 10 → "10"; "010" → value_is_invalid
 *
 * @param options of a select
 * Rule: entitlements.md#records "value_type".
 */
export function readValue(type: ValueType, options: readonly string[], given: unknown): ReadValue {
  if (given === null || given === undefined || (typeof given === 'string' && given.trim() === ''))
    return { ok: false, reason: 'value_is_mandatory' };
  switch (type) {
    case 'integer':
      return isInteger(given) ? { ok: true, text: String(given) } : invalid;
    case 'boolean':
      return ['true', 'false'].includes(String(given)) && typeof given !== 'object'
        ? { ok: true, text: String(given) }
        : invalid;
    case 'select':
      return typeof given === 'string' && options.includes(given)
        ? { ok: true, text: given }
        : { ok: false, reason: 'value_not_in_select_options' };
    case 'string':
      return typeof given === 'string' ? { ok: true, text: given } : invalid;
  }
}

// Beyond 2^53 JSON could not show it exactly.
const isInteger = (given: unknown): boolean =>
  typeof given === 'number'
    ? Number.isSafeInteger(given)
    : typeof given === 'string' && INTEGER.test(given) && Number.isSafeInteger(Number(given));

/** A stored text as the API shows it. Rule: entitlements.md#records "value_type". */
export function shownValue(type: ValueType, text: string): PrivilegeValue {
  if (type === 'integer') return Number(text);
  if (type === 'boolean') return text === 'true';
  return text;
}
