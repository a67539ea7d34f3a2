import type { HeavyWork } from '../platform/context.ts';
import type { OrganizationId } from '../platform/ids.ts';
import { refuse } from '../platform/refusal.ts';
import type { Ended } from './ending.ts';
import { FairGate } from './fair-gate.ts';

/**
 * Weight up to which a read does not wait: charges, filters and groups. A hundred take some 10 ms of the processor, as
 * much as ten small reads.
 */
const LIGHT = 100;
/**
 * How many heavy reads of one organization run at the same time: there is one processor, so a second read would only
 * take memory (up to 100 MB).
 */
const HEAVY_PER_ORGANIZATION = 1;
/** How many heavy reads of all organizations run at the same time: together they take less than half a gigabyte. */
const HEAVY_AT_ONCE = 4;
/** How many heavy reads of one organization may wait: a page with twenty subscriptions reads them together. */
const HEAVY_WAITING = 20;
/** How many callers may wait for the answer of the same read: each holds only the connection of that caller. */
const MOST_TWINS = 20;
/** Longest wait, a sixth of a read's time limit. */
const HEAVY_WAITS_MS = 5000;
/** How many weights a process caches, some 200 bytes each; beyond it the oldest are dropped. */
const MOST_WEIGHTS = 10_000;
/** Life of a cached weight, because plans grow; a measured weight applies at once. */
const WEIGHT_MS = 60_000;

/** Whose read it is, what is asked, and until when the answer is wanted. */
export interface Asked {
  organizationId: OrganizationId;
  /** The same for reads that have the same answer when they begin at the same instant. */
  name: string;
  signal: Ended;
}

/** A read that computes for its twins too, if any come while it waits for its turn. */
interface First {
  asked: Asked;
  twins: number;
  answer: Promise<unknown> | undefined;
}

/** Thrown from an admission: the same read waits already, and its answer will be this one's. */
class HasTwin extends Error {
  readonly first: First;

  constructor(first: First) {
    super('the same read waits for its turn');
    this.first = first;
  }
}

/** Thrown from an admission: what was read before it is older than the twins that came meanwhile. */
class BeginAgain extends Error {}

/**
 * Admits reads by what they weigh: an organization has one heavy read at a time in this process, from its first dear
 * statement until its answer is written, and a short line behind it. Light ones never wait here. The same read is in
 * the line once: who asks for it while it waits has its answer, which is computed after all of them have asked.
 */
export class HeavyReads {
  readonly #gate: FairGate;
  readonly #weights = new Map<string, { weight: number; untilMs: number }>();
  /** Reads that wait for their turn, by organization and name. */
  readonly #waiting = new Map<string, First>();
  readonly #onRefused: ((organizationId: OrganizationId) => void) | undefined;
  readonly #nowMs: () => number;

  /**
   * @param onRefused called with the organization of each refused read
   * @param nowMs     a clock that only goes forward; tests bring their own
   */
  constructor(onRefused?: (organizationId: OrganizationId) => void, nowMs: () => number = () => performance.now()) {
    this.#nowMs = nowMs;
    this.#onRefused = onRefused;
    this.#gate = new FairGate({
      perKey: HEAVY_PER_ORGANIZATION,
      atOnce: HEAVY_AT_ONCE,
      waitingPerKey: HEAVY_WAITING,
      waitsMs: HEAVY_WAITS_MS,
      ...(onRefused ? { onRefused } : {}),
    });
  }

  /**
   * The answer that `compute` gives, or that of the same read which waits already: `compute` then ends at its
   * admission. It may run twice, and begins with all that the answer depends on.
   */
  async answer<Answer>(asked: Asked, compute: (heavy: HeavyWork) => Promise<Answer>): Promise<Answer> {
    const first: First = { asked, twins: 0, answer: undefined };
    const heavy = this.#admissionOf(asked, first);
    const answer = repeated(() => compute(heavy));
    first.answer = answer;
    try {
      return await answer;
    } catch (error) {
      if (error instanceof HasTwin) return this.#answerOf(error.first, asked, compute);
      throw error;
    }
  }

  async #answerOf<Answer>(first: First, asked: Asked, compute: (heavy: HeavyWork) => Promise<Answer>): Promise<Answer> {
    // Who hangs up leaves the line to others.
    const leave = () => {
      first.twins -= 1;
    };
    if (asked.signal.aborted) leave();
    else asked.signal.addEventListener('abort', leave, { once: true });
    try {
      return (await first.answer) as Answer;
    } catch (error) {
      if (asked.signal.aborted || !first.asked.signal.aborted) throw error;
      return this.answer(asked, compute); // only its caller is gone
    }
  }

  /**
   * The admission of one request without twins, which gives its place up when `signal` is aborted: it is answered, or
   * its caller is gone.
   */
  of(organizationId: OrganizationId, signal: Ended): HeavyWork {
    return this.#admissionOf({ organizationId, signal });
  }

  #admissionOf(asked: Omit<Asked, 'name'>, first?: First): HeavyWork {
    const { organizationId, signal } = asked;
    let entering: Promise<void> | undefined;
    const enter = async () => {
      const leave = await this.#gate.enter(organizationId, signal);
      if (signal.aborted) leave();
      else signal.addEventListener('abort', leave, { once: true });
    };
    const nameOf = (subject: string) => `${organizationId} ${subject}`;
    return {
      admit: async (subject, weigh) => {
        const weight = this.#weightOf(nameOf(subject)) ?? this.#keep(nameOf(subject), await weigh());
        if (weight <= LIGHT) return;
        const isBegun = entering !== undefined;
        entering ??= first === undefined ? enter() : this.#waitBeforeTwins(first, enter);
        await entering;
        if (!isBegun && first !== undefined && first.twins > 0) throw new BeginAgain();
      },
      weighed: (subject, weight) => void this.#keep(nameOf(subject), weight),
    };
  }

  async #waitBeforeTwins(first: First, enter: () => Promise<void>): Promise<void> {
    const { organizationId, name } = first.asked;
    const key = `${organizationId} ${name}`;
    const waiting = this.#waiting.get(key);
    if (waiting !== undefined) this.#follow(waiting);
    this.#waiting.set(key, first);
    try {
      await enter();
    } finally {
      this.#waiting.delete(key);
    }
  }

  #follow(first: First): never {
    if (first.twins < MOST_TWINS) {
      first.twins += 1;
      throw new HasTwin(first);
    }
    this.#onRefused?.(first.asked.organizationId);
    throw refuse.unavailable();
  }

  #weightOf(name: string): number | undefined {
    const known = this.#weights.get(name);
    return known && known.untilMs > this.#nowMs() ? known.weight : undefined;
  }

  #keep(name: string, weight: number): number {
    this.#weights.delete(name);
    if (this.#weights.size >= MOST_WEIGHTS) this.#weights.delete(this.#weights.keys().next().value!);
    this.#weights.set(name, { weight, untilMs: this.#nowMs() + WEIGHT_MS });
    return weight;
  }
}

async function repeated<Answer>(compute: () => Promise<Answer>): Promise<Answer> {
  try {
    return await compute();
  } catch (error) {
    if (error instanceof BeginAgain) return compute();
    throw error;
  }
}
