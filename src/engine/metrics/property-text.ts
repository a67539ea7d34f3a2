import { plainDecimal } from '../money/plain-decimal.ts';

/** A JSON number kept as a literal because a double does not hold it; named as in lossless-json. */
export class KeptNumber {
  readonly isLosslessNumber = true;
  readonly value: string;

  constructor(value: string) {
    this.value = value;
  }

  toString(): string {
    return this.value;
  }
}

/**
 * The text through which a property value is compared, grouped and aggregated; null when it is absent.
 *
 * Texts stand for themselves, numbers for their plain decimal without trailing zeros, so `1.10`, `1.1` and `11e-1` are
 * one value and equal to the text "1.1". Objects and lists give the text that Postgres shows for the same `jsonb`, so
 * that scans in SQL agree.
 *
 * Rules: events.md#fields, json.md "number literals".
 */
export function propertyText(value: unknown): string | null {
  if (value === undefined || value === null) return null;
  return typeof value === 'string' ? value : jsonText(value);
}

// Digits without an exponent are plain decimal already, as most values are.
function numberText(value: number): string {
  const text = String(value);
  return text.includes('e') ? plainDecimal(text) : text;
}

function jsonText(value: unknown): string {
  if (value === null || value === undefined) return 'null';
  if (typeof value === 'number') return numberText(value);
  if (typeof value === 'bigint') return String(value);
  if (typeof value !== 'object') return JSON.stringify(value);
  if (isKeptNumber(value)) return plainDecimal(value.value);
  if (Array.isArray(value)) return `[${value.map(jsonText).join(', ')}]`;

  const entries = Object.entries(value).sort(([a], [b]) => compareKeys(a, b));
  return `{${entries.map(([key, item]) => `${JSON.stringify(key)}: ${jsonText(item)}`).join(', ')}}`;
}

/**
 * Whether it is a number whose literal the body reader kept because a double would not hold it. A client's object may
 * have any keys, but it has no class.
 */
export const isKeptNumber = (value: unknown): value is KeptNumber =>
  typeof value === 'object' &&
  value !== null &&
  'isLosslessNumber' in value &&
  Object.getPrototypeOf(value) !== Object.prototype;

/** Order of keys in `jsonb`: shorter first, then by bytes. */
function compareKeys(a: string, b: string): number {
  const [left, right] = [bytesOf(a), bytesOf(b)];
  if (left.length !== right.length) return left.length - right.length;

  const differing = left.findIndex((byte, index) => byte !== right[index]);
  return differing < 0 ? 0 : left[differing]! - right[differing]!;
}

const encoder = new TextEncoder();
const bytesOf = (text: string): Uint8Array => encoder.encode(text);
