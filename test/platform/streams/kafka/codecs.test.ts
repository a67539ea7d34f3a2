import { execFileSync } from 'node:child_process';
import { gzipSync } from 'node:zlib';
import lz4 from 'lz4js';
import snappy from 'snappyjs';
import { expect, test } from 'vitest';
import { UNPACKED_MAX_BYTES, ungzip, unlz4, unsnappy, unzstd } from '../../../../src/platform/streams/kafka/codecs.ts';

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
