import { randomBytes } from 'node:crypto';
import { KeptNumber } from '../../engine/metrics/property-text.ts';
import { type DecimalParts, decimalParts } from '../../engine/money/plain-decimal.ts';
import { refuse } from '../refusal.ts';
import { FORMAT, TOO_LONG } from '../schema/fields.ts';
import { MOST_VALUES, type Shape, shapeOf } from './json-shape.ts';

/**
 * How many characters a number may have: the longest double has 1 076 when all its digits are written out (2^-1074).
 */
const NUMBER_MAX = 1100;
const NUMBER = /^-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?$/;
/** Digits that a double holds, and digits that distinguish two doubles. */
const SURE_DIGITS = 15;
const MOST_DIGITS = 17;
/** Numbers that are treated in one piece: 500 numbers of 20 digits take some 2 ms. */
const NUMBERS_A_PIECE = 1000;
/** Prefix of a number that was turned into a text; only this process knows it. */
const KEPT = `${randomBytes(12).toString('base64url')}:`;

// Metadata of some records accepts texts only, so a number under these keys must not look like one.
const OF_TEXTS = new Set(['metadata', 'transaction_metadata']);

export interface ParseOptions {
  /** Whether a number that a double cannot hold becomes a KeptNumber instead of a text. */
  keepLiterals: boolean;
  /** Commas and brackets that the text may have. */
  mostValues?: number;
  /** Members that one object may have. */
  mostMembers?: number | undefined;
  /**
   * Names before the path of a value in errors, for a text without root; otherwise the first name of a path, the root,
   * is left out.
   */
  pathBefore?: readonly string[];
}

/**
 * Value of a JSON text. Numbers keep the decimal value that was written (json.md): the text is parsed once, with each
 * number that a double cannot hold turned into a marked text.
 *
 * @throws Refusal 400 what is no JSON or nests too deeply, 413 too many values, 422 a number beyond a double or too
 *   long
 */
export function parseBody(text: string, options: ParseOptions): unknown {
  const pieces = parsePieces(text, options);
  for (let piece = pieces.next(); ; piece = pieces.next()) if (piece.done) return piece.value;
}

/** The same for a large text, in pieces between which the caller may pause. @throws Refusal as parseBody does */
export function* parsePieces(
  text: string,
  { keepLiterals, mostValues = MOST_VALUES, mostMembers, pathBefore }: ParseOptions,
): Generator<void, unknown> {
  const { excess, longNumbers } = shapeOf(text, mostValues, mostMembers);
  if (excess !== undefined) throw excess === 'depth' ? refuse.badRequest('invalid JSON') : refuse.tooLarge();
  yield;
  const marked = yield* markedText(text, longNumbers);
  const value = parsed(marked ?? text);
  if (marked === undefined) return value;
  return yield* new Settling(keepLiterals, pathBefore).pieces(value);
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw refuse.badRequest('invalid JSON');
  }
}

/** The text with marked texts for numbers that a double cannot hold; undefined if there are none. */
function* markedText(text: string, numbers: Shape['longNumbers']): Generator<void, string | undefined> {
  const parts: string[] = [];
  let from = 0;
  for (let index = 0; index < numbers.length; index += 2) {
    const [start, end] = [numbers[index]!, numbers[index + 1]!];
    const isTooLong = end - start > NUMBER_MAX;
    const literal = isTooLong ? '' : text.slice(start, end);
    if (index % NUMBERS_A_PIECE === 0) yield;
    // A malformed number is left to the parser to refuse.
    if ((!isTooLong && (!NUMBER.test(literal) || isHeld(literal))) || isName(text, end)) continue;
    parts.push(text.slice(from, start), `"${KEPT}${literal}"`);
    from = end;
  }
  return parts.length === 0 ? undefined : [...parts, text.slice(from)].join('');
}

/** Whether a double holds a number: it prints the same digits, and an integer is a safe one. */
function isHeld(literal: string): boolean {
  const double = Number(literal);
  if (!Number.isFinite(double) || (Number.isInteger(double) && !Number.isSafeInteger(double))) return false;
  const sent = decimalParts(literal);
  if (double === 0) return sent.digits === '';
  if (sent.digits.length > MOST_DIGITS) return false;
  return (sent.digits.length <= SURE_DIGITS && Math.abs(double) > 1e-300) || isSame(sent, decimalParts(String(double)));
}

const isSame = (one: DecimalParts, other: DecimalParts): boolean =>
  one.digits === other.digits && one.point === other.point;

function isName(text: string, end: number): boolean {
  let at = end;
  while (' \n\r\t'.includes(text.charAt(at)) && at < text.length) at += 1;
  return text.charAt(at) === ':';
}

/** Replaces the marked texts of one parsed value by numbers. */
class Settling {
  readonly #keepsLiterals: boolean;
  readonly #before: readonly string[] | undefined;
  /** Keys and indexes from the root to the current value. */
  readonly #path: (string | number)[] = [];

  constructor(keepsLiterals: boolean, before: readonly string[] | undefined) {
    this.#keepsLiterals = keepsLiterals;
    this.#before = before;
  }

  /** The same, with a pause before each element of a list that is the root or in it, such as the events of a batch. */
  *pieces(root: unknown): Generator<void, unknown> {
    yield;
    if (typeof root !== 'object' || root === null) return this.settled(root, false);
    if (Array.isArray(root)) {
      for (let index = 0; index < root.length; index += 1) {
        yield;
        this.#settle(root as never, index, false);
      }
      return root;
    }
    for (const [key, list] of Object.entries(root)) {
      const ofTexts = OF_TEXTS.has(key);
      if (!Array.isArray(list)) {
        this.#settle(root as never, key, ofTexts);
        continue;
      }
      this.#path.push(key);
      for (let index = 0; index < list.length; index += 1) {
        yield;
        this.#settle(list as never, index, ofTexts);
      }
      this.#path.pop();
    }
    return root;
  }

  /** `ofTexts`: the value is under a key whose values are texts. Lists and objects are changed in place. */
  settled(value: unknown, ofTexts: boolean): unknown {
    if (typeof value === 'string') return value.startsWith(KEPT) ? this.#number(value, ofTexts) : value;
    if (typeof value !== 'object' || value === null) return value;
    if (Array.isArray(value)) {
      for (let index = 0; index < value.length; index += 1) this.#settle(value as never, index, ofTexts);
      return value;
    }
    for (const key of Object.keys(value)) this.#settle(value as never, key, ofTexts || OF_TEXTS.has(key));
    return value;
  }

  #settle(container: Record<string | number, unknown>, key: string | number, ofTexts: boolean): void {
    const value = container[key];
    if (typeof value !== 'string' && typeof value !== 'object') return;
    this.#path.push(key);
    const settled = this.settled(value, ofTexts);
    if (settled !== value) container[key] = settled; // an own `__proto__` is assigned like any other key
    this.#path.pop();
  }

  #number(marked: string, ofTexts: boolean): unknown {
    const literal = marked.slice(KEPT.length);
    const path = this.#before ? [...this.#before, ...this.#path] : this.#path.slice(1);
    const field = path.join('.') || 'base';
    if (literal === '') throw refuse.invalid({ [field]: [TOO_LONG] });
    if (!Number.isFinite(Number(literal))) throw refuse.invalid({ [field]: [FORMAT] });
    return this.#keepsLiterals || ofTexts ? new KeptNumber(literal) : literal;
  }
}
