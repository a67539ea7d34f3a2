import { setTimeout as pause } from 'node:timers/promises';
import type { Delivered, PutAside, StreamMessage } from '../../../platform/streams/source.ts';
import type { Outcome } from './store-messages.ts';

/** How many messages may wait before a source has to stop reading. */
export const MOST_WAITING = 10_000;
/** How long it waits after a failure to store: doubled up to the longest. */
const FIRST_PAUSE_MS = 1000;
const LONGEST_PAUSE_MS = 60_000;

/** Messages that are ready to be stored in one transaction. */
interface Ready {
  /** How many of the messages that were given, from the first one. */
  taken: number;
}

interface IntakeInput<Read extends Ready> {
  /** Makes messages ready, as many as share a transaction, from the first one. */
  read(messages: readonly StreamMessage[]): Promise<Read>;
  /** Stores what was made ready in one transaction. */
  store(read: Read): Promise<Outcome>;
  /** Called when messages could not be stored, before they are tried again. */
  onFailure(error: unknown): void;
  onStored(outcome: Outcome, seconds: number): void;
  /** Aborted when nothing more is to be stored. */
  signal: AbortSignal;
}

/** Messages on their way to the database. */
export interface Intake {
  deliver(messages: readonly StreamMessage[], until?: AbortSignal): Promise<Delivered>;
  room(): Promise<void>;
  /** How many messages wait. */
  waiting(): number;
  /** Resolves when no transaction is open. */
  idle(): Promise<void>;
}

interface Delivery {
  messages: readonly StreamMessage[];
  /** How many of them are stored, and how many are in a transaction or stored. */
  stored: number;
  putAside: PutAside[];
  settled: boolean;
  resolve(delivered: Delivered): void;
  reject(reason: unknown): void;
}

/** How many messages are looked at for one transaction. */
const MOST_AT_ONCE = 1000;

/** Messages of one transaction, and what they become. */
interface Lot<Read> {
  messages: readonly StreamMessage[];
  read: Promise<Read>;
}

/**
 * Gathers the messages of all parts of a source: while a transaction runs, the next ones wait and then share one; where
 * they would fill it, they are made ready meanwhile. No timer: at low rates a message is stored at once. One
 * transaction at a time, so that messages are stored in the order in which they came. A failed transaction is tried
 * again for as long as it takes.
 *
 * Rule: streams.md#storing.
 */
export function createIntake<Read extends Ready>(input: IntakeInput<Read>): Intake {
  const { read, store, onFailure, onStored, signal } = input;
  let deliveries: Delivery[] = [];
  /** How many messages of them are not stored yet. */
  let waiting = 0;
  /** How many messages the open transaction holds; undefined while none is open. */
  let inTransaction: number | undefined;
  let ahead: Lot<Read> | undefined;
  let running: Promise<void> | undefined;
  const roomWaiters: (() => void)[] = [];
  const openRoom = () => {
    if (waiting >= MOST_WAITING && !signal.aborted) return;
    for (const resolve of roomWaiters.splice(0)) resolve();
  };

  /** The first messages that wait, behind so many. */
  const next = (behind = 0): StreamMessage[] => {
    const messages: StreamMessage[] = [];
    let left = behind;
    for (const { messages: all, stored } of deliveries) {
      if (messages.length >= MOST_AT_ONCE) break;
      const from = Math.min(stored + left, all.length);
      left -= from - stored;
      messages.push(...all.slice(from, from + MOST_AT_ONCE - messages.length));
    }
    return messages;
  };

  const lotOf = (messages: readonly StreamMessage[]): Lot<Read> => {
    const lot = { messages, read: read(messages) };
    lot.read.catch(() => {}); // met when it is to be stored
    return lot;
  };

  const readAhead = () => {
    if (inTransaction === undefined || ahead || waiting < inTransaction + MOST_AT_ONCE) return;
    ahead = lotOf(next(inTransaction));
  };

  /** What is stored next; what was made ready, unless some of it is no longer wanted. */
  const nextLot = (): Lot<Read> => {
    const messages = next();
    const lot = ahead;
    ahead = undefined;
    return lot?.messages.every((message, index) => message === messages[index]) ? lot : lotOf(messages);
  };

  /** Marks messages as stored, in the order in which they were taken. */
  const mark = (messages: readonly StreamMessage[], putAside: readonly PutAside[]) => {
    const reasons = new Map(putAside.map((each) => [each.message, each]));
    const stored = new Set(messages);
    for (const delivery of deliveries) {
      while (delivery.stored < delivery.messages.length && stored.has(delivery.messages[delivery.stored]!)) {
        const found = reasons.get(delivery.messages[delivery.stored]!);
        if (found) delivery.putAside.push(found);
        delivery.stored += 1;
        waiting -= 1;
      }
      if (delivery.stored === delivery.messages.length) settle(delivery);
    }
    deliveries = deliveries.filter(({ settled }) => !settled);
    openRoom();
  };

  const settle = (delivery: Delivery) => {
    delivery.settled = true;
    delivery.resolve({ putAside: delivery.putAside });
  };

  async function run(): Promise<void> {
    let pauseMs = FIRST_PAUSE_MS;
    while (deliveries.length > 0 && !signal.aborted) {
      const from = performance.now();
      try {
        const lot = nextLot();
        const ready = await lot.read;
        inTransaction = ready.taken;
        const storing = store(ready);
        readAhead();
        const outcome = await storing;
        inTransaction = undefined;
        onStored(outcome, (performance.now() - from) / 1000);
        mark(lot.messages.slice(0, outcome.taken), outcome.putAside);
        pauseMs = FIRST_PAUSE_MS;
      } catch (error) {
        inTransaction = undefined;
        ahead = undefined;
        onFailure(error);
        await pause(pauseMs, undefined, { signal }).catch(() => {}); // aborted: the loop ends
        pauseMs = Math.min(2 * pauseMs, LONGEST_PAUSE_MS);
      }
    }
    running = undefined;
    if (!signal.aborted) return;
    waiting = 0;
    for (const { reject } of deliveries.splice(0)) reject(signal.reason);
    openRoom();
  }

  return {
    deliver(messages, until) {
      if (messages.length === 0) return Promise.resolve({ putAside: [] });
      if (signal.aborted) return Promise.reject(signal.reason);
      if (until?.aborted) return Promise.reject(until.reason);
      return new Promise<Delivered>((resolve, reject) => {
        const delivery: Delivery = { messages, stored: 0, putAside: [], settled: false, resolve, reject };
        const leave = () => {
          delivery.settled = true;
          waiting -= messages.length - delivery.stored;
          deliveries = deliveries.filter((each) => each !== delivery);
          openRoom();
          reject(until!.reason);
        };
        until?.addEventListener('abort', leave, { once: true });
        const ended = <Value>(then: (value: Value) => void) => {
          return (value: Value) => {
            until?.removeEventListener('abort', leave);
            then(value);
          };
        };
        delivery.resolve = ended(resolve);
        delivery.reject = ended(reject);
        deliveries.push(delivery);
        waiting += messages.length;
        readAhead();
        running ??= run();
      });
    },
    async room() {
      while (waiting >= MOST_WAITING && !signal.aborted) {
        await new Promise<void>((resolve) => roomWaiters.push(resolve));
      }
    },
    waiting: () => waiting,
    idle: async () => running,
  };
}
