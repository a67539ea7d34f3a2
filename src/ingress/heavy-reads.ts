import type { HeavyWork } from '../platform/context.ts';
import { FairGate } from './fair-gate.ts';

/**
 * What a read may weigh without waiting for its turn: charges, filters and groups. A hundred take some 10 ms of the
 * processor, as much as ten small reads.
 */
const LIGHT = 100;
/**
 * Heavy reads of one organization at once: the processor is one, a second read would only hold memory (up to 100 MB).
 */
const HEAVY_PER_ORGANIZATION = 1;
/** Of all organizations: what they hold together stays below half a gigabyte. */
const HEAVY_AT_ONCE = 4;
/** A page that shows twenty subscriptions reads them together. */
const HEAVY_WAITING = 20;
/** A sixth of what a read may take in all. */
const HEAVY_WAITS_MS = 5000;
/** Weights that a process remembers, some 200 bytes each; beyond it the oldest go. */
const MOST_WEIGHTS = 10_000;
/** A plan that grew is weighed again after so long; what a read finds counts at once. */
const WEIGHT_MS = 60_000;

/**
 * Admits reads by what they weigh: of heavy ones an organization has one at once in this process, from its first dear
 * statement until its answer is written, and a short line behind it. Light ones never wait here.
 */
export class HeavyReads {
  readonly #gate: FairGate;
  readonly #weights = new Map<string, { weight: number; untilMs: number }>();
  readonly #nowMs: () => number;

  /**
   * @param onRefused hears the organization of each read that is refused
   * @param nowMs     a clock that only goes forward; tests bring their own
   */
  constructor(onRefused?: (organizationId: string) => void, nowMs: () => number = () => performance.now()) {
    this.#nowMs = nowMs;
    this.#gate = new FairGate({
      perKey: HEAVY_PER_ORGANIZATION,
      atOnce: HEAVY_AT_ONCE,
      waitingPerKey: HEAVY_WAITING,
      waitsMs: HEAVY_WAITS_MS,
      ...(onRefused ? { onRefused } : {}),
    });
  }

  /**
   * The admission of one request, which gives its place up when `signal` is aborted: it is answered, or its caller is
   * gone.
   */
  of(organizationId: string, signal: AbortSignal): HeavyWork {
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
        entering ??= enter();
        await entering;
      },
      weighed: (subject, weight) => void this.#keep(nameOf(subject), weight),
    };
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
