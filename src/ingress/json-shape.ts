/** Deepest nesting of a body: deeper than any document of the API; whoever walks a body recurses. */
const DEEPEST = 64;
/** Members of one object: no object of the API has a hundred, and properties of an event are hardly more. */
const MOST_MEMBERS = 1000;
/**
 * Commas and opening brackets of one body, which is what it holds or a little more: a batch of 100 events with 1 000
 * properties each. JSON of so many takes 20 ms to parse.
 */
const MOST_VALUES = 100_000;

const QUOTE = 0x22;
const COMMA = 0x2c;
const OPEN_LIST = 0x5b;
const BACKSLASH = 0x5c;
const CLOSE_LIST = 0x5d;
const OPEN_OBJECT = 0x7b;
const CLOSE_OBJECT = 0x7d;

/**
 * What is too much about a JSON text, found before anything is made of it: `depth` when it nests too deeply, `values` when
 * it holds too many, or too many in one object. Walks the text once and remembers one number a level. What is no JSON is
 * left to the parser.
 */
export function excessOf(text: string): 'depth' | 'values' | undefined {
  // Members left to the objects that are open; lists count with all values only.
  const membersLeft = [Number.POSITIVE_INFINITY];
  let valuesLeft = MOST_VALUES;
  for (let at = 0; at < text.length; at += 1) {
    switch (text.charCodeAt(at)) {
      case QUOTE:
        at = endOfText(text, at);
        break;
      case COMMA:
        membersLeft[membersLeft.length - 1]! -= 1;
        valuesLeft -= 1;
        if (valuesLeft === 0 || membersLeft.at(-1) === 0) return 'values';
        break;
      case OPEN_LIST:
      case OPEN_OBJECT:
        if (membersLeft.length > DEEPEST) return 'depth';
        membersLeft.push(text.charCodeAt(at) === OPEN_OBJECT ? MOST_MEMBERS : Number.POSITIVE_INFINITY);
        valuesLeft -= 1;
        if (valuesLeft === 0) return 'values';
        break;
      case CLOSE_LIST:
      case CLOSE_OBJECT:
        if (membersLeft.length > 1) membersLeft.pop();
        break;
    }
  }
  return undefined;
}

/** What stands where something nested too deeply was. */
const TOO_DEEP = '"[nested too deeply]"';

/** A JSON text in which what nests more than 64 levels deep is a text that says so. What is no JSON stays none. */
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

/** Members of the outermost container that a shortened text keeps, and values of each container within it. */
const MOST_KEPT = 100;
const MOST_KEPT_WITHIN = MOST_VALUES / MOST_KEPT;
/** What stands where something that held too many values was. */
const TOO_MANY = '"[too many values]"';

/**
 * A JSON object without its largest parts, of at most 100 000 values: each inner container of more than 1 000 values is a
 * text that says so, and the object keeps its first 100 members; nothing reads what stands behind these. The inner ones go
 * first, so that the parts around a long list stay. What is no object is left to the parser.
 */
export function shortText(text: string): string {
  const parts: string[] = [];
  // Containers that are open: where they begin, what was kept before them, and the commas and containers found in them.
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

/** Place of the quote that ends a text, or the end of all when none does. */
function endOfText(text: string, start: number): number {
  for (let end = text.indexOf('"', start + 1); end !== -1; end = text.indexOf('"', end + 1)) {
    let slashes = 0;
    while (text.charCodeAt(end - 1 - slashes) === BACKSLASH) slashes += 1;
    if (slashes % 2 === 0) return end;
  }
  return text.length;
}
