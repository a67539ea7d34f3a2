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

const reading = (unpack: (packed: Buffer) => Uint8Array | Promise<Uint8Array>) => () => ({
  compress: () => Promise.reject(new Error('only read')),
  decompress: async (packed: Buffer) => Buffer.from(await unpack(packed)),
});

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
