import type { OrganizationId } from '../ids.ts';
import { refuse } from '../refusal.ts';

/**
 * Longest piece of a computation between two looks at the network. A small read takes some six looks: with one such
 * piece before each it is answered 12 ms later than alone, by arithmetic.
 */
const SLICE_MS = 2;
/** Most slices of one request: 5 s of the processor, a sixth of what a read may take in all. */
const MOST_SLICES = 2500;
/**
 * A piece that could not be cut and took so long is followed by a rest of the same length, so that several looks of a
 * small request fit between two of them: parsing a body of 100 000 values is one piece of some 20 ms.
 */
const LONG_PIECE_MS = 2 * SLICE_MS;
/** Longest rest: a process that stood still for other reasons need not stand still again. */
const MOST_REST_MS = 50;

/** Called between two pieces of a long computation, which goes on when its answer has come. */
export type Pause = () => Promise<void> | undefined;

interface Waiting {
  /** Number of the request, in the order in which they came. */
  request: number;
  goOn: () => void;
}

/**
 * Divides the processor time of this process among organizations: of all computations that pause, one goes on between
 * two looks at the network. Organizations have their turns one after the other, each with its oldest request, so that
 * few are half done and fill the memory.
 */
export class Turns {
  /** Computations that wait, by organization, in the order in which organizations have their turns. */
  readonly #lanes = new Map<string, Waiting[]>();
  #requests = 0;
  #isGoing = false;
  readonly #nowMs: () => number;

  /** @param nowMs a clock that only goes forward; tests bring their own */
  constructor(nowMs: () => number = () => performance.now()) {
    this.#nowMs = nowMs;
  }

  /**
   * The pauses of one request. They are over at once while its slice is not used up.
   *
   * @throws Refusal 503 from a pause, when `signal` is aborted or the request has used up its slices
   */
  pauseOf(organizationId: OrganizationId, signal?: AbortSignal): Pause {
    this.#requests += 1;
    const request = this.#requests;
    let endsAt = 0;
    let slices = 0;
    return () => {
      if (this.#nowMs() < endsAt) return undefined;
      slices += 1;
      if (slices > MOST_SLICES) throw refuse.unavailable();
      return this.#turn(organizationId, request).then(() => {
        if (signal?.aborted) throw refuse.unavailable();
        endsAt = this.#nowMs() + SLICE_MS;
      });
    };
  }

  #turn(organizationId: OrganizationId, request: number): Promise<void> {
    return new Promise((resolve) => {
      const lane = this.#lanes.get(organizationId) ?? [];
      lane.push({ request, goOn: resolve });
      this.#lanes.set(organizationId, lane);
      if (this.#isGoing) return;
      this.#isGoing = true;
      setImmediate(this.#next);
    });
  }

  readonly #next = (): void => {
    const [first] = this.#lanes;
    if (first === undefined) {
      this.#isGoing = false;
      return;
    }
    const [organizationId, lane] = first;
    this.#lanes.delete(organizationId);
    const oldest = lane.reduce((a, b) => (b.request < a.request ? b : a));
    lane.splice(lane.indexOf(oldest), 1);
    if (lane.length > 0) this.#lanes.set(organizationId, lane); // behind the others
    const startedAtMs = this.#nowMs();
    oldest.goOn();
    setImmediate(() => {
      const tookMs = this.#nowMs() - startedAtMs;
      if (tookMs > LONG_PIECE_MS) setTimeout(this.#next, Math.min(tookMs, MOST_REST_MS));
      else this.#next();
    });
  };
}

/** `items.map(work)` with a pause after each. */
export async function mapInSlices<Item, Result>(
  items: readonly Item[],
  work: (item: Item, index: number) => Result | Promise<Result>,
  pause: Pause | undefined,
): Promise<Awaited<Result>[]> {
  const results: Awaited<Result>[] = [];
  for (const [index, item] of items.entries()) {
    const result = work(item, index);
    results.push(result instanceof Promise ? await result : (result as Awaited<Result>));
    const turn = pause?.();
    if (turn) await turn;
  }
  return results;
}

/** Items that are sorted in one piece: some hundred microseconds. */
const SORTED_AT_ONCE = 500;

/** `items.toSorted(compare)`, as stable as that, in pieces: parts of it, then two parts at a time made one. */
export async function sortInSlices<Item>(
  items: readonly Item[],
  compare: (a: Item, b: Item) => number,
  pause: Pause | undefined,
): Promise<Item[]> {
  let sorted = await mapInSlices(inParts(items, SORTED_AT_ONCE), (part) => part.sort(compare), pause);
  while (sorted.length > 1) {
    const pairs = Array.from({ length: Math.ceil(sorted.length / 2) }, (_, n) => sorted.slice(2 * n, 2 * n + 2));
    sorted = await mapInSlices(pairs, ([left, right]) => (right ? merged(left!, right, compare, pause) : left!), pause);
  }
  return sorted[0] ?? [];
}

/** The items in arrays of so many, the last one shorter. */
export const inParts = <Item>(items: readonly Item[], size: number): Item[][] =>
  Array.from({ length: Math.ceil(items.length / size) }, (_, n) => items.slice(n * size, (n + 1) * size));

async function merged<Item>(
  left: readonly Item[],
  right: readonly Item[],
  compare: (a: Item, b: Item) => number,
  pause: Pause | undefined,
): Promise<Item[]> {
  const result: Item[] = [];
  let [l, r] = [0, 0];
  while (l < left.length && r < right.length) {
    result.push(compare(left[l]!, right[r]!) <= 0 ? left[l++]! : right[r++]!);
    const turn = result.length % SORTED_AT_ONCE === 0 ? pause?.() : undefined;
    if (turn) await turn;
  }
  return result.concat(left.slice(l), right.slice(r));
}
