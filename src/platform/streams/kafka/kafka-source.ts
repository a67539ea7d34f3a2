import { setMaxListeners } from 'node:events';
import { setTimeout as pause } from 'node:timers/promises';
import type { Admin, Consumer, ConsumerEndBatchProcessEvent, EachBatchPayload, KafkaMessage } from 'kafkajs';
import { type SourceHost, SourceTrouble, type StreamSource } from '../source.ts';
import { isRebalance, kafkaClient, troubleOf } from './client.ts';
import { beginFetch, TooMuchAtOnce } from './codecs.ts';
import { type DeadLetterTopic, openDeadLetterTopic } from './dead-letter-topic.ts';
import { AHEAD_BYTES, HandedOver } from './handed-over.ts';
import { messageOf, timeOf } from './kafka-message.ts';
import { type Assignment, keyOf, type Place, Positions } from './positions.ts';
import type { KafkaSettings } from './settings.ts';

/** How much a broker may answer at once, and of it of a partition. */
const FETCH_BYTES = 2 * 1024 * 1024;
const PARTITION_BYTES = 1024 * 1024;
/** Partitions whose messages are handed over at the same time. */
const PARTITIONS_AT_ONCE = 4;
/** How many messages of a partition are handed over together. */
const SLICE = 1000;
/** How often the group hears of this process while messages wait to be stored. */
const HEARTBEAT_MS = 1000;
/** How long messages that are being stored delay a rebalance. */
const FINISH_WITHIN_MS = 5000;
const COMMIT_EVERY_MS = 5000;
const POLL_MS = 500;
/** How long leaving the group may take, while a broker may be away. */
const LEAVE_WITHIN_MS = 5000;

/**
 * Topics of a Kafka cluster, read in a consumer group: any number of processes share their partitions.
 *
 * Offsets are stored with the events, and read from there when a partition is assigned; those of the group are
 * committed afterwards, for those who look at it. While some messages are stored the next ones are fetched, until as
 * many wait as may.
 *
 * Rule: streams.md#kafka.
 */
export function openKafka(settings: KafkaSettings & { group: string }): StreamSource {
  let isOneAtATime = false;
  return {
    async run(host) {
      try {
        await read(settings, host, isOneAtATime);
      } catch (error) {
        if (host.signal.aborted) return;
        const trouble = troubleOf(error, settings);
        isOneAtATime ||= trouble instanceof TooMuchAtOnce;
        throw trouble;
      }
    },
  };
}

async function read(
  settings: KafkaSettings & { group: string },
  host: SourceHost,
  isOneAtATime: boolean,
): Promise<void> {
  const { group } = settings;
  const kafka = kafkaClient(settings, host.log);
  const admin = kafka.admin();
  const consumer = kafka.consumer({
    groupId: group,
    sessionTimeout: settings.session_timeout_seconds * 1000,
    maxWaitTimeInMs: POLL_MS,
    // A broker answers at least one batch, however large.
    maxBytes: isOneAtATime ? 1 : FETCH_BYTES,
    maxBytesPerPartition: isOneAtATime ? 1 : PARTITION_BYTES,
    allowAutoTopicCreation: false,
  });
  const deadLetters = settings.dead_letter_topics ? openDeadLetterTopic(kafka, settings, host.log) : undefined;
  try {
    await admin.connect();
    await demandTopics(admin, settings.topics);
    await dropRemoved(admin, settings.topics, host);
    await consumer.connect();
    await consumer.subscribe({ topics: settings.topics, fromBeginning: settings.start === 'earliest' });
    await new Reading({ consumer, admin, group, host, deadLetters }).untilEnd();
  } finally {
    const left = Promise.allSettled([consumer.disconnect(), admin.disconnect(), deadLetters?.close()]);
    await Promise.race([left, pause(LEAVE_WITHIN_MS, undefined, { ref: false })]);
  }
}

/** @throws SourceTrouble that names the topics that are missing: joining the group would make or await them */
async function demandTopics(admin: Admin, topics: readonly string[]): Promise<void> {
  const known = new Set(await admin.listTopics());
  const missing = topics.filter((topic) => !known.has(topic));
  if (missing.length > 0) throw new SourceTrouble(`the topics are missing: ${missing.join(', ')}`);
}

