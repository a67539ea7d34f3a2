import { Temporal } from 'temporal-polyfill';
import { expect, test, vi } from 'vitest';
import { scanBucket } from '../../../../src/platform/streams/s3/scan-bucket.ts';
import { s3Settings } from '../../../../src/platform/streams/s3/settings.ts';
import type { FoundObject, ObjectStore } from '../../../../src/platform/streams/s3/store.ts';
import { ObjectTaker } from '../../../../src/platform/streams/s3/take-object.ts';
import { UnreadObjects } from '../../../../src/platform/streams/s3/unread-objects.ts';
import type { ObjectState, SourceHost, StreamMessage } from '../../../../src/platform/streams/source.ts';

const settings = s3Settings({}).parse({ bucket: 'usage' });
const object = (key: string, written: string, size = 10): FoundObject => ({
  bucket: 'usage',
  key,
  etag: '1',
  size,
  sourceTime: `2026-03-10T${written}:00.000000Z`,
  id: `usage/${key}#1`,
});

/** A host whose claims are answered in turn, the last one again and again. */
function hostOf({ claims = [true], states = [] as ObjectState[] } = {}) {
  const delivered: StreamMessage[] = [];
  const objects = {
    states: async () => states,
    begin: async (found: FoundObject) => ({ ...found, status: 'reading', attempts: 0, is_waiting: false }),
    end: vi.fn(async () => 'done' as const),
    drop: vi.fn(async () => {}),
    failAttempt: vi.fn(async () => {}),
  };
  const host = {
    signal: new AbortController().signal,
    log: { warn() {} },
    checkpoints: async () => [],
    room: async () => {},
    claim: async () => (claims.length > 1 ? claims.shift()! : claims[0]!),
    release: async () => {},
    isReading() {},
    now: () => Temporal.Instant.from('2026-03-10T12:00:00Z'),
    async deliver(messages: readonly StreamMessage[]) {
      delivered.push(...messages);
      return { putAside: [] };
    },
    objects,
  };
  return { host: host as unknown as SourceHost, objects, delivered };
}

const storeOf = (found: readonly FoundObject[]) =>
  ({
    async *pages() {
      yield [...found];
    },
    open: async () =>
      (async function* () {
        yield Buffer.from('{"a":1}\n');
      })(),
  }) as unknown as ObjectStore;

test('a file that another process has taken meanwhile is not ended by this one', async () => {
  const { host, objects, delivered } = hostOf({ claims: [true, false] });
  const taker = new ObjectTaker(settings, host, storeOf([]));
  expect(await taker.take(object('a.ndjson', '10:00'))).toEqual({ is: 'elsewhere' });
  expect(delivered).toHaveLength(1);
  expect(objects.end).not.toHaveBeenCalled();
});

test('reading ends in the middle of a file when another process has taken it', async () => {
  vi.useFakeTimers();
  try {
    const { host, objects, delivered } = hostOf({ claims: [true, false] });
    let wasHandedOver = false;
    host.deliver = (_, until) => {
      wasHandedOver = true;
      return new Promise((_resolve, reject) => until!.addEventListener('abort', () => reject(until!.reason)));
    };
    const taken = new ObjectTaker(settings, host, storeOf([])).take(object('a.ndjson', '10:00'));
    await vi.advanceTimersByTimeAsync(9999);
    expect(wasHandedOver).toBe(true);
    await vi.advanceTimersByTimeAsync(1);
    expect(await taken).toEqual({ is: 'elsewhere' });
    expect(delivered).toEqual([]);
    expect(objects.end).not.toHaveBeenCalled();
  } finally {
    vi.useRealTimers();
  }
});

test('the oldest files are read first, and the lag is the age of the oldest that is not read yet', async () => {
  const found = [
    object('a.ndjson', '11:30'),
    object('b.ndjson', '10:00'),
    object('c.ndjson', '11:00'),
    object('d/', '09:00', 0),
  ];
  const read: ObjectState = { ...found[0]!, key: 'e.ndjson', status: 'done', attempts: 0, is_waiting: false };
  const { host } = hostOf({ states: [read] });
  const store = storeOf([...found, object('e.ndjson', '08:00')]);
  const unread = new UnreadObjects();
  const ages: [string, number][] = [];
  const taker = new ObjectTaker(settings, host, store);
  const take = vi.spyOn(taker, 'take').mockImplementation(async ({ key }) => {
    ages.push([key, unread.age(host)]);
    return { is: 'ended' };
  });
  await scanBucket({ bucket: 'usage', host, store, taker, unread });
  expect(take).toHaveBeenCalledTimes(3);
  expect(ages).toEqual([
    ['b.ndjson', 7200],
    ['c.ndjson', 3600],
    ['a.ndjson', 1800],
  ]);
  expect(unread.age(host)).toBe(0);
});

test('a file that waits for its next attempt counts as not read', async () => {
  const found = object('a.ndjson', '11:30');
  const { host } = hostOf({ states: [{ ...found, status: 'reading', attempts: 1, is_waiting: true }] });
  const unread = new UnreadObjects();
  const store = storeOf([found]);
  await scanBucket({ bucket: 'usage', host, store, taker: new ObjectTaker(settings, host, store), unread });
  expect(unread.age(host)).toBe(1800);
});

test('of very many files the oldest ten thousand are read, and then the bucket is listed again', async () => {
  const found = Array.from({ length: 25_000 }, (_, index) => object(`${index}.ndjson`, '10:00'));
  found[24_999] = object('oldest.ndjson', '09:00');
  const { host } = hostOf();
  const store = storeOf(found);
  const taker = new ObjectTaker(settings, host, store);
  const take = vi.spyOn(taker, 'take').mockResolvedValue({ is: 'ended' });
  const unread = new UnreadObjects();
  expect(await scanBucket({ bucket: 'usage', host, store, taker, unread })).toBe(true);
  expect(take).toHaveBeenCalledTimes(10_000);
  expect(take.mock.calls[0]![0].key).toBe('oldest.ndjson');
});
