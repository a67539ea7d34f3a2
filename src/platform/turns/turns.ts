import type { OrganizationId } from '../ids.ts';
import { refuse } from '../refusal.ts';

/**
 * Longest piece of a computation between two turns of the event loop. A small read takes some six turns, so with one
 * such piece before each it is answered 12 ms later (computed, not measured).
 */
const SLICE_MS = 2;
/** How many slices one request may take: 5 s of the processor, a sixth of what a read may take in all. */
const MOST_SLICES = 2500;
/**
 * A piece that cannot be divided and takes this long is followed by a rest of the same length, so that several turns of
 * a small request fit between two of them: parsing a body of 100 000 values is one piece of some 20 ms.
 */
const LONG_PIECE_MS = 2 * SLICE_MS;
/** Longest rest, because a process that stood still for other reasons needs no longer one. */
const MOST_REST_MS = 50;

/** Called between two pieces of a long computation, which continues when the promise resolves. */
export type Pause = () => Promise<void> | undefined;

interface Waiting {
  /** Sequence number of the request. */
  request: number;
  goOn: () => void;
}

/**
 * Divides the processor time of this process among organizations: of all paused computations one continues in each turn
 * of the event loop. Organizations take turns, each with its oldest request, so that few unfinished ones take memory.
 */
export class Turns {
  /** Waiting computations by organization, in the order of turns. */
  readonly #lanes = new Map<string, Waiting[]>();
  #requests = 0;
  #isGoing = false;
  readonly #nowMs: () => number;

  /** @param nowMs a clock that only goes forward; tests bring their own */
  constructor(nowMs: () => number = () => performance.now()) {
    this.#nowMs = nowMs;
  }

  /**
   * The pauses of one request. They end at once while its slice is not used up.
   *
   * @throws Refusal 503 from a pause, when `signal` is aborted or the request has used up its slices
   */
  pauseOf(organizationId: OrganizationId, signal?: { readonly aborted: boolean }): Pause {
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

/** How many items are sorted in one piece: some hundred microseconds. */
const SORTED_AT_ONCE = 500;

/** `items.toSorted(compare)`, equally stable, in pieces: sorted parts that are merged two at a time. */
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