/** Forgets how far partitions were read that their topic no longer has: it was made anew with fewer of them. */
async function dropRemoved(admin: Admin, topics: string[], host: SourceHost): Promise<void> {
  const { topics: found } = await admin.fetchTopicMetadata({ topics });
  const known = new Set(
    found.flatMap(({ name, partitions }) =>
      partitions.map(({ partitionId }) => keyOf({ topic: name, partition: partitionId })),
    ),
  );
  for (const { key } of await host.checkpoints(''))
    if (topics.includes(key.slice(0, key.lastIndexOf('/'))) && !known.has(key)) await host.drop(key);
}

interface ReadingInput {
  consumer: Consumer;
  admin: Admin;
  group: string;
  host: SourceHost;
  deadLetters: DeadLetterTopic | undefined;
}

/** One membership in the group, over all its rebalances. */
class Reading {
  readonly #consumer: Consumer;
  readonly #host: SourceHost;
  readonly #positions: Positions;
  readonly #deadLetters: DeadLetterTopic | undefined;
  /** Resolves when it is known from where the assigned partitions are read. */
  #assigned: Promise<void> = Promise.resolve();
  /** Aborted when the group rebalances or the source ends: what waits is left to whoever reads it next. */
  #membership = new AbortController();
  readonly #handedOver = new HandedOver();
  #committedAt = 0;
  #fail: (error: unknown) => void = () => {};

  constructor({ consumer, admin, group, host, deadLetters }: ReadingInput) {
    this.#consumer = consumer;
    this.#host = host;
    this.#positions = new Positions(admin, group);
    this.#deadLetters = deadLetters;
  }

  /** Reads until the host's signal is aborted. @throws what ended the consumer */
  async untilEnd(): Promise<void> {
    const { signal } = this.#host;
    this.#consumer.on('consumer.group_join', ({ payload }) => this.#join(payload.memberAssignment));
    this.#consumer.on('consumer.end_batch_process', ({ payload }) => this.#pass(payload));
    this.#consumer.on('consumer.fetch_start', beginFetch);
    this.#consumer.on('consumer.rebalancing', () => this.#membership.abort(new Error('the group rebalances')));
    let stop = () => {};
    const ended = new Promise<void>((resolve, reject) => {
      stop = resolve;
      this.#fail = reject;
      this.#consumer.on('consumer.crash', ({ payload }) => reject(payload.error));
    });
    ended.catch(() => {}); // met below
    signal.addEventListener('abort', stop, { once: true });
    this.#host.lag(() => this.#positions.lag(this.#host));
    try {
      if (signal.aborted) return;
      await this.#consumer.run({
        autoCommit: false,
        eachBatchAutoResolve: false,
        partitionsConsumedConcurrently: PARTITIONS_AT_ONCE,
        eachBatch: (payload) => this.#take(payload),
      });
      await ended;
      // Nothing new is stored, and what is in a transaction ends.
      await Promise.race([this.#handedOver.ended(), pause(FINISH_WITHIN_MS, undefined, { ref: false })]);
      await this.#commit(true);
    } finally {
      signal.removeEventListener('abort', stop);
      this.#membership.abort(new Error('reading ends'));
    }
  }

