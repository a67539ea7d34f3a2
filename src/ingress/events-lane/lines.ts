import { setImmediate as nextTurn } from 'node:timers/promises';

/** A line of a body, blank ones left out; null: longer than the limit. */
export interface Line {
  /** Counted from 1, blank lines included. */
  number: number;
  text: string | null;
}

const NEWLINE = 0x0a;
const BLANK = /^\s*$/;
/** Lines after which other requests get their turn: one chunk may hold 65 536. */
const LINES_PER_TURN = 500;

interface LineLimits {
  mostBytes: number;
  /** Blank lines count: the first line beyond the limit is the last one read, and is returned whatever it holds. */
  mostLines: number;
}

/**
 * Splits bytes into lines as they arrive. Never holds more than one line; the rest of one that is too long is dropped
 * unread. A last line without newline counts. Invalid UTF-8 becomes a text that no JSON parser accepts.
 */
export async function* linesOf(
  bytes: AsyncIterable<Buffer>,
  { mostBytes, mostLines }: LineLimits,
): AsyncGenerator<Line> {
  const decoder = new TextDecoder('utf-8', { fatal: true });
  let number = 1;
  let parts: Buffer[] = [];
  let length = 0;

  function take(): Line | undefined {
    const text = length > mostBytes ? null : decoded(decoder, Buffer.concat(parts));
    const line = { number, text };
    number += 1;
    parts = [];
    length = 0;
    return text !== null && BLANK.test(text) ? undefined : line;
  }

  function add(part: Buffer): void {
    length += part.length;
    if (length <= mostBytes) parts.push(part);
    else parts = [];
  }

  for await (const chunk of bytes) {
    let start = 0;
    for (let end = chunk.indexOf(NEWLINE); end !== -1; end = chunk.indexOf(NEWLINE, start)) {
      if (number > mostLines) {
        yield { number, text: null };
        return;
      }
      if (number % LINES_PER_TURN === 0) await nextTurn();
      const isEmpty = start === end && length === 0;
      if (isEmpty) number += 1;
      else add(chunk.subarray(start, end));
      start = end + 1;
      const line = isEmpty ? undefined : take();
      if (line) yield line;
    }
    if (start < chunk.length) add(chunk.subarray(start));
  }
  const last = length === 0 ? undefined : take();
  if (last) yield last;
}

function decoded(decoder: InstanceType<typeof TextDecoder>, bytes: Buffer): string {
  try {
    return decoder.decode(bytes);
  } catch {
    return '\0'; // refused like broken JSON
  }
}
