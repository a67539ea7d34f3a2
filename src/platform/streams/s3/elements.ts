import { BadObject, PIECE_MAX_BYTES, type Piece, type Place } from './piece.ts';

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const COMMA = 0x2c;
const OPENING = new Set([0x5b, 0x7b]);
const CLOSING = new Set([0x5d, 0x7d]);
const SPACE = new Set([0x20, 0x09, 0x0a, 0x0d]);
const LIST_END = 0x5d;

/** The beginning of an envelope that holds nothing but its events. */
const ENVELOPE = /^\s*\{\s*"events"\s*:\s*\[/;

/**
 * The elements of a list in JSON, or of the list of an envelope `{"events": […]}` that holds nothing else, each with
 * the bytes that were written: parsers that stream give numbers as doubles, and lose digits. Anything else is one
 * piece, which has to be as short as a message. An element is only delimited here, so that a bad one stops none behind.
 *
 * @throws BadObject when the list does not end, or something stands behind it
 * Rule: streams.md#formats-of-files.
 */
export async function* elementsOf(chunks: AsyncIterable<Uint8Array>, from: Place): AsyncGenerator<Piece> {
  const source = chunks[Symbol.asyncIterator]();
  if (from.line > 0) {
    yield* elementsIn(rest(source), from, true);
    return;
  }
  const { head, isWhole } = await headOf(source);
  const text = Buffer.from(head).toString('latin1');
  const isList = text.trimStart().startsWith('[');
  if (!isList && (isWhole ? !holdsOnlyEvents(head) : !ENVELOPE.test(text))) {
    if (!isWhole)
      throw new BadObject('payload_too_large', 'a file that is no list has at most 1048576 bytes', { isFinal: true });
    yield { bytes: head, next: { offset: head.length, line: 1, isEnd: true } };
    return;
  }
  const begin = text.indexOf('[') + 1;
  async function* both() {
    yield head.subarray(begin);
    yield* rest(source);
  }
  yield* elementsIn(both(), { offset: begin, line: 0 }, false);
}

async function* rest(source: AsyncIterator<Uint8Array>): AsyncGenerator<Uint8Array> {
  for (let { value, done } = await source.next(); !done; { value, done } = await source.next()) yield value;
}

async function headOf(source: AsyncIterator<Uint8Array>): Promise<{ head: Uint8Array; isWhole: boolean }> {
  const parts: Uint8Array[] = [];
  let length = 0;
  while (length <= PIECE_MAX_BYTES) {
    const { value, done } = await source.next();
    if (done) return { head: Buffer.concat(parts), isWhole: true };
    parts.push(value);
    length += value.length;
  }
  return { head: Buffer.concat(parts), isWhole: false };
}

function holdsOnlyEvents(head: Uint8Array): boolean {
  try {
    const value: unknown = JSON.parse(Buffer.from(head).toString());
    if (typeof value !== 'object' || value === null || !('events' in value)) return false;
    return (
      Object.keys(value).length === 1 && Array.isArray(value.events) && ENVELOPE.test(Buffer.from(head).toString())
    );
  } catch {
    return false;
  }
}

/** Elements from within a list on. */
async function* elementsIn(
  chunks: AsyncIterable<Uint8Array>,
  from: Place,
  isBehindOne: boolean,
): AsyncGenerator<Piece> {
  let { offset, line } = from;
  let depth = 0;
  let inString = false;
  let isEscaped = false;
  let hasEnded = false;
  let wantsComma = isBehindOne;
  let kept: Uint8Array[] = [];
  let keptBytes = 0;
  let isInside = false;
  const keep = (part: Uint8Array) => {
    const room = PIECE_MAX_BYTES + 1 - keptBytes;
    if (room <= 0 || part.length === 0) return;
    kept.push(part.subarray(0, room));
    keptBytes += Math.min(room, part.length);
  };
  const end = (next: number): Piece => {
    line += 1;
    const bytes = Buffer.concat(kept);
    kept = [];
    keptBytes = 0;
    isInside = false;
    return { bytes, next: { offset: next, line } };
  };
  for await (const chunk of chunks) {
    let start = 0;
    for (let at = 0; at < chunk.length; at += 1) {
      const byte = chunk[at]!;
      if (inString) {
        if (isEscaped) isEscaped = false;
        else if (byte === BACKSLASH) isEscaped = true;
        else if (byte === QUOTE) inString = false;
        continue;
      }
      if (hasEnded) {
        if (!SPACE.has(byte) && byte !== 0x7d) throw behindTheList();
        continue;
      }
      if (!isInside) {
        if (SPACE.has(byte)) continue;
        if (byte === LIST_END) {
          hasEnded = true;
          continue;
        }
        if (wantsComma !== (byte === COMMA)) throw new BadObject('invalid_json', 'a comma is missing or too much');
        if (byte === COMMA) {
          wantsComma = false;
          continue;
        }
        isInside = true;
        start = at;
      }
      if (byte === QUOTE) inString = true;
      else if (OPENING.has(byte)) depth += 1;
      else if (depth > 0 && CLOSING.has(byte)) depth -= 1;
      else if (depth === 0 && (byte === COMMA || byte === LIST_END || SPACE.has(byte))) {
        keep(chunk.subarray(start, at));
        yield end(offset + at);
        wantsComma = true;
        at -= 1; // what ended it is looked at again
      }
    }
    if (isInside) keep(chunk.subarray(start));
    offset += chunk.length;
  }
  if (!hasEnded) throw new BadObject('invalid_json', 'the list does not end');
}

const behindTheList = () => new BadObject('invalid_json', 'something stands behind the list of events');
