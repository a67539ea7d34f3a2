import { expect, test } from 'vitest';
import { requestsOf, topicMessagesOf } from '../../../../src/platform/streams/kafka/dead-letter-topic.ts';
import type { PutAside } from '../../../../src/platform/streams/source.ts';

const KIB = 1024;
const aside = (offset: number, bytes: number): PutAside => ({
  message: {
    position: `calls/3/${offset}`,
    bytes: Buffer.alloc(bytes, 'x'),
    sourceTime: '2026-03-10T12:00:00.000000Z',
    headers: { trace: 'a' },
    checkpoint: { key: 'calls/3', rank: String(offset), value: {} },
  },
  reasons: [{ code: 'invalid_json', message: 'a message is JSON' }],
});

test('what is put aside is written in requests that brokers take, the first part of what is too long for any', () => {
  const sizes = [200, 200, 200, 2048, 400, 10].map((kib, offset) => aside(offset, kib * KIB));
  const requests = requestsOf(sizes);
  expect(requests.flat()).toEqual(sizes);
  const lengths = requests.map((request) =>
    topicMessagesOf(request)[0]!.messages.map(({ value }) => (value as Buffer).length / KIB),
  );
  expect(lengths).toEqual([
    [200, 200],
    [200, 256],
    [400, 10],
  ]);
  expect(requestsOf([])).toEqual([]);
});

test('a message in the topic says where it came from', () => {
  expect(topicMessagesOf([aside(7, 3)])).toEqual([
    {
      topic: 'calls.dlq',
      messages: [
        {
          value: Buffer.from('xxx'),
          headers: {
            trace: 'a',
            'error-code': 'invalid_json',
            'error-message': 'a message is JSON',
            'original-topic': 'calls',
            'original-partition': '3',
            'original-offset': '7',
          },
        },
      ],
    },
  ]);
});