  #join(assignment: Assignment): void {
    this.#membership.abort(new Error('the group has rebalanced'));
    this.#membership = new AbortController();
    setMaxListeners(0, this.#membership.signal); // everything that was handed over listens
    const assigned = this.#positions.assign(assignment, this.#host).then((sought) => {
      for (const place of sought) this.#consumer.seek(place);
      this.#host.isReading();
    });
    this.#assigned = assigned;
    // Without a message nobody waits for it, and nothing would say what is wrong.
    assigned.catch((error: unknown) => {
      if (this.#assigned === assigned) this.#fail(error);
    });
  }

  /**
   * A fetch that holds nothing for anybody never comes to `#take`. Where nothing lies at the place it tells nothing.
   */
  #pass({ topic, partition, batchSize, firstOffset, lastOffset }: ConsumerEndBatchProcessEvent['payload']): void {
    const isEmpty = (firstOffset as string | null) === null;
    if (batchSize === 0 && !isEmpty) this.#positions.passed({ topic, partition }, BigInt(lastOffset) + 1n);
  }

  /** A fetch of one partition: returns when all of it is handed over, or is to be read again. */
  async #take({ batch, heartbeat, resolveOffset, isRunning, isStale }: EachBatchPayload): Promise<void> {
    const { topic, partition, messages } = batch;
    const place = { topic, partition };
    await this.#beating(this.#assigned, heartbeat);
    const membership = this.#membership.signal;
    const next = this.#positions.nextOf(place);
    if (next === undefined || messages.length === 0) return;
    if (BigInt(messages[0]!.offset) < next) {
      await this.#beating(this.#handedOver.ended(), heartbeat);
      const from = await this.#beating(this.#positions.resume(place, this.#host), heartbeat);
      if (from !== undefined) this.#consumer.seek({ ...place, offset: String(from) });
      return;
    }
    for (let from = 0; from < messages.length; from += SLICE) {
      await this.#beating(this.#handedOver.room(), heartbeat);
      // What was handed over before may be left unstored then: nothing behind it may be stored either.
      if (!isRunning() || isStale() || membership.aborted || this.#host.signal.aborted) return;
      const slice = messages.slice(from, from + SLICE);
      this.#handOver(place, slice, membership);
      resolveOffset(slice.at(-1)!.offset);
    }
    this.#positions.passed(place, BigInt(batch.lastOffset()) + 1n);
    // What unpacks to much is in memory as long as any of it waits.
    if (bytesOf(messages) > AHEAD_BYTES) await this.#beating(this.#handedOver.ended(), heartbeat);
    await this.#commit();
    await this.#beat(heartbeat);
  }

  /** Messages are stored in their order while the next ones are fetched. */
  #handOver(place: Place, records: readonly KafkaMessage[], membership: AbortSignal): void {
    const nowMs = this.#host.now().epochMilliseconds;
    const behind = BigInt(records.at(-1)!.offset) + 1n;
    this.#positions.handed(place, behind, timeOf(records[0]!, nowMs));
    const delivered = this.#host.deliver(
      records.map((record) => messageOf(place, record, nowMs)),
      membership,
    );
    const work = delivered.then(async ({ putAside }) => {
      if (!membership.aborted) this.#positions.stored(place, behind, timeOf(records.at(-1)!, nowMs));
      await this.#deadLetters?.write(putAside);
    });
    this.#handedOver.add(work, records.length, bytesOf(records));
    // When the group or the source ends, what is not stored is read again.
    work.catch((error: unknown) => {
      if (!membership.aborted && !this.#host.signal.aborted) this.#fail(error);
    });
  }

  /**
   * Waits for work while the group hears that this process lives.
   *
   * @throws the error of the heartbeat, upon which the library joins again
   */
  async #beating<Result>(work: Promise<Result>, heartbeat: () => Promise<void>): Promise<Result> {
    for (;;) {
      const beat = new AbortController();
      const isDone = await Promise.race([
        work.then(
          () => true,
          () => true,
        ),
        pause(HEARTBEAT_MS, false, { signal: beat.signal }).catch(() => false), // the work is done
      ]);
      beat.abort();
      if (isDone) return work;
      await this.#beat(heartbeat);
    }
  }

  /** @throws the error of the heartbeat; before that, when the group rebalances, what is being stored may end */
  async #beat(heartbeat: () => Promise<void>): Promise<void> {
    try {
      await heartbeat();
    } catch (error) {
      if (isRebalance(error)) await this.#finish();
      throw error;
    }
  }

  async #finish(): Promise<void> {
    const work = this.#handedOver.ended();
    await Promise.race([work, pause(FINISH_WITHIN_MS, undefined, { signal: this.#host.signal })]).catch(
      () => {}, // the source ends
    );
    await this.#commit(true);
    this.#membership.abort(new Error('the group rebalances'));
  }

  /** Tells the group what is stored, now and then. */
  async #commit(isNow = false): Promise<void> {
    const now = performance.now();
    const offsets = this.#positions.offsets();
    if (offsets.length === 0 || (!isNow && now - this.#committedAt < COMMIT_EVERY_MS)) return;
    this.#committedAt = now;
    // Events and offsets are stored together; the group's copy is for those who look at it.
    await this.#consumer.commitOffsets(offsets).catch(() => {});
  }
}

const bytesOf = (records: readonly KafkaMessage[]): number =>
  records.reduce((sum, { value }) => sum + (value?.length ?? 0), 0);
