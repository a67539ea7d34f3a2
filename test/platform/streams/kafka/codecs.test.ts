import { execFileSync } from 'node:child_process';
import { gzipSync } from 'node:zlib';
import kafkajs from 'kafkajs';
import lz4 from 'lz4js';
import snappy from 'snappyjs';
import { expect, test } from 'vitest';
import {
  beginFetch,
  knowCodecs,
  TooMuchAtOnce,
  UNPACKED_MAX_BYTES,
  ungzip,
  unlz4,
  unsnappy,
  unzstd,
} from '../../../../src/platform/streams/kafka/codecs.ts';

const zstd = (bytes: Buffer) => execFileSync('zstd', ['-q', '-c'], { input: bytes, maxBuffer: 2 ** 28 });
/** As Java producers write it. */
const xerial = (bytes: Buffer) => {
  const header = Buffer.from('82534e41505059000000000100000001', 'hex');
  const half = Math.ceil(bytes.length / 2);
  const blocks = [bytes.subarray(0, half), bytes.subarray(half)].flatMap((part) => {
    const block = Buffer.from(snappy.compress(part));
    const length = Buffer.alloc(4);
    length.writeInt32BE(block.length);
    return [length, block];
  });
  return Buffer.concat([header, ...blocks]);
};
const CODECS: [string, (bytes: Buffer) => Buffer, (packed: Buffer) => Uint8Array | Promise<Uint8Array>][] = [
  ['gzip', gzipSync, ungzip],
  ['snappy', (bytes) => Buffer.from(snappy.compress(bytes)), unsnappy],
  ['snappy of Java', xerial, unsnappy],
  ['lz4', (bytes) => Buffer.from(lz4.compress(bytes)), unlz4],
  ['zstd', zstd, unzstd],
];
const TEXT = Buffer.from(Array.from({ length: 30_000 }, (_, n) => `{"n":${n}}`).join('\n'));

test.each(CODECS)('%s is unpacked to what it was', async (_, pack, unpack) => {
  expect(Buffer.from(await unpack(pack(TEXT))).equals(TEXT)).toBe(true);
});

test.each(CODECS)('%s that would unpack to more than 64 MiB is named', async (_, pack, unpack) => {
  const packed = pack(Buffer.alloc(UNPACKED_MAX_BYTES + 1));
  expect(packed.length).toBeLessThan(UNPACKED_MAX_BYTES / 10);
  await expect((async () => unpack(packed))()).rejects.toThrow('unpacks to more than 67108864 bytes');
});

test.each(CODECS)('%s that is cut off is no message', async (_, pack, unpack) => {
  const packed = pack(TEXT);
  const unpacked = async () => Buffer.from(await unpack(packed.subarray(0, packed.length - 100)));
  const found = await unpacked().catch(() => undefined);
  expect(found?.equals(TEXT) ?? false).toBe(false);
});

/** Records of a batch: the length of each, doubled, in groups of seven bits, and its bytes. */
function recordsOf(count: number, length: number): Buffer {
  const head: number[] = [];
  for (let left = length * 2; ; left >>= 7) {
    head.push(left >= 0x80 ? (left & 0x7f) | 0x80 : left);
    if (left < 0x80) break;
  }
  const one = Buffer.concat([Buffer.from(head), Buffer.alloc(length)]);
  return Buffer.concat(Array.from({ length: count }, () => one));
}
const decompress = (bytes: Buffer): Promise<Buffer> =>
  kafkajs.CompressionCodecs[kafkajs.CompressionTypes.GZIP]().decompress(gzipSync(bytes));

test('a batch of very many small records is named before they take memory', async () => {
  knowCodecs();
  expect((await decompress(recordsOf(100_000, 7))).length).toBe(800_000);
  await expect(decompress(recordsOf(100_001, 7))).rejects.toThrow('a batch holds more than 100000 records');
  // Messages of the older formats begin with eight bytes of their offset.
  expect((await decompress(Buffer.alloc(1_000_000))).length).toBe(1_000_000);
});

test('batches of one fetch share the limits of one, and each fetch has them anew', async () => {
  knowCodecs();
  const half = recordsOf(40, 1024 * 1024);
  const fetch = async (...batches: Buffer[]) => {
    beginFetch();
    for (const batch of batches) await decompress(batch);
  };
  await fetch(half);
  await fetch(half);
  await expect(fetch(half, half)).rejects.toThrow(TooMuchAtOnce);
  await expect(fetch(recordsOf(60_000, 7), recordsOf(60_000, 7))).rejects.toThrow(TooMuchAtOnce);
  await Promise.all([fetch(half), fetch(half), fetch(half)]);
});
