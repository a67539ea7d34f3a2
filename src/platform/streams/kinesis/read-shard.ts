import { setTimeout as pause } from 'node:timers/promises';
import { deliverInSlices } from '../deliver-in-slices.ts';
import type { SourceHost, StreamMessage } from '../source.ts';
import { IteratorExpired, type KinesisStream, Missing, Throttled } from './client.ts';
import { type KinesisRecord, messagesOf, type ShardPlace } from './record-messages.ts';

/** Between two requests for records of a shard. */
const POLL_MS = 1000;
const FIRST_PAUSE_MS = 1000;
const LONGEST_PAUSE_MS = 30_000;
/** Behind every sequence number, which has 56 digits. */
const END_RANK = '9'.repeat(60);

/** What of a shard is stored as its checkpoint. */
export type ShardProgress = ShardPlace | { isEnd: true };

export interface ShardReading {
  host: SourceHost;
  stream: KinesisStream;
  shard: string;
  /** Of its checkpoint and its lease. */
  key: string;
  /** From where on; undefined where nothing was read yet. */
  from: ShardPlace | undefined;
  /** Aborted when another process has taken the shard, or reading ends. */
  signal: AbortSignal;
  /** Whether it is still wanted here; otherwise it is left when what was handed over is stored. */
  isWanted(): boolean;
  /** Runs work when few enough others hold records in memory. */
  inTurn<Result>(work: () => Promise<Result>): Promise<Result>;
  /** Says how old what is not stored is. */
  behind(ms: number): void;
}

/**
 * Reads a shard to its end, which only comes when it is split or merged.
 *
 * @returns whether it came to its end, which is then stored; otherwise it is no longer wanted, or was removed
 * Rule: streams.md#kinesis.
 */
export async function readShard(reading: ShardReading): Promise<boolean> {
  const { stream, shard, signal, isWanted, inTurn } = reading;
  let at = reading.from;
  let iterator: string | undefined;
  let throttledMs = FIRST_PAUSE_MS;
  while (isWanted()) {
    const from = performance.now();
    try {
      iterator ??= await stream.iterator(shard, at);
      const current = iterator;
      const page = await inTurn(() => readPage(reading, current, at));
      if (!page) return false;
      if (page.next === undefined) {
        await reading.host.deliver([endOf(reading)], signal);
        return true;
      }
      iterator = page.next;
      at = page.at ?? at;
      throttledMs = FIRST_PAUSE_MS;
      await pause(Math.max(0, POLL_MS - (performance.now() - from)), undefined, { signal });
    } catch (error) {
      if (error instanceof IteratorExpired) iterator = undefined;
      else if (error instanceof Throttled) {
        await pause(throttledMs, undefined, { signal });
        throttledMs = Math.min(2 * throttledMs, LONGEST_PAUSE_MS);
      } else if (error instanceof Missing && (await isRemoved(reading))) return false;
      else throw error;
    }
  }
  return false;
}

/** Whether the stream is there without the shard, whose records have all become older than the service keeps them. */
async function isRemoved({ stream, shard }: ShardReading): Promise<boolean> {
  const shards = await stream.shards().catch(() => undefined); // what failed before says what is wrong
  return shards !== undefined && !shards.some(({ id }) => id === shard);
}

/** @returns undefined if not all of it is stored, because the shard is no longer wanted here */
async function readPage(reading: ShardReading, iterator: string, at: ShardPlace | undefined) {
  const { host, stream, signal, isWanted, behind } = reading;
  await host.room();
  const { records, next, behindMs } = await stream.records(iterator);
  const [first, last] = [records[0], records.at(-1)];
  const arrivedAt = first?.ApproximateArrivalTimestamp?.getTime();
  if (arrivedAt !== undefined) behind(Math.max(0, host.now().epochMilliseconds - arrivedAt));
  const isWhole = await deliverInSlices(host, messagesIn(reading, records, at), { until: signal, isWanted });
  if (!isWhole) return undefined;
  behind(behindMs);
  return { next, at: last ? { sequence: last.SequenceNumber!, next: null } : undefined };
}

async function* messagesIn(
  { host, key, shard }: ShardReading,
  records: readonly KinesisRecord[],
  at: ShardPlace | undefined,
): AsyncGenerator<StreamMessage> {
  const now = new Date(host.now().epochMilliseconds);
  for (const record of records) {
    const skip = at && at.next !== null && at.sequence === record.SequenceNumber ? at.next : 0;
    yield* messagesOf(record, { key, shard }, now, skip);
  }
}

/** No message: it marks that the shard is read to its end, so that its children may begin. */
const endOf = ({ host, key, shard }: ShardReading): StreamMessage => ({
  position: `${shard}/end`,
  bytes: null,
  isMark: true,
  sourceTime: new Date(host.now().epochMilliseconds).toISOString(),
  checkpoint: { key, rank: END_RANK, value: { isEnd: true } satisfies ShardProgress },
});
