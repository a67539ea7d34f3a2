import type { Admin } from 'kafkajs';
import type { Lag, SourceHost } from '../source.ts';

/** A partition of a topic. */
export interface Place {
  topic: string;
  partition: number;
}

/** Partitions by topic, as the library tells an assignment. */
export type Assignment = Readonly<Record<string, readonly number[]>>;

export const keyOf = ({ topic, partition }: Place): string => `${topic}/${partition}`;

/** Messages that were handed over together. */
interface Waiting {
  /** The offset behind the last of them. */
  behind: bigint;
  /** The same, or behind what follows them and is no message for anybody. */
  end: bigint;
  /** Time of the first of them. */
  sinceMs: number;
}

/** Where a partition is read from, and how far. */
interface Position extends Place {
  /** First offset that is not stored. */
  next: bigint;
  /** First offset that was not handed over. */
  taken: bigint;
  /** What was handed over and is not stored, in its order. */
  waiting: Waiting[];
  /** Time of the newest stored message, in milliseconds since 1970. */
  storedUpToMs: number | null;
  /** When it was last seen that nothing was left to be read: what there is now is younger, as is the lag. */
  readToEndMs: number | null;
}

/** Offset of the oldest message of a partition, and the one behind its newest. */
interface End {
  low: bigint;
  high: bigint;
}

/** A position where nothing was read yet. */
const startAt = (next: bigint) => ({ next, taken: next, waiting: [], storedUpToMs: null, readToEndMs: null });

/** What a group has committed where it has committed nothing. */
const NOTHING = -1n;

/** How far the assigned partitions were read. */
export class Positions {
  readonly #positions = new Map<string, Position>();
  readonly #admin: Admin;
  readonly #group: string;

  constructor(admin: Admin, group: string) {
    this.#admin = admin;
    this.#group = group;
  }

  /**
   * Reads where each assigned partition goes on: at the larger of the offset that is stored with the events and the one
   * that the group has committed. One behind the partition's end is of a topic that was made anew, which is read from
   * its begin; one before its begin means that messages were removed there before they were read.
   *
   * @returns places that are to be sought, since the group would go on elsewhere
   */
  async assign(assignment: Assignment, host: SourceHost): Promise<(Place & { offset: string })[]> {
    const topics = Object.keys(assignment).filter((topic) => assignment[topic]!.length > 0);
    const [stored, ends, committed] = await Promise.all([
      host.checkpoints(''),
      this.#ends(topics),
      topics.length === 0 ? [] : this.#admin.fetchOffsets({ groupId: this.#group, topics }),
    ]);
    const storedNext = new Map(
      stored.map(({ key, value }) => [key, typeof value.next === 'string' ? BigInt(value.next) : NOTHING]),
    );
    const committedNext = new Map(
      committed.flatMap(({ topic, partitions }) =>
        partitions.map(({ partition, offset }) => [keyOf({ topic, partition }), BigInt(offset)] as const),
      ),
    );
    this.#positions.clear();
    const sought: (Place & { offset: string })[] = [];
    for (const topic of topics) {
      for (const partition of assignment[topic]!) {
        const key = keyOf({ topic, partition });
        const end = ends.get(key);
        const isPast = (offset: bigint) => end !== undefined && offset > end.high;
        const own = storedNext.get(key) ?? NOTHING;
        const theirs = committedNext.get(key) ?? NOTHING;
        if (isPast(own)) await this.#forget({ topic, partition }, own, end!, host);
        let next = [own, theirs].reduce((most, offset) => (offset > most && !isPast(offset) ? offset : most), NOTHING);
        if (next === NOTHING && (isPast(own) || isPast(theirs))) next = end!.low;
        if (end && next !== NOTHING && next < end.low) {
          host.log.warn(
            { partition: key, next: String(next), begin: String(end.low) },
            'messages were not read in time',
          );
          next = end.low;
        }
        if (next > theirs || isPast(theirs)) sought.push({ topic, partition, offset: String(next) });
        this.#positions.set(key, { topic, partition, ...startAt(next) });
      }
    }
    return sought;
  }

