import { execFileSync } from 'node:child_process';
import { setTimeout as pause } from 'node:timers/promises';
import { gzipSync } from 'node:zlib';
import { expect, test } from 'vitest';
import { inTurns } from '../../../../src/platform/streams/in-turns.ts';
import { elementsOf } from '../../../../src/platform/streams/s3/elements.ts';
import { formatOf } from '../../../../src/platform/streams/s3/format.ts';
import { linesOf } from '../../../../src/platform/streams/s3/lines.ts';
import { PIECE_MAX_BYTES, type Piece, type Place } from '../../../../src/platform/streams/s3/piece.ts';
import { rowsOf } from '../../../../src/platform/streams/s3/rows.ts';
import { behind, unpacked } from '../../../../src/platform/streams/s3/unpack.ts';

type Reader = (chunks: AsyncIterable<Uint8Array>, from: Place) => AsyncGenerator<Piece>;
const START: Place = { offset: 0, line: 0 };

async function* inChunks(content: Uint8Array, size: number): AsyncGenerator<Uint8Array> {
  for (let at = 0; at < content.length; at += size) yield content.subarray(at, at + size);
}
async function all<Value>(values: AsyncIterable<Value>): Promise<Value[]> {
  const found: Value[] = [];
  for await (const value of values) found.push(value);
  return found;
}
const piecesOf = (reader: Reader, text: string, size = 7, from = START) =>
  all(reader(inChunks(Buffer.from(text).subarray(from.offset), size), from));
const textsOf = (pieces: Piece[]) => pieces.map(({ bytes }) => Buffer.from(bytes).toString());

const CSV = [
  'transaction_id,external_subscription_id,code,timestamp,properties.bytes,properties.note',
  't1,s,calls,1750000000.25,12345678901234567890.10,"a, ""b""\r\nü"',
  't2,s,calls,,,',
  't3,s,calls',
  't4,s,calls,,7,ü',
].join('\r\n');

test.each<[string, Reader, string, string[]]>([
  ['lines', linesOf, '{"a":1}\r\n\n  \n{"b":"ü"}\nno\n{"c":3}', ['{"a":1}\r', '{"b":"ü"}', 'no', '{"c":3}']],
  [
    'a list',
    elementsOf,
    ' [ {"a":[1,{"b":"]},\\""}]} ,\n7.10,"x]",{} ] ',
    ['{"a":[1,{"b":"]},\\""}]}', '7.10', '"x]"', '{}'],
  ],
  ['an empty list', elementsOf, '[]', []],
  ['an envelope of events alone', elementsOf, '{"events": [{"a":1},{"b":2}]}', ['{"a":1}', '{"b":2}']],
  [
    'another envelope',
    elementsOf,
    '{"events": [{"a":1}], "organization_id": "x"}',
    ['{"events": [{"a":1}], "organization_id": "x"}'],
  ],
  ['no JSON', elementsOf, '{"events": [', ['{"events": [']],
  [
    'rows',
    rowsOf,
    CSV,
    [
      '{"transaction_id":"t1","external_subscription_id":"s","code":"calls","timestamp":"1750000000.25",' +
        '"properties":{"bytes":"12345678901234567890.10","note":"a, \\"b\\"\\r\\nü"}}',
      '{"transaction_id":"t2","external_subscription_id":"s","code":"calls","properties":{}}',
      '["t3","s","calls"]',
      '{"transaction_id":"t4","external_subscription_id":"s","code":"calls","properties":{"bytes":"7","note":"ü"}}',
    ],
  ],
])('%s are read whole, however they arrive, and from behind each of them', async (_, reader, text, expected) => {
  for (const size of [1, 2, 7, 4096]) {
    const pieces = await piecesOf(reader, text, size);
    expect(textsOf(pieces)).toEqual(expected);
    for (const [index, { next }] of pieces.entries()) {
      if (next.isEnd) continue;
      expect(textsOf(await piecesOf(reader, text, size, next))).toEqual(expected.slice(index + 1));
    }
  }
});

test('a row of another length is refused, and no property is a number that was not written', async () => {
  expect((await piecesOf(rowsOf, CSV)).map(({ refused }) => refused)).toEqual([
    undefined,
    undefined,
    'the row has 3 fields, not 6',
    undefined,
  ]);
});

