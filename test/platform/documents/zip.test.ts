import { crc32 } from 'node:zlib';
import { expect, test } from 'vitest';
import { type ZippedFile, zipped } from '../../../src/platform/documents/zip.ts';
import { until } from '../../support/until.ts';

const AT = new Date('2026-03-01T10:00:00Z');
/** Most files that the list of a classic ZIP file counts. */
const CLASSIC_MOST = 65_535;

async function* filesOf(files: Iterable<[string, Uint8Array]>): AsyncGenerator<ZippedFile> {
  for (const [name, content] of files) yield { name, content };
}

async function zipOf(files: Iterable<[string, Uint8Array]>): Promise<Buffer> {
  const parts: Uint8Array[] = [];
  for await (const bytes of zipped(filesOf(files), AT)) parts.push(bytes);
  return Buffer.concat(parts);
}

test('files are kept as they are, under names of any script', async () => {
  const content = Buffer.from('<Invoice/>');
  const zip = await zipOf([['Müller 三.xml', content]]);
  // Size and checksum stand before the content too: there are readers that know no others of a file that is not packed.
  expect([zip.readUInt16LE(6) & 8, zip.readUInt32LE(14), zip.readUInt32LE(18)]).toEqual([0, crc32(content), 10]);
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

test('a file that cannot be read fails the whole, and its end is never written', async () => {
  const gone = new Error('the database is gone');
  async function* broken(): AsyncGenerator<ZippedFile> {
    yield { name: 'a', content: Buffer.alloc(1_000_000) };
    throw gone;
  }
  const parts: Uint8Array[] = [];
  await expect(
    (async () => {
      for await (const bytes of zipped(broken(), AT)) parts.push(bytes);
    })(),
  ).rejects.toBe(gone);
  expect(Buffer.concat(parts).includes('PK\x05\x06', 0, 'latin1')).toBe(false);
});

test('files are read no faster than the ZIP file is, and no longer than somebody reads it', async () => {
  let read = 0;
  let isEnded = false;
  async function* endless(): AsyncGenerator<ZippedFile> {
    try {
      for (;;) {
        read += 1;
        yield { name: `${read}`, content: Buffer.alloc(1_000_000) };
      }
    } finally {
      isEnded = true;
    }
  }
  let taken = 0;
  for await (const bytes of zipped(endless(), AT)) {
    taken += bytes.byteLength;
    expect(read * 1_000_000 - taken).toBeLessThan(4_000_000);
    if (taken > 20_000_000) break;
  }
  await until(() => isEnded);
});

test('no file is asked for any more when its reader has left while one was awaited', async () => {
  let asked = 0;
  let answer: () => void = () => {};
  async function* slow(): AsyncGenerator<ZippedFile> {
    for (;;) {
      asked += 1;
      yield { name: `${asked}`, content: Buffer.from('x') };
      await new Promise<void>((resolve) => {
        answer = resolve;
      });
    }
  }
  const bytes = zipped(slow(), AT);
  await bytes.next();
  await until(() => asked === 1);
  await bytes.return();
  for (let n = 0; n < 20; n += 1) {
    answer();
    await new Promise((resolve) => setImmediate(resolve));
  }
  // One of them may be on its way.
  expect(asked).toBeLessThanOrEqual(3);
});
