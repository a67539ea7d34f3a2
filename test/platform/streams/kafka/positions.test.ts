import type { Admin } from 'kafkajs';
import { Temporal } from 'temporal-polyfill';
import { expect, test } from 'vitest';
import { Positions } from '../../../../src/platform/streams/kafka/positions.ts';
import type { SourceHost } from '../../../../src/platform/streams/source.ts';

const NOW_MS = Date.UTC(2026, 2, 10, 12);
const place = { topic: 'calls', partition: 0 };

/** A partition with messages from `low` to before `high`, of which the group has read to `committed`. */
async function assigned({ low = 0, high = 100, committed = -1, stored = undefined as number | undefined }) {
  const end = { low, high };
  const forgotten: string[] = [];
  const admin = {
    fetchTopicOffsets: async () => [{ partition: 0, low: String(end.low), high: String(end.high) }],
    fetchOffsets: async () => [{ topic: 'calls', partitions: [{ partition: 0, offset: String(committed) }] }],
  } as unknown as Admin;
  const host = {
    log: { warn() {} },
    checkpoints: async () =>
      stored === undefined ? [] : [{ key: 'calls/0', rank: String(stored - 1), value: { next: String(stored) } }],
    forget: async (key: string) => void forgotten.push(key),
    now: () => Temporal.Instant.fromEpochMilliseconds(NOW_MS),
  } as unknown as SourceHost;
  const positions = new Positions(admin, 'group');
  const sought = await positions.assign({ calls: [0] }, host);
  return { positions, host, end, forgotten, sought: sought.map(({ offset }) => offset), next: positions.nextOf(place) };
}

test.each([
  ['the stored offset, where it is the larger one', { stored: 50, committed: 40 }, ['50'], 50n],
  ['that of the group, where it is the larger one', { stored: 40, committed: 50 }, [], 50n],
  ['where the settings say, where there is neither', {}, [], -1n],
  ['the begin, when a topic was made anew', { stored: 101, low: 3 }, ['3'], 3n],
  ['the begin, also where the group has not forgotten it', { stored: 101, committed: 101 }, ['0'], 0n],
  ['the begin, where only the group had read it', { committed: 200 }, ['0'], 0n],
  ['what the group has read of a topic that was made anew', { stored: 101, committed: 30 }, [], 30n],
  ['the oldest message, when those before it were removed unread', { low: 60, stored: 50, committed: 40 }, ['60'], 60n],
  ['the oldest message, also behind the offset of the group', { low: 60, committed: 50 }, ['60'], 60n],
])('reading begins at %s', async (_, given, sought, next) => {
  expect(await assigned(given)).toMatchObject({ sought, next });
});

test('messages from before what is stored are passed over, unless the topic was made anew meanwhile', async () => {
  const { positions, host, end, forgotten } = await assigned({ stored: 50, high: 100 });
  expect(await positions.resume(place, host)).toBe(50n);
  expect(forgotten).toEqual([]);
  Object.assign(end, { low: 2, high: 20 });
  expect(await positions.resume(place, host)).toBe(2n);
  expect(forgotten).toEqual(['calls/0']);
  expect(positions.nextOf(place)).toBe(2n);
  expect(positions.offsets()).toEqual([]);
});

test('marks of transactions behind the last message are no lag', async () => {
  const { positions, host } = await assigned({ stored: 98, high: 100 });
  positions.handed(place, 99n, NOW_MS - 60_000);
  positions.stored(place, 99n, NOW_MS - 60_000);
  expect(await positions.lag(host)).toEqual({ messages: 1, seconds: 60 });
  positions.passed(place, 100n);
  expect(await positions.lag(host)).toEqual({ messages: 0, seconds: 0 });
  expect(positions.offsets()).toEqual([{ ...place, offset: '100' }]);
  positions.passed(place, 90n);
  expect(positions.nextOf(place)).toBe(100n);
});

test('the group hears of no message that is handed over and not stored, nor of what lies behind it', async () => {
  const { positions } = await assigned({ stored: 50 });
  positions.handed(place, 60n, NOW_MS);
  positions.handed(place, 70n, NOW_MS);
  positions.passed(place, 72n);
  expect(positions.nextOf(place)).toBe(72n);
  expect(positions.offsets()).toEqual([]);
  positions.stored(place, 60n, NOW_MS);
  expect(positions.offsets()).toEqual([{ ...place, offset: '60' }]);
  positions.stored(place, 70n, NOW_MS);
  expect(positions.offsets()).toEqual([{ ...place, offset: '72' }]);
});

test('the lag in seconds is the age of the oldest message that was fetched and waits', async () => {
  const { positions, host } = await assigned({ stored: 90 });
  positions.handed(place, 93n, NOW_MS - 5000);
  positions.handed(place, 95n, NOW_MS - 3000);
  expect(await positions.lag(host)).toEqual({ messages: 10, seconds: 5 });
  positions.stored(place, 93n, NOW_MS - 4000);
  expect(await positions.lag(host)).toEqual({ messages: 7, seconds: 3 });
  positions.stored(place, 95n, NOW_MS - 2000);
  expect(await positions.lag(host)).toEqual({ messages: 5, seconds: 2 });
  // A clock that is ahead makes no negative lag.
  positions.handed(place, 97n, NOW_MS + 9000);
  expect(await positions.lag(host)).toEqual({ messages: 5, seconds: 0 });
});

test('a message that comes after an hour of silence is not an hour old', async () => {
  const { positions, host, end } = await assigned({ stored: 99 });
  positions.handed(place, 100n, NOW_MS - 3_600_000);
  positions.stored(place, 100n, NOW_MS - 3_600_000);
  expect(await positions.lag(host)).toEqual({ messages: 0, seconds: 0 });
  end.high = 101;
  const later = { now: () => Temporal.Instant.fromEpochMilliseconds(NOW_MS + 2000) };
  expect(await positions.lag(later)).toEqual({ messages: 1, seconds: 2 });
});
