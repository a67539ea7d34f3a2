import { setTimeout as pause } from 'node:timers/promises';
import { whileHeld } from '../hold-lease.ts';
import { repeat } from '../repeat.ts';
import { createSlots } from '../slots.ts';
import type { Checkpoint, SourceHost, StreamSource } from '../source.ts';
import { type KinesisStream, namePrefixOf, openStream, type Shard, Throttled } from './client.ts';
import { readShard, type ShardProgress } from './read-shard.ts';
import type { ShardPlace } from './record-messages.ts';
import type { KinesisSettings } from './settings.ts';

/** How often what there is to read is looked at. */
const ROUND_MS = 5000;
/** How often leases are renewed. */
const RENEW_MS = 5000;
/** Shards whose records are held at the same time; a request answers 10 MB of them. */
const SHARDS_AT_ONCE = 2;

/**
 * A stream of Kinesis: its shards are leased to processes, each the same number of them. A shard is read when its
 * parents were read to their end.
 *
 * Rule: streams.md#kinesis.
 */
export const openKinesis = (settings: KinesisSettings): StreamSource => ({
  async run(host) {
    try {
      await read(settings, host);
    } catch (error) {
      if (!host.signal.aborted) throw error;
    }
  },
});

async function read(settings: KinesisSettings, host: SourceHost): Promise<void> {
  const stream = await openStream(settings, host.signal);
  const reading = new Reading(stream, host);
  try {
    await reading.untilEnd();
  } finally {
    await reading.leave();
    stream.close();
  }
}

/** A shard that this process reads. */
interface Held {
  /** Aborted when another process has taken it. */
  lost: AbortController;
  isWanted: boolean;
  /** Reading has ended, and its lease is given back. */
  isLeft: boolean;
  behindMs: number;
  ended: Promise<void>;
}

class Reading {
  readonly #stream: KinesisStream;
  readonly #host: SourceHost;
  readonly #inTurn = createSlots(SHARDS_AT_ONCE);
  /** By the key of their checkpoints. */
  readonly #held = new Map<string, Held>();
  /** As they were last listed. */
  #shards: Shard[] = [];
  #wake: () => void = () => {};
  /** Apart from the rounds: the service may take longer to list its shards than a lease lasts. */
  readonly #renewing = repeat(RENEW_MS, () => this.#renew());
  /** Aborted with what ended the reading of a shard. */
  readonly #failed = new AbortController();

