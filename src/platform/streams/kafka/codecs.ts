import { AsyncLocalStorage } from 'node:async_hooks';
import { promisify } from 'node:util';
import { unzip } from 'node:zlib';
import kafkajs from 'kafkajs';
import lz4 from 'lz4js';
import snappy from 'snappyjs';
import { SourceTrouble } from '../source.ts';
import { createUnzstd, WideWindow } from '../unpack-zstd.ts';

/** What Java producers write before blocks of snappy: a frame of their own. */
const XERIAL_MAGIC = Buffer.from([0x82, 0x53, 0x4e, 0x41, 0x50, 0x50, 0x59, 0]);
const XERIAL_HEADER_BYTES = 16;
const LENGTH_BYTES = 4;
/**
 * What a packed batch of records may unpack to. Producers pack batches of at most a MiB or so; a thousandfold of what a
 * broker lets in would take the memory of every other stream.
 */
export const UNPACKED_MAX_BYTES = 64 * 1024 * 1024;

/** How many records a packed batch may hold: one of seven bytes takes hundreds of them in memory. */
const MOST_RECORDS = 100_000;

/** What the batches of one answer of a broker have unpacked to. */
const answers = new AsyncLocalStorage<{ batches: number; bytes: number; records: number }>();

/** A fetch begins: its batches, which are unpacked together, share the limits of one. */
export const beginFetch = (): void => answers.enterWith({ batches: 0, bytes: 0, records: 0 });

/** The batches of a fetch unpack to too much together: they have to be fetched one at a time. */
export class TooMuchAtOnce extends SourceTrouble {
  constructor() {
    super('a fetch unpacks to too much: batches of records are fetched one at a time');
  }
}

const reading = (unpack: (packed: Buffer) => Uint8Array | Promise<Uint8Array>) => () => ({
  compress: () => Promise.reject(new Error('only read')),
  decompress: async (packed: Buffer) => admitted(Buffer.from(await unpack(packed))),
});

/** @throws SourceTrouble, TooMuchAtOnce */
function admitted(unpacked: Buffer): Buffer {
  const records = countRecords(unpacked);
  if (records > MOST_RECORDS) throw new SourceTrouble(`a batch holds more than ${MOST_RECORDS} records`);
  const answer = answers.getStore();
  if (!answer) return unpacked;
  answer.batches += 1;
  answer.bytes += unpacked.length;
  answer.records += records;
  if (answer.batches > 1 && (answer.bytes > UNPACKED_MAX_BYTES || answer.records > MOST_RECORDS))
    throw new TooMuchAtOnce();
  return unpacked;
}

/** Each record is its length, doubled, in groups of seven bits, and so many bytes; older formats are not counted. */
function countRecords(unpacked: Buffer): number {
  let records = 0;
  for (let at = 0; at < unpacked.length; records += 1) {
    let [length, factor] = [0, 1];
    for (let byte = 0x80; byte >= 0x80; factor *= 0x80) {
      byte = unpacked[at] ?? 0;
      at += 1;
      length += (byte & 0x7f) * factor;
    }
    if (length === 0 || length % 2 === 1) return 0;
    at += length / 2;
  }
  return records;
}

/** The compressions that producers choose. All that do not come with Node are pure JavaScript. */
export function knowCodecs(): void {
  const { CompressionCodecs, CompressionTypes } = kafkajs;
  CompressionCodecs[CompressionTypes.GZIP] = reading(ungzip);
  CompressionCodecs[CompressionTypes.Snappy] = reading(unsnappy);
  CompressionCodecs[CompressionTypes.LZ4] = reading(unlz4);
  CompressionCodecs[CompressionTypes.ZSTD] = reading(unzstd);
}

const tooLarge = (cause?: unknown) =>
  new SourceTrouble(`a batch of records unpacks to more than ${UNPACKED_MAX_BYTES} bytes`, { cause });

const unpackGzip = promisify(unzip);

export async function ungzip(packed: Buffer): Promise<Buffer> {
  try {
    return (await unpackGzip(packed, { maxOutputLength: UNPACKED_MAX_BYTES })) as Buffer;
  } catch (error) {
    throw (error as NodeJS.ErrnoException).code === 'ERR_BUFFER_TOO_LARGE' ? tooLarge(error) : error;
  }
}

export function unsnappy(packed: Buffer): Buffer {
  if (!packed.subarray(0, XERIAL_MAGIC.length).equals(XERIAL_MAGIC)) return unsnappyBlock(packed, UNPACKED_MAX_BYTES);
  const blocks: Buffer[] = [];
  let left = UNPACKED_MAX_BYTES;
  for (let at = XERIAL_HEADER_BYTES; at < packed.length; ) {
    const length = packed.readInt32BE(at);
    at += LENGTH_BYTES;
    const block = unsnappyBlock(packed.subarray(at, at + length), left);
    blocks.push(block);
    left -= block.length;
    at += length;
  }
  return Buffer.concat(blocks);
}

/** It tells its length before it. */
function unsnappyBlock(packed: Buffer, most: number): Buffer {
  try {
    return Buffer.from(snappy.uncompress(packed, most));
  } catch (error) {
    throw /too big/.test((error as Error).message) ? tooLarge(error) : error;
  }
}

export function unlz4(packed: Buffer): Uint8Array {
  const most = lz4.decompressBound(packed);
  if (most > UNPACKED_MAX_BYTES) throw tooLarge();
  return lz4.decompress(packed, most);
}

export function unzstd(packed: Buffer): Buffer {
  const unpacking = createUnzstd();
  const blocks: Uint8Array[] = [];
  let length = 0;
  const keep = (block: Uint8Array) => {
    length += block.length;
    if (length > UNPACKED_MAX_BYTES) throw tooLarge();
    blocks.push(block);
  };
  try {
    for (const block of unpacking.push(packed)) keep(block);
    for (const block of unpacking.finish()) keep(block);
  } catch (error) {
    throw error instanceof WideWindow ? tooLarge(error) : error;
  }
  return Buffer.concat(blocks);
}
