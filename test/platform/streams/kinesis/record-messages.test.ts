import { createHash } from 'node:crypto';
import { gzipSync } from 'node:zlib';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { messagesOf } from '../../../../src/platform/streams/kinesis/record-messages.ts';

const SEQUENCE = '49680647373394164826958254433663176244758491170915483650';
const ARRIVED = new Date('2026-03-10T12:00:00.123Z');

async function read(data: Uint8Array | string, skip = 0) {
  const record = { SequenceNumber: SEQUENCE, Data: Buffer.from(data as string), ApproximateArrivalTimestamp: ARRIVED };
  const found = [];
  for await (const message of messagesOf(record, { key: 'k', shard: 's-1' }, ARRIVED, skip)) found.push(message);
  return found;
}
const texts = async (data: Uint8Array | string, skip?: number) =>
  (await read(data, skip)).map(({ bytes, refused }) => refused?.code ?? Buffer.from(bytes ?? []).toString());

/** A record of the producer library around bytes of protobuf. */
const aggregate = (content: Uint8Array) =>
  Buffer.concat([Buffer.from('f3899ac2', 'hex'), content, createHash('md5').update(content).digest()]);
/** Two records: `a` with a tag and a key, and `b`. */
const TWO = Buffer.from(
  '0a036b6579' + '1a0a' + '0800' + '1a0161' + '2203' + '0a0174' + '1a05' + '0801' + '1a0162',
  'hex',
);

test.each<[string, Uint8Array | string, string[]]>([
  ['one value', '{"a":1}', ['{"a":1}']],
  ['a value over several lines', '{\n "a": {}\n}', ['{\n "a": {}\n}']],
  ['a list over several lines', '[\n{"a":1},\n{"a":2}\n]', ['[\n{"a":1},\n{"a":2}\n]']],
  ['lines, blank ones between', '{"a":1}\r\n\n  {"a":2} \n', ['{"a":1}', '{"a":2}']],
  ['a bad line beside others', '{"a":1}\nno\n{"a":2}', ['{"a":1}', 'no', '{"a":2}']],
  ['one line with its end', '{"a":1}\n', ['{"a":1}\n']],
  ['text that is no JSON', 'no\nno', ['no\nno']],
  ['nothing', '', ['']],
  ['packed lines', gzipSync('{"a":1}\n{"a":2}'), ['{"a":1}', '{"a":2}']],
  ['a packed file that is cut', gzipSync('{"a":1}').subarray(0, -4), ['unsupported_format']],
  ['bytes that only begin as packed ones', Buffer.from('1f8b', 'hex'), ['unsupported_format']],
  ['17 MiB of spaces, packed', gzipSync(Buffer.alloc(17 * 1024 * 1024, 0x20)), ['payload_too_large']],
  ['10 001 lines', '{}\n'.repeat(10_001), ['payload_too_large']],
  ['an aggregated record', aggregate(TWO), ['a', 'b']],
  ['an aggregated record of none', aggregate(Buffer.alloc(0)), ['']],
  ['an aggregated record that ends early', aggregate(TWO.subarray(0, -1)), ['unsupported_format']],
  [
    'an aggregated record that is no protobuf',
    aggregate(Buffer.from('ffffffffffffffffffff01', 'hex')),
    ['unsupported_format'],
  ],
  ['a record in it without data', aggregate(Buffer.from('1a020800', 'hex')), ['unsupported_format']],
  ['a record in it of 2^60 bytes', aggregate(Buffer.from('1a808080808080808010', 'hex')), ['unsupported_format']],
])('%s', async (_, data, expected) => {
  expect(await texts(data)).toEqual(expected);
});

test('a record whose digest is wrong is an ordinary one', async () => {
  const wrong = aggregate(TWO);
  wrong[wrong.length - 1]! ^= 1;
  const [message, ...others] = await read(wrong);
  expect(others).toEqual([]);
  expect(message!.bytes).toEqual(wrong);
  expect(message!.refused).toBeUndefined();
});

test('checkpoints grow along a record, and say which of its messages comes next', async () => {
  expect(await read('{"a":1}\n{"a":2}')).toEqual([
    {
      position: `s-1/${SEQUENCE}/0`,
      bytes: Buffer.from('{"a":1}'),
      sourceTime: '2026-03-10T12:00:00.123000Z',
      checkpoint: { key: 'k', rank: `${SEQUENCE}.000000000`, value: { sequence: SEQUENCE, next: 1 } },
    },
    {
      position: `s-1/${SEQUENCE}/1`,
      bytes: Buffer.from('{"a":2}'),
      sourceTime: '2026-03-10T12:00:00.123000Z',
      checkpoint: { key: 'k', rank: `${SEQUENCE}.000000001`, value: { sequence: SEQUENCE, next: null } },
    },
  ]);
  const [alone] = await read('{"a":1}');
  expect(alone).toMatchObject({ position: `s-1/${SEQUENCE}`, checkpoint: { value: { next: null } } });
});

test('what was read of a record before is passed over', async () => {
  expect(await texts(aggregate(TWO), 1)).toEqual(['b']);
});

test('a record without messages moves the checkpoint on', async () => {
  const [mark] = await read(aggregate(Buffer.alloc(0)));
  expect(mark).toMatchObject({ bytes: null, checkpoint: { value: { next: null } } });
});

test('no bytes of a producer make reading fail', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.uint8Array({ maxLength: 200 }),
      fc.constantFrom('plain', 'packed', 'aggregated'),
      async (bytes, how) => {
        const data = how === 'packed' ? gzipSync(bytes) : how === 'aggregated' ? aggregate(bytes) : bytes;
        const found = await read(data);
        expect(found.at(-1)!.checkpoint.value.next).toBeNull();
      },
    ),
  );
});
