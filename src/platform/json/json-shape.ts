/** Deepest nesting of a body: deeper than any document of the API; code that walks a body recurses. */
const DEEPEST = 64;
/**
 * How many members one object may have, unless its operation says otherwise: no object of the API has a hundred, and
 * properties of an event hardly have more.
 */
const MOST_MEMBERS = 1000;
/**
 * How many commas and opening brackets a batch of events may have, which is as many values as it holds or a few more:
 * 100 events with 1 000 properties each. JSON of so many takes 20 ms to parse. Bodies of other operations hold less,
 * see src/ingress/value-limits.ts.
 */
export const MOST_VALUES = 100_000;
/** Characters of a number up to which a double holds its digits. */
const SHORT_NUMBER = 15;
/** Digits of an exponent with which such a number is within the range of a double. */
const SHORT_EXPONENT = 2;

const QUOTE = 0x22;
const PLUS = 0x2b;
const COMMA = 0x2c;
const MINUS = 0x2d;
const POINT = 0x2e;
const ZERO = 0x30;
const NINE = 0x39;
const OPEN_LIST = 0x5b;
const BACKSLASH = 0x5c;
const CLOSE_LIST = 0x5d;
const OPEN_OBJECT = 0x7b;
const CLOSE_OBJECT = 0x7d;

/** Facts about a JSON text before it is parsed. */
export interface Shape {
  /** `depth`: nested too deeply. `values`: too many values, or too many in one object. */
  excess?: 'depth' | 'values';
  /** Begins and ends of numbers that a double may not hold: begin, end, begin, end, … */
  longNumbers: number[];
}

/**
 * Scans a JSON text once, character by character, keeping one number for each level. Malformed JSON is left to the
 * parser.
 */
export function shapeOf(text: string, mostValues: number, mostMembers = MOST_MEMBERS): Shape {
  const longNumbers: number[] = [];
  // Members left to open objects; lists count with all values only.
  const membersLeft = [Number.POSITIVE_INFINITY];
  let valuesLeft = mostValues;
  for (let at = 0; at < text.length; at += 1) {
    const character = text.charCodeAt(at);
    switch (character) {
      case QUOTE:
        at = endOfText(text, at);
        break;
      case COMMA:
        membersLeft[membersLeft.length - 1]! -= 1;
        valuesLeft -= 1;
        if (valuesLeft === 0 || membersLeft.at(-1) === 0) return { excess: 'values', longNumbers };
        break;
      case OPEN_LIST:
      case OPEN_OBJECT:
        if (membersLeft.length > DEEPEST) return { excess: 'depth', longNumbers };
        membersLeft.push(character === OPEN_OBJECT ? mostMembers : Number.POSITIVE_INFINITY);
        valuesLeft -= 1;
        if (valuesLeft === 0) return { excess: 'values', longNumbers };
        break;
      case CLOSE_LIST:
      case CLOSE_OBJECT:
        if (membersLeft.length > 1) membersLeft.pop();
        break;
      default: {
        if (character !== MINUS && !isDigit(character)) break;
        const end = endOfNumber(text, at);
        if (isLong(text, at, end)) longNumbers.push(at, end);
        at = end - 1;
      }
    }
  }
  return { longNumbers };
}

/** Limits that a JSON text exceeds in any use; see Shape. */
export const excessOf = (text: string): Shape['excess'] => shapeOf(text, MOST_VALUES).excess;

const isDigit = (character: number): boolean => character >= ZERO && character <= NINE;
const isExponent = (character: number): boolean => (character | 0x20) === 0x65;

function endOfNumber(text: string, start: number): number {
  let end = start + 1;
  for (; end < text.length; end += 1) {
    const character = text.charCodeAt(end);
    if (isDigit(character) || character === POINT || character === MINUS || character === PLUS) continue;
    if (!isExponent(character)) break;
  }
  return end;
}

/** Whether a number has more than 15 characters, or an exponent of three digits. */
function isLong(text: string, start: number, end: number): boolean {
  if (end - start > SHORT_NUMBER) return true;
  for (let at = end - 1; at > start; at -= 1) {
    if (!isExponent(text.charCodeAt(at))) continue;
    const hasSign = !isDigit(text.charCodeAt(at + 1));
    return end - at - 1 - Number(hasSign) > SHORT_EXPONENT;
  }
  return false;
}

/** Text in place of a value nested too deeply. */
const TOO_DEEP = '"[nested too deeply]"';

/**
 * A JSON text in which values nested more than 64 levels deep are replaced by a text. Malformed JSON stays malformed.
 */
export function shallowText(text: string): string {
  const parts: string[] = [];
  let depth = 0;
  let from = 0;
  for (let at = 0; at < text.length; at += 1) {
    switch (text.charCodeAt(at)) {
      case QUOTE:
        at = endOfText(text, at);
        break;
      case OPEN_LIST:
      case OPEN_OBJECT:
        if (depth === DEEPEST) parts.push(text.slice(from, at), TOO_DEEP);
        depth += 1;
        break;
      case CLOSE_LIST:
      case CLOSE_OBJECT:
        depth -= 1;
        if (depth === DEEPEST) from = at + 1;
        break;
    }
  }
  return depth > DEEPEST ? text : [...parts, text.slice(from)].join('');
}

/** How many members of the outermost container a shortened text keeps, and how many values of each inner container. */
const MOST_KEPT = 100;
const MOST_KEPT_WITHIN = MOST_VALUES / MOST_KEPT;
/** Text in place of a value with too many values. */
const TOO_MANY = '"[too many values]"';

/**
 * Shortens a JSON object to at most 100 000 values: each inner container of more than 1 000 values is replaced by a
 * text, and the object keeps its first 100 members, which are all that is ever read. Inner containers are replaced
 * first, so that the parts around a long list stay. Anything but an object is left to the parser.
 */
export function shortText(text: string): string {
  const parts: string[] = [];
  // Open containers: where they begin, what was kept before them, and the commas and containers found in them.
  const open: { at: number; from: number; parts: number; values: number }[] = [];
  let from = 0;
  let members = 1;
  for (let at = 0; at < text.length; at += 1) {
    switch (text.charCodeAt(at)) {
      case QUOTE:
        at = endOfText(text, at);
        break;
      case COMMA:
        if (open.length === 1) members += 1;
        if (open.length > 1) open.at(-1)!.values += 1;
        if (members > MOST_KEPT) return [...parts, text.slice(from, at), '}'].join('');
        break;
      case OPEN_LIST:
      case OPEN_OBJECT:
        open.push({ at, from, parts: parts.length, values: 1 });
        break;
      case CLOSE_LIST:
      case CLOSE_OBJECT: {
        const closed = open.pop();
        if (!closed || open.length === 0) break;
        if (closed.values <= MOST_KEPT_WITHIN) open.at(-1)!.values += closed.values;
        else {
          parts.length = closed.parts;
          parts.push(text.slice(closed.from, closed.at), TOO_MANY);
          from = at + 1;
        }
        break;
      }
    }
  }
  return [...parts, text.slice(from)].join('');
}

/** Position of the quote that ends a text, or the end of all if there is none. */
function endOfText(text: string, start: number): number {
  for (let end = text.indexOf('"', start + 1); end !== -1; end = text.indexOf('"', end + 1)) {
    let slashes = 0;
    while (text.charCodeAt(end - 1 - slashes) === BACKSLASH) slashes += 1;
    if (slashes % 2 === 0) return end;
  }
  return text.length;
}
