import { decompress as unzstd } from 'fzstd';
import kafkajs from 'kafkajs';
import lz4 from 'lz4js';
import snappy from 'snappyjs';

/** What Java producers write before blocks of snappy: a frame of their own. */
const XERIAL_MAGIC = Buffer.from([0x82, 0x53, 0x4e, 0x41, 0x50, 0x50, 0x59, 0]);
const XERIAL_HEADER_BYTES = 16;
const LENGTH_BYTES = 4;

const reading = (unpack: (packed: Buffer) => Uint8Array) => () => ({
  compress: () => Promise.reject(new Error('only read')),
  decompress: async (packed: Buffer) => Buffer.from(unpack(packed)),
});

/**
 * The compressions that producers choose beside gzip, which the client library reads by itself. All are pure
 * JavaScript.
 */
export function knowCodecs(): void {
  const { CompressionCodecs, CompressionTypes } = kafkajs;
  CompressionCodecs[CompressionTypes.Snappy] = reading(unsnappy);
  CompressionCodecs[CompressionTypes.LZ4] = reading((packed) => lz4.decompress(packed));
  CompressionCodecs[CompressionTypes.ZSTD] = reading((packed) => unzstd(packed));
}

export function unsnappy(packed: Buffer): Buffer {
  if (!packed.subarray(0, XERIAL_MAGIC.length).equals(XERIAL_MAGIC)) return Buffer.from(snappy.uncompress(packed));
  const blocks: Buffer[] = [];
  for (let at = XERIAL_HEADER_BYTES; at < packed.length; ) {
    const length = packed.readInt32BE(at);
    at += LENGTH_BYTES;
    blocks.push(Buffer.from(snappy.uncompress(packed.subarray(at, at + length))));
    at += length;
  }
  return Buffer.concat(blocks);
}