  async #forget(place: Place, stored: bigint, { high }: End, { log, forget }: SourceHost): Promise<void> {
    log.warn({ partition: keyOf(place), stored: String(stored), end: String(high) }, 'a topic was made anew');
    await forget(keyOf(place));
  }

  /**
   * Where a partition goes on whose messages came from before what is stored of it: there; or, where its end lies
   * before that, at the begin of a topic that was made anew while it was read.
   */
  async resume(place: Place, host: SourceHost): Promise<bigint | undefined> {
    const position = this.#positions.get(keyOf(place));
    const end = (await this.#ends([place.topic])).get(keyOf(place));
    if (position && end && position.next > end.high) {
      await this.#forget(place, position.next, end, host);
      Object.assign(position, startAt(end.low));
    }
    return position?.next;
  }

  /** Whether a partition is still assigned, and from which offset on nothing of it was handed over. */
  nextOf(place: Place): bigint | undefined {
    return this.#positions.get(keyOf(place))?.taken;
  }

  /** Messages up to before an offset are handed over; the first of them has a time. */
  handed(place: Place, behind: bigint, sinceMs: number): void {
    const position = this.#positions.get(keyOf(place));
    if (!position) return;
    position.waiting.push({ behind, end: behind, sinceMs });
    position.taken = behind;
  }

  /** Messages that were handed over are stored, and all before them. */
  stored(place: Place, behind: bigint, storedUpToMs: number): void {
    const position = this.#positions.get(keyOf(place));
    if (!position) return;
    while (position.waiting.length > 0 && position.waiting[0]!.behind <= behind)
      Object.assign(position, { next: position.waiting.shift()!.end, storedUpToMs });
  }

  /**
   * What lies before an offset, and was not handed over, is no message for anybody: marks of transactions, and what one
   * has taken back.
   */
  passed(place: Place, next: bigint): void {
    const position = this.#positions.get(keyOf(place));
    if (!position || next <= position.taken) return;
    position.taken = next;
    const last = position.waiting.at(-1);
    if (last) last.end = next;
    else position.next = next;
  }

  /** Offsets to commit in the group, for those who look there. */
  offsets(): (Place & { offset: string })[] {
    return [...this.#positions.values()].flatMap(({ topic, partition, next, storedUpToMs }) =>
      storedUpToMs === null ? [] : [{ topic, partition, offset: String(next) }],
    );
  }

  /** What the assigned partitions hold behind what is stored. */
  async lag(host: Pick<SourceHost, 'now'>): Promise<Lag> {
    const ends = await this.#ends([...new Set([...this.#positions.values()].map(({ topic }) => topic))]);
    const nowMs = host.now().epochMilliseconds;
    let messages = 0n;
    let seconds = 0;
    for (const [key, position] of this.#positions) {
      const { next, storedUpToMs, waiting, readToEndMs } = position;
      const end = ends.get(key);
      if (!end) continue;
      let from = next;
      if (from < end.low) from = end.low;
      const behind = end.high - from;
      if (behind <= 0n) {
        position.readToEndMs = nowMs;
        continue;
      }
      messages += behind;
      const sinceMs = waiting[0]?.sinceMs ?? laterOf(storedUpToMs, readToEndMs);
      if (sinceMs !== null) seconds = Math.max(seconds, (nowMs - sinceMs) / 1000);
    }
    return { messages: Number(messages), seconds };
  }

  async #ends(topics: readonly string[]): Promise<Map<string, End>> {
    const ends = await Promise.all(
      topics.map(async (topic) =>
        (await this.#admin.fetchTopicOffsets(topic)).map(
          ({ partition, low, high }) =>
            [keyOf({ topic, partition }), { low: BigInt(low), high: BigInt(high) }] as const,
        ),
      ),
    );
    return new Map(ends.flat());
  }
}

const laterOf = (one: number | null, other: number | null): number | null =>
  one === null || other === null ? (one ?? other) : Math.max(one, other);
