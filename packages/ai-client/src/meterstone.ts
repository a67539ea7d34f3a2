import { currentContext, type Properties } from './context.ts';
import type { Hold } from './hold.ts';
import { Sender, type SpoolRecord, type UsageRecord } from './sender.ts';
import { Spool } from './spool.ts';

const MAX_BYTES = 64 * 1024 * 1024;
const CLOSE_MS = 5000;

export interface MeterstoneOptions {
  /** Base URL of the API, such as `https://billing.example.com/api/v1`. */
  url: string;
  key: string;
  /** Folder of this process alone, in which usage waits until it is stored. */
  dir: string;
  /** Bytes that may wait; default 64 MiB. */
  maxBytes?: number;
  /** When they do: usage is dropped, counted and told, or metered calls are refused before they are made. */
  onFull?: 'drop_newest' | 'throw';
  /** Told of a call whose usage is not reported. */
  onLoss?(loss: { reason: 'full' | 'unknown_usage'; lost: number }): void;
  /** Told of failures that are tried again. */
  onError?(error: unknown): void;
  fetch?: typeof fetch;
}

export interface Stats {
  stored: number;
  replayed: number;
  ignored: number;
  /** In `rejected.ndjson` of the folder. */
  rejected: number;
  /** Calls that were not reported. */
  lost: number;
  /** Lines that a killed process left unfinished. */
  torn: number;
  waitingBytes: number;
}

/** What a call used, as its provider reported it. */
export interface CallUsage {
  format: string;
  body: unknown;
  provider?: string | undefined;
  model?: string | undefined;
  /** The answer has an id of its own. */
  hasId: boolean;
  isBroken?: boolean;
}

/** What holds for calls that begin in a context. */
export interface Begun {
  subscription: string | undefined;
  properties: Properties;
  hold: Hold | undefined;
}

/** A connection to the service; a process has one. */
export interface Meterstone {
  readonly options: Required<Pick<MeterstoneOptions, 'url' | 'key' | 'fetch'>>;
  /** What is known of a call that begins. @throws Error where the spool is full and calls are to be refused */
  begin(defaults: { subscription?: string; properties?: Properties }): Begun;
  /** Reports a call; undefined usage: nothing is known. Never throws. */
  end(begun: Begun, usage: CallUsage | undefined): void;
  /** Sends a request about a hold, later if need be. */
  later(path: string, body: object): void;
  stats(): Stats;
  /** Writes what was reported to the disk. */
  flush(): Promise<void>;
  /** Sends what waits, for at most five seconds; the rest waits on the disk for the next process. */
  close(): Promise<void>;
}

/** Opens the folder, and goes on to send what an earlier process has left there. */
export function openMeterstone(options: MeterstoneOptions): Meterstone {
  const { url, key, dir, maxBytes = MAX_BYTES, onFull = 'drop_newest' } = options;
  const counts = { stored: 0, replayed: 0, ignored: 0, rejected: 0, lost: 0 };
  const onError = (error: unknown): void => quietly(() => options.onError?.(error));
  const used = options.fetch ?? fetch;
  const spool = new Spool({ dir, maxBytes, onFlushed: () => sender.start(), onError });
  const sender: Sender = new Sender({
    url: url.replace(/\/+$/, ''),
    key,
    fetch: used,
    spool,
    count: (result) => {
      counts[result] += 1;
    },
    onError,
  });
  sender.start();

  const lose = (reason: 'full' | 'unknown_usage'): void => {
    counts.lost += 1;
    quietly(() => options.onLoss?.({ reason, lost: counts.lost }));
  };
  const add = (record: SpoolRecord): boolean => {
    try {
      return spool.add(record);
    } catch (error) {
      onError(error);
      return false;
    }
  };

  return {
    options: { url: url.replace(/\/+$/, ''), key, fetch: used },
    begin(defaults) {
      if (onFull === 'throw' && spool.isFull) throw new Error('usage of models that is not sent yet fills its folder');
      const { subscription = defaults.subscription, properties, hold } = currentContext();
      return { subscription, properties: { ...defaults.properties, ...properties }, hold: hold?.take() };
    },
    end(begun, usage) {
      if (usage) {
        if (!add({ usage: usageRecord(begun, usage) })) lose('full');
        // The room that a hold leaves is wanted by the next call.
        if (begun.hold) void spool.flush();
      } else {
        lose('unknown_usage');
        const { hold } = begun;
        if (hold) this.later(`/budget_holds/${pathOf(hold)}/settle`, { hold: { amount: hold.amount ?? '0' } });
      }
    },
    later(path, body) {
      add({ path, body });
      void spool.flush();
    },
    stats: () => ({ ...counts, torn: spool.torn, waitingBytes: spool.bytes }),
    flush: () => spool.flush(),
    async close() {
      const untilMs = Date.now() + CLOSE_MS;
      await spool.flush();
      await sender.stop(untilMs);
    },
  };
}

export const pathOf = ({ key }: Hold): string => `key:${encodeURIComponent(key)}`;

/** Time and id are fixed now, so that it is stored once, however often it is sent. */
function usageRecord({ subscription, properties, hold }: Begun, usage: CallUsage): UsageRecord {
  const { format, body, provider, model, hasId, isBroken } = usage;
  return {
    format,
    body,
    timestamp: Date.now() / 1000,
    ...(provider === undefined ? {} : { provider }),
    ...(model === undefined ? {} : { model }),
    ...(hasId ? {} : { transaction_id: `call:${crypto.randomUUID()}` }),
    ...(subscription === undefined ? {} : { external_subscription_id: subscription }),
    properties: { ...properties, ...(isBroken ? { stream_broken: true } : {}) },
    ...(hold ? { hold_key: hold.key } : {}),
  };
}

/** What the host is told must not break its calls. */
function quietly(tell: () => void): void {
  try {
    tell();
  } catch {
    // The host's own fault, of which it knows.
  }
}
