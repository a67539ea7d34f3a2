import { crc32 } from 'node:zlib';
import { expect, test } from 'vitest';
import { zipWriter } from '../../../src/platform/documents/zip.ts';

const AT = new Date('2026-03-01T10:00:00Z');
/** Most files that the list of a classic ZIP file counts. */
const CLASSIC_MOST = 65_535;

async function zipOf(files: Iterable<[string, Uint8Array]>): Promise<Buffer> {
  const parts: Uint8Array[] = [];
  const zip = zipWriter(async (bytes) => void parts.push(Buffer.from(bytes)), AT);
  for (const [name, content] of files) await zip.add(name, content);
  await zip.end();
  return Buffer.concat(parts);
}

test('files are kept as they are, under names of any script', async () => {
  const content = Buffer.from('<Invoice/>');
  const zip = await zipOf([['Müller 三.xml', content]]);
  const at = zip.indexOf('PK\x01\x02', undefined, 'latin1');
  expect(zip.readUInt16LE(at + 10)).toBe(0);
  expect(zip.readUInt32LE(at + 16)).toBe(crc32(content));
  expect(zip.subarray(at + 46, at + 46 + zip.readUInt16LE(at + 28)).toString()).toBe('Müller 三.xml');
  expect(zip.includes(content)).toBe(true);
});

test('more files than the classic list counts are all in the larger list', { timeout: 120_000 }, async () => {
  const nothing = Buffer.alloc(0);
  const count = CLASSIC_MOST + 2;
  const zip = await zipOf(Array.from({ length: count }, (_, index): [string, Uint8Array] => [`${index}.xml`, nothing]));
  const end = zip.lastIndexOf('PK\x06\x06', undefined, 'latin1');
  expect(zip.readBigUInt64LE(end + 32)).toBe(BigInt(count));
});

test('a write that fails fails the export, at the next file', async () => {
  const full = new Error('no space left');
  const zip = zipWriter(() => Promise.reject(full), AT);
  const content = Buffer.alloc(1_000_000);
  await expect(
    (async () => {
      for (const name of ['a', 'b', 'c']) await zip.add(name, content);
      await zip.end();
    })(),
  ).rejects.toBe(full);
});