test.each<[string, Reader, string, string]>([
  ['a list without end', elementsOf, '[{"a":1},', 'the list does not end'],
  ['elements without a comma', elementsOf, '[{} {}]', 'a comma is missing'],
  ['a list with more behind it', elementsOf, '[{}] {"a":1}', 'something stands behind'],
  ['an unknown column', rowsOf, 'transaction_id,amount\nt1,5\n', 'does not name the columns'],
  ['a column that comes twice', rowsOf, 'transaction_id,code,code\n', 'does not name the columns'],
  [
    'a quote without end',
    rowsOf,
    'transaction_id,code\nt1,c\nt2,"c\n',
    'its rows cannot be told apart: CSV_QUOTE_NOT_CLOSED',
  ],
  ['a large file that is no list', elementsOf, `{"a":"${'x'.repeat(PIECE_MAX_BYTES)}"}`, 'has at most 1048576 bytes'],
])('%s ends the file', async (_, reader, text, message) => {
  await expect(piecesOf(reader, text, 65_536)).rejects.toThrow(message);
});

test.each<[string, Reader, string, string]>([
  ['line', linesOf, `{"a":1}\n${'x'.repeat(3 * PIECE_MAX_BYTES)}\n`, '{"b":2}'],
  ['element', elementsOf, `[{"a":1},"${'x'.repeat(3 * PIECE_MAX_BYTES)}",`, '{"b":2}]'],
])('of a %s that is too long only the beginning is kept, and the next one follows', async (_, reader, head, tail) => {
  const pieces = await piecesOf(reader, head + tail, 65_536);
  expect(pieces.map(({ bytes }) => bytes.length)).toEqual([7, PIECE_MAX_BYTES + 1, 7]);
  expect(textsOf(await piecesOf(reader, head + tail, 65_536, pieces[1]!.next))).toEqual(['{"b":2}']);
});

const TEXT = Buffer.from(Array.from({ length: 20_000 }, (_, n) => `{"n":${n}}\n`).join(''));
const packed = {
  none: TEXT,
  gzip: Buffer.concat([gzipSync(TEXT.subarray(0, 1000)), gzipSync(TEXT.subarray(1000))]),
  zstd: execFileSync('zstd', ['-q', '-c'], { input: TEXT }),
};

test.each(['none', 'gzip', 'zstd'] as const)('%s is unpacked from any byte on', async (packing) => {
  for (const [skip, size] of [
    [0, 100],
    [12_345, 5000],
    [TEXT.length, 4096],
  ] as const) {
    const found = Buffer.concat(await all(behind(unpacked(inChunks(packed[packing], size), packing), skip)));
    expect(found.equals(TEXT.subarray(skip))).toBe(true);
  }
});

test.each(['gzip', 'zstd'] as const)('%s that is cut off or none is named', async (packing) => {
  const cut = packed[packing].subarray(0, packed[packing].length - 20);
  await expect(all(unpacked(inChunks(cut, 512), packing))).rejects.toThrow(`it is no whole ${packing}`);
  await expect(all(unpacked(inChunks(TEXT, 512), packing))).rejects.toThrow(`it is no whole ${packing}`);
});

test('a zstd window that would not fit is refused', async () => {
  const wide = execFileSync('zstd', ['-q', '-c', '--long=27', '--ultra', '-22', '--no-check'], { input: TEXT });
  wide[4]! &= ~0x20;
  wide[5] = 17 << 3;
  await expect(all(unpacked(inChunks(wide, 512), 'zstd'))).rejects.toThrow('window is larger than 32 MiB');
});

test('rows before a quote without end, or one in the middle of a field, are read', async () => {
  const head = 'transaction_id,properties.n\na,1\nb,2\n';
  for (const fault of ['c,"3', 'c,3"4\n', 'c,"3"4\n']) {
    const found: Piece[] = [];
    await expect(async () => {
      for await (const piece of rowsOf(inChunks(Buffer.from(head + fault), 65_536), START)) found.push(piece);
    }).rejects.toMatchObject({ code: 'unsupported_format' });
    expect(textsOf(found)).toHaveLength(2);
  }
});

