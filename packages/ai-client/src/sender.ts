import type { Spool } from './spool.ts';

const BATCH = 100;
const FIRST_WAIT_MS = 500;
const LONGEST_WAIT_MS = 60_000;
const ANSWER_MS = 30_000;
/** What is said of a request that one of its calls spoils; anything else says nothing about calls. */
const SPOILED: readonly number[] = [400, 413, 422];
/** Characters of a foreign page that are kept beside what it refused. */
const MOST_SHOWN = 500;

export type UsageRecord = Record<string, unknown>;
/** Usage of a call, or a request of its own about a hold. */
export type SpoolRecord = { usage: UsageRecord } | { path: string; body: object };

export interface SenderOptions {
  url: string;
  key: string;
  fetch: typeof fetch;
  spool: Spool;
  count(result: 'stored' | 'replayed' | 'ignored' | 'rejected'): void;
  onError(error: unknown): void;
}

interface Result {
  status: 'stored' | 'replayed' | 'ignored' | 'rejected';
  error_details?: Record<string, unknown>;
}

/** The service is away, or busy: the same is sent again later. */
class Again extends Error {
  readonly afterMs: number;

  constructor(message: string, afterMs: number) {
    super(message);
    this.afterMs = afterMs;
  }
}

/**
 * Sends what waits in a spool, in its order, until each record has a final result. What is sent twice counts once:
 * every record has its transaction id.
 */
export class Sender {
  readonly #options: SenderOptions;
  #sending: Promise<void> | undefined;
  #wake: (() => void) | undefined;
  #failures = 0;
  #isStopped = false;

  constructor(options: SenderOptions) {
    this.#options = options;
  }

  /** Begins to send, unless it does already. */
  start(): void {
    if (this.#isStopped) return;
    this.#sending ??= this.#sendAll().finally(() => {
      this.#sending = undefined;
    });
  }

  /** Resolves when nothing is left to send, or the time is over; nothing is sent afterwards. */
  async stop(untilMs: number): Promise<void> {
    this.#wake?.();
    this.start();
    const timer = new Promise<void>((resolve) => {
      setTimeout(resolve, Math.max(0, untilMs - Date.now())).unref();
    });
    while (this.#sending && Date.now() < untilMs) {
      await Promise.race([this.#sending, timer]);
      if (!this.#options.spool.isEmpty && Date.now() < untilMs) this.start();
    }
    this.#isStopped = true;
    this.#wake?.();
  }

  async #sendAll(): Promise<void> {
    while (!this.#isStopped) {
      try {
        const unsent = await this.#options.spool.oldest();
        if (!unsent) return;
        await this.#sendRecords(unsent.records as { record: SpoolRecord; end: number }[]);
        this.#failures = 0;
      } catch (error) {
        if (!(error instanceof Again)) this.#options.onError(error);
        await this.#pause(error instanceof Again ? error.afterMs : 0);
      }
    }
  }

  /** 0.5 to 60 s, doubled by each failure, with jitter; or as long as the service asks for. */
  async #pause(afterMs: number): Promise<void> {
    const most = Math.min(LONGEST_WAIT_MS, FIRST_WAIT_MS * 2 ** this.#failures);
    this.#failures += 1;
    const waitMs = Math.max(afterMs, most * (0.5 + Math.random() / 2));
    await new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, waitMs);
      timer.unref(); // the host's process does not wait for it
      this.#wake = () => {
        clearTimeout(timer);
        resolve();
      };
    });
    this.#wake = undefined;
  }

  async #sendRecords(records: readonly { record: SpoolRecord; end: number }[]): Promise<void> {
    for (let at = 0; at < records.length && !this.#isStopped; ) {
      const batch = takeBatch(records, at);
      const first = batch[0]!.record;
      if ('usage' in first) await this.#sendUsages(batch.map(({ record }) => (record as { usage: UsageRecord }).usage));
      else await this.#sendRequest(first);
      at += batch.length;
      this.#options.spool.sent(batch.at(-1)!.end);
    }
  }

  async #sendUsages(usages: readonly UsageRecord[]): Promise<void> {
    const answer = await this.#post('/ai/usage/batch?mode=tolerant', { ai_usages: usages });
    if (answer.status !== 200) {
      if (!SPOILED.includes(answer.status)) {
        this.#options.onError(new Error(`the service answers ${answer.status}: ${JSON.stringify(answer.body)}`));
        throw new Again(`the service answers ${answer.status}`, 0);
      }
      // One of them is wrong in a way that spoils the request: it is found by halves.
      if (usages.length === 1) return this.#reject({ usage: usages[0]! }, answer.body);
      const half = Math.ceil(usages.length / 2);
      await this.#sendUsages(usages.slice(0, half));
      return this.#sendUsages(usages.slice(half));
    }
    const { results } = answer.body as { results?: Result[] };
    if (results?.length !== usages.length) throw new Again('the answer is not one of the service', 0);
    const withoutHold: UsageRecord[] = [];
    for (const [index, usage] of usages.entries()) {
      const { status, error_details: details } = results[index]!;
      const { hold_key: key, ...rest } = usage;
      // Its hold is gone; the money is spent all the same.
      if (status === 'rejected' && key !== undefined && details && 'hold_key' in details) withoutHold.push(rest);
      else if (status === 'rejected') await this.#reject({ usage }, details);
      else this.#options.count(status);
    }
    if (withoutHold.length > 0) await this.#sendUsages(withoutHold);
  }

  async #sendRequest(record: { path: string; body: object }): Promise<void> {
    const { status, body } = await this.#post(record.path, record.body);
    // A hold that is closed or gone needs no release.
    if (status >= 400 && status !== 404 && status !== 405) await this.#reject(record, body);
  }

  #reject(record: SpoolRecord, reason: unknown): Promise<void> {
    this.#options.count('rejected');
    return this.#options.spool.reject(record, reason);
  }

  /** @throws Again for what may be answered later, also a key that is not known (yet) */
  async #post(path: string, sent: object): Promise<{ status: number; body: unknown }> {
    const { url, key } = this.#options;
    let response: Response;
    let text: string;
    try {
      response = await this.#options.fetch(`${url}${path}`, {
        method: 'POST',
        headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
        body: JSON.stringify(sent),
        signal: AbortSignal.timeout(ANSWER_MS),
      });
      text = await response.text();
    } catch (error) {
      throw new Again(String(error), 0);
    }
    const { status } = response;
    if (status >= 500 || [401, 403, 408, 429].includes(status)) {
      if (status === 401 || status === 403) this.#options.onError(new Error(`the service answers ${status}: ${text}`));
      throw new Again(`the service answers ${status}`, 1000 * (Number(response.headers.get('retry-after')) || 0));
    }
    return { status, body: parsed(text) };
  }
}

/** A server between answers with a page of its own. */
function parsed(text: string): unknown {
  try {
    return JSON.parse(text || '{}') ?? {};
  } catch {
    return { error: text.slice(0, MOST_SHOWN) };
  }
}

/** Usage of several calls, or one request. */
function takeBatch<Item extends { record: SpoolRecord }>(records: readonly Item[], from: number): Item[] {
  const batch: Item[] = [];
  for (const each of records.slice(from, from + BATCH)) {
    if (batch.length > 0 && (!('usage' in each.record) || !('usage' in batch[0]!.record))) break;
    batch.push(each);
  }
  return batch;
}
