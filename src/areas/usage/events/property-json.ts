import { isKeptNumber, KeptNumber } from '../../../engine/metrics/property-text.ts';
import { type DecimalParts, decimalParts, plainLength, plainText } from '../../../engine/money/plain-decimal.ts';
import { isStorable } from '../../../platform/schema/storable.ts';

/** Deepest nesting, which Postgres and the call stack bear easily; real events have one or two levels. */
const MAX_DEPTH = 200;
/** Texts that need neither escaping nor a check of their code units. */
const SIMPLE = /^[ !#-[\]-~]*$/;

/** Thrown here and in `parse-event` for a value that Postgres cannot store. */
export class NotStorable extends Error {}
/** Thrown when a canonical text exceeds its limit. */
export class TooLong extends Error {}

/**
 * Canonical JSON text of a value: keys sorted at every depth, numbers in plain decimal without trailing zeros,
 * whichever parser read them. It is both stored, so that Postgres' text form of a property is the one of json.md, and
 * digested.
 *
 *   {b: 11e-1, a: "x"} → {"a":"x","b":1.1}
 *
 * most characters of the text: `1e-300` is six as it is sent and 302 here, so a number's length is checked before it
 *   is written out
 *
 * @throws NotStorable for U+0000, a lone surrogate, a number beyond a double, or too deep a nesting; TooLong
 */
export const canonicalText = (value: unknown, most = Number.POSITIVE_INFINITY): string =>
  valueJson(value, { left: most }, 0);

/** Characters that may still be written. */
interface Room {
  left: number;
}

/** JSON text of a string. @throws NotStorable */
export function textJson(text: string): string {
  if (SIMPLE.test(text)) return `"${text}"`;
  if (!isStorable(text)) throw new NotStorable();
  return JSON.stringify(text);
}

function valueJson(value: unknown, room: Room, depth: number): string {
  switch (typeof value) {
    case 'string':
      return within(room, textJson(value));
    case 'number':
      return numberJson(value, room);
    case 'boolean':
      return within(room, value ? 'true' : 'false');
    case 'object':
      return value === null ? within(room, 'null') : containerJson(value, room, depth + 1);
    default:
      return within(room, 'null');
  }
}

function numberJson(value: number, room: Room): string {
  if (!Number.isFinite(value)) throw new NotStorable();
  const text = String(value);
  return text.includes('e') ? plainWithin(room, decimalParts(text)) : within(room, text);
}

function keptNumberJson(literal: string, room: Room): string {
  const double = Number(literal);
  if (!Number.isFinite(double)) throw new NotStorable();
  const parts = decimalParts(literal);
  if (double === 0 && parts.digits !== '') throw new NotStorable();
  return plainWithin(room, parts);
}

function plainWithin(room: Room, parts: DecimalParts): string {
  take(room, plainLength(parts));
  return plainText(parts);
}

function containerJson(value: object, room: Room, depth: number): string {
  if (depth > MAX_DEPTH) throw new NotStorable();
  take(room, 2);
  if (Array.isArray(value)) {
    take(room, value.length);
    return `[${value.map((item) => valueJson(item, room, depth)).join(',')}]`;
  }
  if (isKeptNumber(value)) return keptNumberJson(value.value, room);
  const keys = Object.keys(value).sort();
  take(room, 2 * keys.length);
  let members = '';
  for (const key of keys) {
    const name = within(room, textJson(key));
    const member = `${name}:${valueJson((value as Record<string, unknown>)[key], room, depth)}`;
    members = members === '' ? member : `${members},${member}`;
  }
  return `{${members}}`;
}

function within(room: Room, text: string): string {
  take(room, text.length);
  return text;
}

function take(room: Room, characters: number): void {
  room.left -= characters;
  if (room.left < 0) throw new TooLong();
}

/** Prefix of a literal that was kept as text; no stored text contains it. */
const KEPT = '\0';
// A canonical number of more than 15 digits, which a double may not represent.
const LONG = /[\d.]{16}/;
const TOKEN = /"(?:[^"\\]|\\.)*"|-?\d[\d.]*/g;

/** Parses properties from their canonical text; numbers beyond the precision of a double stay literals. */
export function parseProperties(text: string): Record<string, unknown> {
  if (!LONG.test(text)) return JSON.parse(text);
  const kept = text.replace(TOKEN, (token) =>
    token.startsWith('"') || token.length < 16 ? token : `"\\u0000${token}"`,
  );
  return JSON.parse(kept, (_key, value) =>
    typeof value === 'string' && value.startsWith(KEPT) ? new KeptNumber(value.slice(1)) : value,
  );
}
