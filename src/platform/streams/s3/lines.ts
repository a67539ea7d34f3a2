import { PIECE_MAX_BYTES, type Piece, type Place } from './piece.ts';

const NEWLINE = 0x0a;
const BLANK = /^\s*$/;
const LONGEST_BLANK = 64;

/**
 * The lines of a stream of bytes that begins at a place; blank ones are passed over. Of a line that is too long the
 * first bytes are given, one more than it may have, and the rest is read without being kept.
 */
export async function* linesOf(chunks: AsyncIterable<Uint8Array>, from: Place): AsyncGenerator<Piece> {
  let { offset, line } = from;
  let kept: Uint8Array[] = [];
  let keptBytes = 0;
  let length = 0;
  const keep = (part: Uint8Array) => {
    length += part.length;
    const room = PIECE_MAX_BYTES + 1 - keptBytes;
    if (room <= 0 || part.length === 0) return;
    const taken = part.subarray(0, room);
    kept.push(taken);
    keptBytes += taken.length;
  };
  const end = (separator: number): Piece | undefined => {
    if (length === 0) {
      offset += separator;
      line += 1;
      return undefined;
    }
    const bytes = kept.length === 1 ? kept[0]! : Buffer.concat(kept);
    offset += length + separator;
    line += 1;
    kept = [];
    keptBytes = 0;
    length = 0;
    return isBlank(bytes) ? undefined : { bytes, next: { offset, line } };
  };
  for await (const chunk of chunks) {
    let start = 0;
    for (let at = chunk.indexOf(NEWLINE); at !== -1; at = chunk.indexOf(NEWLINE, start)) {
      keep(chunk.subarray(start, at));
      start = at + 1;
      const piece = end(1);
      if (piece) yield piece;
    }
    keep(chunk.subarray(start));
  }
  const last = length > 0 ? end(0) : undefined;
  if (last) yield last;
}

const isBlank = (bytes: Uint8Array): boolean =>
  bytes.length <= LONGEST_BLANK && BLANK.test(Buffer.from(bytes).toString('latin1'));
