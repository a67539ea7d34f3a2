import { appendFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { fromWire, toWire } from '../../platform/wire-prefix.ts';
import { brief, lookup, mismatch } from './match-answer.ts';

export interface Scenario {
  name: string;
  steps: Step[];
}

/** One step: move the clock, call, send events, or repeat. */
interface Step {
  now?: string;
  call?: string;
  body?: unknown;
  expect?: Record<string, unknown>;
  save?: Record<string, string>;
  within?: number;
  events?: Record<string, unknown>[];
  repeat?: number;
  steps?: Step[];
  note?: string;
}

export interface PlayOptions {
  baseUrl: string;
  apiKey: string;
  /** The wire prefix of the service; scenarios are written with `svc`. */
  wirePrefix: string;
  withinSeconds: number;
  /** File that gets every exchange as a line of JSON. */
  logFile?: string | undefined;
}

const CLOCK_WITHIN_MS = 120_000;
const EVENT_WITHIN_MS = 15_000;

/** Plays one scenario against a service; resolves to null, or to the error of the step that failed. */
export async function play(scenario: Scenario, options: PlayOptions): Promise<string | null> {
  const run = new Run(options);
  for (const [index, step] of scenario.steps.entries()) {
    try {
      await run.step(step);
    } catch (error) {
      return `step ${index + 1}${step.note ? ` (${step.note})` : ''}: ${(error as Error).message}`;
    }
  }
  return null;
}

class Run {
  readonly #options: PlayOptions;
  readonly #saved: Record<string, unknown> = {};
  #clockSet = false;
  #events = 0;

  constructor(options: PlayOptions) {
    this.#options = options;
  }

  async step(step: Step): Promise<void> {
    if (step.now !== undefined) return this.#now(this.#fill(step.now) as string);
    if (step.events) return this.#send(step.events);
    if (step.call !== undefined) return this.#call(step);
    if (step.repeat === undefined) throw new Error(`unknown step ${brief(step)}`);
    for (let index = 0; index < step.repeat; index += 1) {
      this.#saved.i = index;
      for (const inner of step.steps ?? []) await this.step(inner);
    }
  }

  // biome-ignore lint/suspicious/noExplicitAny: bodies of every shape
  async #http(method: string, path: string, body?: unknown): Promise<{ status: number; body: any }> {
    for (let attempt = 0; ; attempt += 1) {
      const answer = await fetch(this.#options.baseUrl + path, {
        method,
        signal: AbortSignal.timeout(60_000),
        headers: {
          authorization: `Bearer ${this.#options.apiKey}`,
          ...(body === undefined ? {} : { 'content-type': 'application/json' }),
        },
        ...(body === undefined ? {} : { body: JSON.stringify(toWire(body, this.#options.wirePrefix)) }),
      });
      const text = await answer.text();
      if (answer.status === 429 && attempt < 50) {
        await sleep(1000 * Number(answer.headers.get('x-ratelimit-reset') ?? 1));
        continue;
      }
      const json = text === '' ? null : fromWire(JSON.parse(text), this.#options.wirePrefix);
      if (this.#options.logFile) {
        const exchange = {
          method,
          path,
          status: answer.status,
          requestBody: body ?? null,
          responseBody: json,
          headers: Object.fromEntries(answer.headers),
        };
        appendFileSync(this.#options.logFile, `${JSON.stringify(exchange)}\n`);
      }
      return { status: answer.status, body: json };
    }
  }

  async #now(time: string): Promise<void> {
    const moved = await this.#http('POST', this.#clockSet ? '/test_clock/advance' : '/test_clock', {
      test_clock: { frozen_time: time },
    });
    if (moved.status !== 200) throw new Error(`test clock to ${time}: ${moved.status} ${brief(moved.body)}`);
    this.#clockSet = true;
    await retry(CLOCK_WITHIN_MS, 500, async () => {
      const clock = (await this.#http('GET', '/test_clock')).body?.test_clock;
      if (clock?.status === 'failed') throw new Error(`test clock to ${time} failed: ${brief(clock)}`);
      return clock?.status === 'ready' ? null : `test clock to ${time} is ${clock?.status}`;
    });
  }

  async #send(list: Record<string, unknown>[]): Promise<void> {
    const events = (this.#fill(list) as Record<string, unknown>[]).map((event) => {
      this.#events += 1;
      return { transaction_id: `tx-${this.#events}`, ...event };
    });
    for (const event of events) {
      const answer = await this.#http('POST', '/events', { event });
      if (answer.status !== 200) throw new Error(`event ${brief(event)}: ${answer.status} ${brief(answer.body)}`);
    }
    for (const event of events) {
      await retry(EVENT_WITHIN_MS, 200, async () => {
        const answer = await this.#http('GET', `/events/${encodeURIComponent(String(event.transaction_id))}`);
        return answer.status === 200
          ? null
          : `event ${event.transaction_id} accepted but not readable (${answer.status})`;
      });
    }
  }

  async #call(step: Step): Promise<void> {
    const [method = '', path = ''] = (this.#fill(step.call) as string).split(' ');
    const { status = 200, ...want } = this.#fill(step.expect ?? {}) as Record<string, unknown>;
    const patienceMs = method === 'GET' ? 1000 * (step.within ?? this.#options.withinSeconds) : 0;
    const body = await retry(patienceMs, 1000, async (found: (body: unknown) => void) => {
      const answer = await this.#http(method, path, this.#fill(step.body));
      const wrong =
        answer.status === status
          ? mismatch(answer.body, want)
          : `status: wanted ${status}, got ${answer.status} ${brief(answer.body)}`;
      found(answer.body);
      return wrong && `${method} ${path} ${wrong}`;
    });
    for (const [name, at] of Object.entries(step.save ?? {})) this.#saved[name] = lookup(body, at);
  }

  #fill(value: unknown): unknown {
    if (typeof value === 'string') {
      const whole = /^\$\{([\w.]+)\}$/.exec(value);
      if (whole) return this.#get(whole[1]!);
      return value.replace(/\$\{([\w.]+)\}/g, (_all, name: string) => String(this.#get(name)));
    }
    if (Array.isArray(value)) return value.map((each) => this.#fill(each));
    if (value !== null && typeof value === 'object') {
      return Object.fromEntries(
        Object.entries(value).map(([key, inner]) => [
          key.startsWith('$') ? key : (this.#fill(key) as string),
          this.#fill(inner),
        ]),
      );
    }
    return value;
  }

  #get(name: string): unknown {
    if (!(name in this.#saved)) throw new Error(`no saved value named ${name}`);
    return this.#saved[name];
  }
}

/** Repeats an attempt with growing pauses until it returns null; when the time is up it throws the last result. */
async function retry(
  patienceMs: number,
  longestPauseMs: number,
  attempt: (found: (value: unknown) => void) => Promise<string | null>,
): Promise<unknown> {
  const deadline = performance.now() + patienceMs;
  let value: unknown;
  for (let pauseMs = 20; ; pauseMs = Math.min(pauseMs * 1.5, longestPauseMs)) {
    const wrong = await attempt((found) => {
      value = found;
    });
    if (wrong === null) return value;
    if (performance.now() > deadline) throw new Error(wrong);
    await sleep(pauseMs);
  }
}