  constructor(stream: KinesisStream, host: SourceHost) {
    this.#stream = stream;
    this.#host = host;
    host.lag(() => ({
      messages: null,
      seconds: Math.max(0, ...[...this.#held.values()].map(({ behindMs }) => behindMs)) / 1000,
    }));
  }

  /** @throws what ended the reading of a shard */
  async untilEnd(): Promise<void> {
    const { signal } = this.#host;
    try {
      while (!signal.aborted) {
        this.#failed.signal.throwIfAborted();
        const woken = new Promise<void>((resolve) => {
          this.#wake = resolve;
        });
        await this.#round();
        const waiting = new AbortController();
        const either = AbortSignal.any([signal, waiting.signal]);
        await Promise.race([woken, pause(ROUND_MS, undefined, { signal: either }).catch(() => {})]); // it ends
        waiting.abort();
      }
    } finally {
      this.#renewing.stop();
    }
  }

  async #renew(): Promise<void> {
    const held = [...this.#held].filter(([, { isLeft }]) => !isLeft);
    const kept = new Set(
      await this.#host.claimSome(
        held.map(([key]) => key),
        held.length,
      ),
    );
    for (const [key, { lost }] of held) if (!kept.has(key)) lost.abort(new Error('another process has taken it'));
  }

  /** Leaves every shard to others; those that end by themselves too are left when this resolves. */
  async leave(): Promise<void> {
    const held = [...this.#held];
    for (const [, { lost }] of held) lost.abort(new Error('reading ends'));
    await Promise.all(held.map(([, { ended }]) => ended));
  }

  /** Leaves shards that are more than this process's share, and takes others up to it. */
  async #round(): Promise<void> {
    const { id } = this.#stream;
    const [readable, readers] = await Promise.all([this.#readable(), this.#host.readers()]);
    this.#host.isReading();
    const share = Math.ceil(readable.size / Math.max(1, readers));
    const wanted = [...this.#held.values()].filter(({ isWanted }) => isWanted);
    for (const each of wanted.slice(share)) each.isWanted = false;
    const free = [...readable.keys()].filter((key) => !this.#held.has(key));
    if (free.length === 0 || wanted.length >= share) return;
    for (const key of await this.#host.claimSome(free, share - wanted.length))
      this.#take(key, key.slice(id.length + 1), await this.#placeOf(key));
  }

  /** Keys of shards that are not read to their end, and whose parents are. */
  async #readable(): Promise<Set<string>> {
    const { id: stream } = this.#stream;
    const keyOf = (shard: string) => `${stream}/${shard}`;
    // Before the shards: what another process has stored of one that was not listed yet is none of a removed one.
    const stored = await this.#host.checkpoints(namePrefixOf(this.#stream));
    const listed = await this.#stream.shards().catch((error: unknown) => {
      if (error instanceof Throttled) return undefined;
      throw error;
    });
    if (listed) this.#shards = listed;
    const unread = new Set(this.#shards.map(({ id }) => keyOf(id)));
    if (listed) await this.#dropRemoved(stored.filter(({ key }) => !unread.has(key)));
    for (const { key, value } of stored) if ('isEnd' in (value as unknown as ShardProgress)) unread.delete(key);
    // A parent that is no longer listed has nothing left.
    const readable = this.#shards.filter(
      ({ id, parents }) => unread.has(keyOf(id)) && !parents.some((each) => unread.has(keyOf(each))),
    );
    return new Set(readable.map(({ id }) => keyOf(id)));
  }

  /** Of shards that are no longer listed, and of a stream that had this name before. */
  async #dropRemoved(checkpoints: readonly Checkpoint[]): Promise<void> {
    for (const { key, value } of checkpoints) {
      if (this.#held.has(key)) continue; // whoever reads it finds out
      await whileHeld(this.#host, key, async () => {
        if (!('isEnd' in value)) this.#host.log.warn({ shard: key }, 'a shard is gone before it was read to its end');
        await this.#host.drop(key);
      });
    }
  }

  /** Read after the shard was claimed, so that it is what the process before has stored. */
  async #placeOf(key: string): Promise<ShardProgress | undefined> {
    const found = (await this.#host.checkpoints(key)).find((each) => each.key === key);
    const value = found?.value as unknown as Partial<ShardPlace> | { isEnd: true } | undefined;
    return value && ('isEnd' in value || typeof value.sequence === 'string') ? (value as ShardProgress) : undefined;
  }

  #take(key: string, shard: string, place: ShardProgress | undefined): void {
    const lost = new AbortController();
    const held: Held = { lost, isWanted: true, isLeft: false, behindMs: 0, ended: Promise.resolve() };
    const signal = AbortSignal.any([this.#host.signal, lost.signal]);
    const from = place && !('isEnd' in place) ? place : undefined;
    const isEnded = place !== undefined && 'isEnd' in place;
    this.#held.set(key, held);
    const reading = isEnded
      ? Promise.resolve(true)
      : readShard({
          host: this.#host,
          stream: this.#stream,
          shard,
          key,
          from,
          signal,
          isWanted: () => held.isWanted && !signal.aborted,
          inTurn: this.#inTurn,
          behind(ms) {
            held.behindMs = ms;
          },
        });
    held.ended = reading
      .then(
        () => {},
        (error: unknown) => {
          if (!signal.aborted) this.#failed.abort(error);
        },
      )
      .then(async () => {
        held.isLeft = true;
        await this.#renewing.settled(); // one under way would take the lease again
        await this.#host.release(key).catch(() => {}); // it ends by itself
        this.#held.delete(key);
        this.#wake();
      });
  }
}