test('rows end as rows do, wherever reading begins', async () => {
  const head = 'transaction_id,properties.n\n';
  const mixed = `${head}a,1\r\nb,2\rc,3\n`;
  const pieces = await piecesOf(rowsOf, mixed);
  expect(textsOf(pieces)).toEqual(
    ['a', 'b', 'c'].map((id, index) => `{"transaction_id":"${id}","properties":{"n":"${index + 1}"}}`),
  );
  for (const [index, { next }] of pieces.entries())
    expect(textsOf(await piecesOf(rowsOf, mixed, 7, next))).toEqual(textsOf(pieces.slice(index + 1)));
});

test.each([
  ['commas', ','],
  ['empty texts', '"",'],
  ['empty lines in texts', '"\n",'],
])('a row of %s that does not end takes no memory without end', { timeout: 60_000 }, async (_, field) => {
  const block = Buffer.from(field.repeat(20_000));
  let sent = 0;
  async function* endless(): AsyncGenerator<Uint8Array> {
    yield Buffer.from('transaction_id,properties.n\na,1\n');
    for (; sent < 200 * 1024 * 1024; sent += block.length) yield block;
  }
  const found: Piece[] = [];
  await expect(async () => {
    for await (const piece of rowsOf(endless(), START)) found.push(piece);
  }).rejects.toMatchObject({ code: 'payload_too_large', isFinal: true });
  expect(textsOf(found)).toEqual(['{"transaction_id":"a","properties":{"n":"1"}}']);
  expect(sent).toBeLessThan(10 * 1024 * 1024);
});

test.each([
  ['lines', linesOf],
  ['rows', rowsOf],
])('what unpacks to blank %s alone leaves turns to everything else, and ends when reading does', async (_, reader) => {
  const block = Buffer.alloc(128 * 1024, '\n');
  async function* endless(): AsyncGenerator<Uint8Array> {
    for (;;) yield block;
  }
  const ended = new AbortController();
  const reading = all(reader(inTurns(endless(), ended.signal), { ...START, columns: ['transaction_id'] }));
  const latest = { ms: 0 };
  for (let turn = 0; turn < 10; turn += 1) {
    const from = performance.now();
    await pause(10);
    latest.ms = Math.max(latest.ms, performance.now() - from);
  }
  ended.abort(new Error('paused'));
  await expect(reading).rejects.toThrow('paused');
  // Far from what a turn takes; reading that leaves none would never end.
  expect(latest.ms).toBeLessThan(10_000);
});

test.each([
  ['a/b.ndjson', { content: 'ndjson', packing: 'none' }],
  ['a/b.JSONL.gz', { content: 'ndjson', packing: 'gzip' }],
  ['2026.11.json.zst', { content: 'json', packing: 'zstd' }],
  ['b.csv', { content: 'csv', packing: 'none' }],
  ['b.txt', undefined],
  ['a.csv/b', undefined],
  ['b.gz', undefined],
])('the format of %s', (key, format) => {
  expect(formatOf(key, 'auto')).toEqual(format);
});

test('a format that is set needs no ending but that of the packing', () => {
  expect(formatOf('part-0001', 'csv')).toEqual({ content: 'csv', packing: 'none' });
  expect(formatOf('part-0001.gz', 'ndjson')).toEqual({ content: 'ndjson', packing: 'gzip' });
});

test('a stream of any length is read in bounded memory', { timeout: 60_000 }, async () => {
  const BYTES = 200 * 1024 * 1024;
  const block = Buffer.from(`${'{"transaction_id":"t","properties":{"n":1}},'.repeat(1500)}`);
  async function* long(): AsyncGenerator<Uint8Array> {
    yield Buffer.from('[');
    for (let sent = 0; sent < BYTES; sent += block.length) yield block;
    yield Buffer.from('{}]');
  }
  const before = process.memoryUsage().rss;
  let most = before;
  let count = 0;
  for await (const _ of elementsOf(long(), START)) {
    count += 1;
    if (count % 10_000 === 0) most = Math.max(most, process.memoryUsage().rss);
  }
  expect(count).toBe(Math.ceil(BYTES / block.length) * 1500 + 1);
  expect(most - before).toBeLessThan(120 * 1024 * 1024);
});
