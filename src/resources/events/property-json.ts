import { isKeptNumber, numberLiteralText } from '../../engine/metrics/property-text.ts';
import { isStorable } from '../../platform/schema/storable.ts';

/** Nesting that Postgres and our own call stack bear with ease; real events have one or two levels. */
const MAX_DEPTH = 200;
/** Texts that need neither escaping nor a look at their code units. */
const SIMPLE = /^[ !#-[\]-~]*$/;

/** Thrown within this file and `parse-event` for what Postgres cannot store. */
export class NotStorable extends Error {}

/**
 * Canonical JSON text of a value: keys sorted at every depth, numbers in plain decimal without trailing zeros, whichever
 * parser read them. Serves both as what is stored, so that Postgres' text form of a property is the one of platform E,
 * and as what the digest is taken of.
 *
 *   {b: 11e-1, a: "x"} → {"a":"x","b":1.1}
 *
 * @throws NotStorable for U+0000, a lone surrogate, a number beyond a double, or too deep a nesting
 */
export function canonicalText(value: unknown, depth = 0): string {
  switch (typeof value) {
    case 'string':
      return textJson(value);
    case 'number':
      return numberJson(value);
    case 'boolean':
      return value ? 'true' : 'false';
    case 'object':
      return value === null ? 'null' : containerJson(value, depth + 1);
    default:
      return 'null';
  }
}

/** JSON text of a string. @throws NotStorable */
export function textJson(text: string): string {
  if (SIMPLE.test(text)) return `"${text}"`;
  if (!isStorable(text)) throw new NotStorable();
  return JSON.stringify(text);
}

/** Plain decimal of a kept literal. @throws NotStorable beyond the range of a double */
export function keptNumberText({ value }: { value: string }): string {
  const double = Number(value);
  if (!Number.isFinite(double) || (double === 0 && /[1-9]/.test(value.replace(/e.*/i, '')))) throw new NotStorable();
  return numberLiteralText(value);
}

function numberJson(value: number): string {
  if (!Number.isFinite(value)) throw new NotStorable();
  const text = String(value);
  return text.includes('e') ? numberLiteralText(text) : text;
}

function containerJson(value: object, depth: number): string {
  if (depth > MAX_DEPTH) throw new NotStorable();
  if (Array.isArray(value)) return `[${value.map((item) => canonicalText(item, depth)).join(',')}]`;
  if (isKeptNumber(value)) return keptNumberText(value);
  const keys = Object.keys(value).sort();
  let members = '';
  for (const key of keys) {
    const member = `${textJson(key)}:${canonicalText((value as Record<string, unknown>)[key], depth)}`;
    members = members === '' ? member : `${members},${member}`;
  }
  return `{${members}}`;
}

/** Stands in front of a literal that was kept as text; no stored text holds it. */
const KEPT = '\0';
// A canonical number of more than 15 digits, which a double may not hold.
const LONG = /[\d.]{16}/;
const TOKEN = /"(?:[^"\\]|\\.)*"|-?\d[\d.]*/g;

/** Quacks like the body reader's kept number, for the engine. */
class KeptNumber {
  readonly isLosslessNumber = true;
  readonly value: string;

  constructor(value: string) {
    this.value = value;
  }
}

/** Properties from their canonical text; numbers that a double may not hold keep their literal. */
export function parseProperties(text: string): Record<string, unknown> {
  if (!LONG.test(text)) return JSON.parse(text);
  const kept = text.replace(TOKEN, (token) =>
    token.startsWith('"') || token.length < 16 ? token : `"\\u0000${token}"`,
  );
  return JSON.parse(kept, (_key, value) =>
    typeof value === 'string' && value.startsWith(KEPT) ? new KeptNumber(value.slice(1)) : value,
  );
}
