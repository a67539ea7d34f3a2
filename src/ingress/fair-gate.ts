import { refuse } from '../platform/refusal.ts';
import type { Ended } from './ending.ts';

export interface GateOptions {
  /** How many tasks of one key run at the same time. */
  perKey: number;
  /** How many tasks of all keys run at the same time. */
  atOnce?: number;
  /** Tasks of one key that may wait; further ones are refused. */
  waitingPerKey: number;
  /** Longest wait before a task is refused; absent means no limit. */
  waitsMs?: number;
  /** Called for each task that is refused because its key has too many. */
  onRefused?: (key: string) => void;
}

interface Lane {
  running: number;
  waiting: (() => void)[];
}

/**
 * Limits the tasks that run at the same time, for each key and in total. The rest waits, and waiting keys take turns,
 * so that a key with many tasks delays only itself.
 */
export class FairGate {
  readonly #options: GateOptions & { atOnce: number };
  /** Sorted by the time since their last turn; a key without tasks has no lane. */
  readonly #lanes = new Map<string, Lane>();
  #running = 0;

  constructor(options: GateOptions) {
    this.#options = { atOnce: Number.POSITIVE_INFINITY, ...options };
  }

  /**
   * Runs `work` at the turn of its key. If `signal` is aborted while it waits, it never runs.
   *
   * @throws Refusal 503, when too many of the key wait, or it has waited too long
   */
  async run<Value>(key: string, work: () => Promise<Value>, signal?: Ended): Promise<Value> {
    const leave = await this.enter(key, signal);
    try {
      return await work();
    } finally {
      leave();
    }
  }

  /** Waits for a place; the returned function frees it, and may be called more than once. */
  async enter(key: string, signal?: Ended): Promise<() => void> {
    if (signal?.aborted) throw refuse.unavailable();
    const lane = this.#lanes.get(key) ?? { running: 0, waiting: [] };
    this.#lanes.set(key, lane);
    if (this.#hasRoom(lane)) this.#start(lane);
    else await this.#turn(key, lane, signal);
    let isHeld = true;
    return () => {
      if (!isHeld) return;
      isHeld = false;
      this.#end(key, lane);
    };
  }

  #turn(key: string, lane: Lane, signal: Ended | undefined): Promise<void> {
    const { waitingPerKey, waitsMs, onRefused } = this.#options;
    if (lane.waiting.length >= waitingPerKey) {
      onRefused?.(key);
      throw refuse.unavailable();
    }
    return new Promise((resolve, reject) => {
      const begin = () => {
        stopWaiting();
        resolve();
      };
      const giveUp = () => {
        stopWaiting();
        lane.waiting.splice(lane.waiting.indexOf(begin), 1);
        if (lane.running === 0 && lane.waiting.length === 0) this.#lanes.delete(key);
        reject(refuse.unavailable());
      };
      const tooLong = () => {
        onRefused?.(key);
        giveUp();
      };
      const timer = waitsMs === undefined ? undefined : setTimeout(tooLong, waitsMs).unref();
      const stopWaiting = () => {
        clearTimeout(timer);
        signal?.removeEventListener('abort', giveUp);
      };
      lane.waiting.push(begin);
      signal?.addEventListener('abort', giveUp, { once: true });
    });
  }

  #hasRoom = (lane: Lane): boolean => lane.running < this.#options.perKey && this.#running < this.#options.atOnce;

  #start(lane: Lane): void {
    lane.running += 1;
    this.#running += 1;
  }

  #end(key: string, lane: Lane): void {
    lane.running -= 1;
    this.#running -= 1;
    // Other waiting tasks come before the next one of this key.
    this.#lanes.delete(key);
    if (lane.running > 0 || lane.waiting.length > 0) this.#lanes.set(key, lane);
    for (const each of this.#lanes.values()) {
      if (each.waiting.length === 0 || !this.#hasRoom(each)) continue;
      this.#start(each);
      each.waiting.shift()!();
      return;
    }
  }
}
