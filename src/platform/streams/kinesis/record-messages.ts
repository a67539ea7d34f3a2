import { promisify } from 'node:util';
import { gunzip } from 'node:zlib';
import type { StreamMessage } from '../source.ts';
import { BadAggregate, userRecordsOf } from './aggregated-record.ts';

/** A record as the SDK gives it. */
export interface KinesisRecord {
  SequenceNumber?: string | undefined;
  Data?: Uint8Array | undefined;
  ApproximateArrivalTimestamp?: Date | undefined;
}

/** How far a shard was read: `next` is which message of the record comes next, null when all of it are stored. */
export interface ShardPlace {
  sequence: string;
  next: number | null;
}

/** What a packed record may unpack to, and how many lines it may hold. */
const UNPACKED_MAX_BYTES = 16 * 1024 * 1024;
const MOST_LINES = 10_000;
const MESSAGE_MAX_BYTES = 1024 * 1024;
/** Digits behind the point of a rank: which message of the record. */
const PART_DIGITS = 9;
const NEWLINE = 0x0a;
const BRACES = { open: 0x7b, close: 0x7d };

type Piece = Pick<StreamMessage, 'bytes' | 'refused'>;

const unpack = promisify(gunzip);

/**
 * The messages of a record: of an aggregated one those of each record in it, and of lines each line.
 *
 * skip  how many of them were read before
 * Rule: streams.md#records-of-kinesis.
 */
export async function* messagesOf(
  record: KinesisRecord,
  { key, shard }: { key: string; shard: string },
  now: Date,
  skip = 0,
): AsyncGenerator<StreamMessage> {
  const sequence = record.SequenceNumber!;
  const sourceTime = `${(record.ApproximateArrivalTimestamp ?? now).toISOString().slice(0, -1)}000Z`;
  const pieces = piecesOf(record.Data ?? new Uint8Array());
  let part = 0;
  let { value: piece, done } = await pieces.next();
  if (done) piece = { bytes: null };
  while (piece) {
    const following: IteratorResult<Piece, void> = done ? { value: undefined, done } : await pieces.next();
    const isLast = following.done === true;
    const place: ShardPlace = { sequence, next: isLast ? null : part + 1 };
    if (part >= skip)
      yield {
        ...piece,
        position: `${shard}/${sequence}${part === 0 && isLast ? '' : `/${part}`}`,
        sourceTime,
        checkpoint: { key, rank: `${sequence}.${String(part).padStart(PART_DIGITS, '0')}`, value: { ...place } },
      };
    part += 1;
    ({ value: piece, done } = following);
  }
}

async function* piecesOf(data: Uint8Array): AsyncGenerator<Piece, void> {
  let records: Uint8Array[];
  try {
    records = userRecordsOf(data) ?? [data];
  } catch (error) {
    if (!(error instanceof BadAggregate)) throw error;
    yield refused(data, 'unsupported_format', `the aggregated record cannot be read: ${error.message}`);
    return;
  }
  for (const each of records) yield* linesOf(each);
}

const refused = (bytes: Uint8Array, code: 'unsupported_format' | 'payload_too_large', message: string): Piece => ({
  bytes,
  refused: { code, message },
});

/** Each line, where they are not together one message; blank ones are passed over. */
async function* linesOf(data: Uint8Array): AsyncGenerator<Piece, void> {
  const unpacked = await unpackedOf(data);
  if ('refused' in unpacked) {
    yield unpacked;
    return;
  }
  const bytes = unpacked.bytes!;
  const lines = splitLines(bytes);
  if (!lines || lines.length <= 1 || !lines.some(looksLikeObject) || isOneValue(bytes)) {
    if (!lines) yield refused(bytes, 'payload_too_large', `a record has at most ${MOST_LINES} lines`);
    else yield { bytes };
    return;
  }
  for (const line of lines) yield { bytes: line };
}

async function unpackedOf(data: Uint8Array): Promise<Piece> {
  if (data[0] !== 0x1f || data[1] !== 0x8b) return { bytes: data };
  try {
    return { bytes: await unpack(data, { maxOutputLength: UNPACKED_MAX_BYTES }) };
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ERR_BUFFER_TOO_LARGE')
      return refused(data, 'payload_too_large', `a record unpacks to at most ${UNPACKED_MAX_BYTES} bytes`);
    return refused(data, 'unsupported_format', 'the record is no whole gzip');
  }
}

/** Lines that are not blank; undefined if there are too many. */
function splitLines(bytes: Uint8Array): Uint8Array[] | undefined {
  const lines: Uint8Array[] = [];
  for (let start = 0; start < bytes.length; ) {
    const found = bytes.indexOf(NEWLINE, start);
    const line = trimmed(bytes.subarray(start, found === -1 ? bytes.length : found));
    start = found === -1 ? bytes.length : found + 1;
    if (line.length === 0) continue;
    if (lines.length === MOST_LINES) return undefined;
    lines.push(line);
  }
  return lines;
}

function trimmed(line: Uint8Array): Uint8Array {
  const isSpace = (byte: number | undefined) => byte === 0x20 || byte === 0x09 || byte === 0x0d;
  let [from, to] = [0, line.length];
  while (from < to && isSpace(line[from])) from += 1;
  while (to > from && isSpace(line[to - 1])) to -= 1;
  return line.subarray(from, to);
}

const looksLikeObject = (line: Uint8Array): boolean => line[0] === BRACES.open && line.at(-1) === BRACES.close;

/** A value that is written over several lines; lines of values end this at the second one. */
function isOneValue(bytes: Uint8Array): boolean {
  if (bytes.length > MESSAGE_MAX_BYTES) return false;
  try {
    JSON.parse(Buffer.from(bytes).toString());
    return true;
  } catch {
    return false;
  }
}
