import { isCurrency } from '../../../../engine/money/currency.ts';
import { type Decimal, decimal } from '../../../../engine/money/decimal.ts';
import { own } from '../../../../engine/own.ts';
import { isUuid } from '../../../../platform/ids.ts';
import { parseInstant } from '../../../../platform/schema/instant-field.ts';
import { isStorable, isStorableJson } from '../../../../platform/schema/storable.ts';

/** What is wrong, by path. */
export type Faults = Record<string, string[]>;

export function addFault(faults: Faults, path: string, code: string): void {
  const codes = own(faults, path) ?? [];
  faults[path] = codes.includes(code) ? codes : [...codes, code];
}

/**
 * A reader of billing items: for drafts it checks the values that are present, for an approval also what is missing.
 */
export interface Reading {
  isApproval: boolean;
  faults: Faults;
}

/** Reads a value that is present, notes its faults, and returns it as it is stored. */
export type Reader = (value: unknown, path: string, reading: Reading) => unknown;

interface Field {
  read: Reader;
  needed: 'always' | 'at approval' | 'never';
}

const MANDATORY = 'value_is_mandatory';
const FORMAT = 'invalid_format';
const VALUE = 'invalid_value';
const TYPE = 'invalid_type';

const MOST_CHARACTERS = 600;
const MOST_DEPTH = 20;

export const always = (read: Reader): Field => ({ read, needed: 'always' });
export const atApproval = (read: Reader): Field => ({ read, needed: 'at approval' });

const isMissing = (value: unknown): boolean =>
  value === undefined || value === null || (typeof value === 'string' && value.trim() === '');

export const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** An object with these fields; others are dropped, and null and blank count as absent. */
export const object =
  (fields: Readonly<Record<string, Reader | Field>>): Reader =>
  (value, path, reading) => {
    if (!isObject(value)) return fault(reading, path, TYPE);
    const read: Record<string, unknown> = {};
    for (const [name, field] of Object.entries(fields)) {
      const { read: reader, needed } = typeof field === 'function' ? { read: field, needed: 'never' } : field;
      const given = own(value, name);
      if (!isMissing(given)) read[name] = reader(given, `${path}.${name}`, reading);
      else if (needed === 'always' || (needed === 'at approval' && reading.isApproval))
        addFault(reading.faults, `${path}.${name}`, MANDATORY);
    }
    return read;
  };

/** A list of at most `most`, at an approval of at most `mostAtApproval`. */
export const list =
  (read: Reader, { most, mostAtApproval = most }: { most: number; mostAtApproval?: number }): Reader =>
  (value, path, reading) => {
    if (!Array.isArray(value)) return fault(reading, path, TYPE);
    if (value.length > (reading.isApproval ? mostAtApproval : most)) return fault(reading, path, 'invalid_count');
    return value.map((each, index) => read(each, `${path}.${index}`, reading));
  };

export const text: Reader = (value, path, reading) => {
  const given = typeof value === 'number' ? String(value) : value;
  if (typeof given !== 'string') return fault(reading, path, TYPE);
  if (given.length > MOST_CHARACTERS || !isStorable(given)) return fault(reading, path, FORMAT);
  return given;
};

export const uuid: Reader = (value, path, reading) =>
  typeof value !== 'string'
    ? fault(reading, path, TYPE)
    : isUuid(value)
      ? value.toLowerCase()
      : fault(reading, path, FORMAT);

/** The type that an item names. */
export const literal =
  (word: string): Reader =>
  (value, path, reading) =>
    value === word ? word : fault(reading, path, 'is_invalid');

export const oneOf =
  (words: readonly string[]): Reader =>
  (value, path, reading) =>
    words.includes(value as string) ? value : fault(reading, path, VALUE);

export const currency: Reader = (value, path, reading) =>
  typeof value === 'string' && isCurrency(value) ? value : fault(reading, path, 'invalid_currency');

export const boolean: Reader = (value, path, reading) =>
  typeof value === 'boolean' ? value : fault(reading, path, TYPE);

/** Cents, 0 or more. */
export const cents: Reader = (value, path, reading) => {
  const number = decimalOf(value);
  if (number === undefined) return fault(reading, path, TYPE);
  const isSafe = number.isInteger() && number.gte(0) && number.lte(Number.MAX_SAFE_INTEGER);
  return isSafe ? number.toNumber() : fault(reading, path, VALUE);
};

/** A JSON number; one with more digits than a double keeps is refused. */
export const number =
  (isValid: (value: Decimal) => boolean): Reader =>
  (value, path, reading) => {
    const exact = decimalOf(value);
    if (exact === undefined) return fault(reading, path, TYPE);
    const shown = exact.toNumber();
    return isValid(exact) && Number.isFinite(shown) && decimal(shown).eq(exact) ? shown : fault(reading, path, VALUE);
  };

/** A decimal as text, 0 or more. */
export const decimalString: Reader = (value, path, reading) => {
  const exact = decimalOf(value);
  if (exact === undefined) return fault(reading, path, TYPE);
  return exact.gte(0) ? String(value).trim() : fault(reading, path, VALUE);
};

/** An instant; comes out in UTC. */
export const instant: Reader = (value, path, reading) =>
  (typeof value === 'string' ? parseInstant(value)?.toString() : undefined) ?? fault(reading, path, 'invalid_date');

const DAY = /^\d{4}-\d{2}-\d{2}$/;

/** A calendar day or an instant; a bare day stays one, because it means a day in the customer's zone. */
export const dayOrInstant: Reader = (value, path, reading) => {
  const given = typeof value === 'string' ? value.trim() : '';
  const at = parseInstant(given);
  if (at === undefined) return fault(reading, path, 'invalid_date');
  return DAY.test(given) ? given : at.toString();
};

/** An object of any content: properties of charge models are checked against their model. */
export const anyObject: Reader = (value, path, reading) => {
  if (!isObject(value)) return fault(reading, path, TYPE);
  return isStorableJson(value, MOST_DEPTH) ? value : fault(reading, path, FORMAT);
};

const PLAIN_DECIMAL = /^[+-]?\d{1,30}(\.\d{1,30})?$/;

function decimalOf(value: unknown): Decimal | undefined {
  if (typeof value !== 'number' && typeof value !== 'string') return undefined;
  const plain = String(value).trim();
  return PLAIN_DECIMAL.test(plain) ? decimal(plain) : undefined;
}

function fault(reading: Reading, path: string, code: string): undefined {
  addFault(reading.faults, path, code);
  return undefined;
}
