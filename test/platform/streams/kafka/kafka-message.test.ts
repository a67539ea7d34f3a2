import type { KafkaMessage } from 'kafkajs';
import { expect, test } from 'vitest';
import { messageOf } from '../../../../src/platform/streams/kafka/kafka-message.ts';

const NOW_MS = Date.UTC(2026, 2, 10, 12);
const place = { topic: 'calls', partition: 3 };
const record = (fields: object): KafkaMessage => {
  const value = Buffer.from('{}');
  return { key: null, value, timestamp: String(NOW_MS), attributes: 0, offset: '41', headers: {}, ...fields };
};
const read = (fields: object) => messageOf(place, record(fields), NOW_MS);

test.each([
  ['that of its producer', String(NOW_MS - 1), '2026-03-10T11:59:59.999000Z'],
  ['years behind, from a clock that stands', '1', '1970-01-01T00:00:00.001000Z'],
  ['years ahead, from a clock that runs away', String(Date.UTC(2999, 0, 1)), '2999-01-01T00:00:00.000000Z'],
  ['none, in the old format of messages', '-1', '2026-03-10T12:00:00.000000Z'],
  ['zero', '0', '2026-03-10T12:00:00.000000Z'],
  ['behind the year 9999', '253402300800000', '2026-03-10T12:00:00.000000Z'],
  ['more than a number holds', '9223372036854775807', '2026-03-10T12:00:00.000000Z'],
  ['no number', 'now', '2026-03-10T12:00:00.000000Z'],
])('the time of a record may be %s', (_, timestamp, expected) => {
  expect(read({ timestamp }).sourceTime).toBe(expected);
});

test('a record without value moves only the checkpoint, which is the offset behind it', () => {
  expect(read({ value: null })).toMatchObject({
    position: 'calls/3/41',
    bytes: null,
    checkpoint: { key: 'calls/3', rank: '41', value: { next: '42' } },
  });
});

test('of headers the last of a name counts, and names are in lower case', () => {
  const headers = { 'Content-Type': [Buffer.from('a'), Buffer.from('b')], ce_id: 'c', none: undefined };
  expect(read({ headers }).headers).toEqual({ 'content-type': 'b', ce_id: 'c' });
});
