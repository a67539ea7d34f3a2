import { setImmediate as nextTurn } from 'node:timers/promises';
import { HELD, type IncomingBatch, STORING_FAILED, type Verdict } from '../../areas/usage/events/incoming-event.ts';
import { packBatch } from '../../areas/usage/events/packed-batch.ts';
import { realNowMs } from '../../platform/clock/real-clock.ts';
import type { OrganizationId } from '../../platform/ids.ts';
import { newId } from '../../platform/ids.ts';
import type { Producer } from '../../platform/queue/producer.ts';
import { refuse } from '../../platform/refusal.ts';
import type { Replies } from '../../platform/replies/replies.ts';

/** A request that waits for its verdicts. */
export interface Waiting {
  batch: IncomingBatch;
  bytes: number;
  requestId: string;
  /** Deadline of its answer; set when it is sent for the first time. */
  untilMs?: number;
  resolve(verdicts: Verdict[]): void;
  reject(error: unknown): void;
}

export interface StoreLaneDeps {
  producer: Pick<Producer, 'add'>;
  replies: Replies;
  /** Reply channel of this process. */
  processId: string;
  timeoutMs: number;
  /** Called when the requests of a job no longer count for this process. */
  left(requests: readonly Waiting[]): void;
  /** A request that was not stored because it would delay other organizations. */
  held(request: Waiting): void;
}

/** Jobs built from requests, a few in flight at a time. */
export interface StoreLane {
  add(request: Waiting): void;
  /** Whether nothing waits or is in flight. */
  isIdle(): boolean;
  /** Sends open requests and waits until they are acknowledged. */
  stop(): Promise<void>;
}

interface StoreJob {
  requests: Waiting[];
  events: number;
  bytes: number;
}

const MOST_IN_FLIGHT = 2;
/**
 * A second job is sent beside one in flight only when it holds this many events: smaller ones are cheaper together.
 * Measured with 100 connections: half as many events again a second as with one job in flight, at the same processor
 * time.
 */
const WORTH_A_SECOND = 30;
const MOST_EVENTS = 500;
export const MOST_BYTES = 512 * 1024;
/** A send that takes longer frees its place: the job of a killed worker must not delay the others. */
const SLOW_SEND_MS = 200;

/**
 * Adaptive coalescing: a request joins the next job, which is sent on the next turn of the event loop if no job is in
 * flight, or if one is and a second is worth it; otherwise when a job ends. At low load a job holds one request; under
 * load it grows by itself. Organizations take turns in filling it, so that one with thousands of events does not delay
 * another.
 * Rule: storing-events.md#coalescing, everywhere.md#bounded-cost.
 *
 * organizationId  of a lane whose jobs hold the events of this organization alone
 * part            of the queue, for the jobs of another lane
 */
export function openStoreLane(
  deps: StoreLaneDeps,
  { organizationId, part }: { organizationId?: OrganizationId; part?: number } = {},
): StoreLane {
  const open = createTurns();
  let inFlight = 0;
  let waiting = 0;
  let isScheduled = false;
  const sending = new Set<Promise<void>>();

  const maySend = (): boolean => open.events > 0 && (inFlight === 0 || (inFlight < MOST_IN_FLIGHT && isWorthASecond()));
  // Full, or half of all waiting events: two jobs of equal size keep this process and the storing worker busy in turns.
  const isWorthASecond = (): boolean =>
    open.bytes > MOST_BYTES ||
    open.events >= Math.min(MOST_EVENTS + 1, Math.max(WORTH_A_SECOND, waiting / MOST_IN_FLIGHT));

  function schedule(): void {
    if (isScheduled || !maySend()) return;
    isScheduled = true;
    setImmediate(() => {
      isScheduled = false;
      sendDue();
    });
  }

  function sendDue(): void {
    while (maySend()) start(open.take());
  }

  function start(job: StoreJob): void {
    inFlight += 1;
    let holdsPlace = true;
    const giveUpPlace = () => {
      if (!holdsPlace) return;
      holdsPlace = false;
      inFlight -= 1;
      sendDue();
    };
    const timer = setTimeout(giveUpPlace, SLOW_SEND_MS);
    const sent = deliver(job, () => {
      clearTimeout(timer);
      giveUpPlace();
    }).finally(() => sending.delete(sent));
    sending.add(sent);
  }

  /** The next job is sent before the requests of this one are answered, so that the worker stays busy. */
  async function deliver(job: StoreJob, ended: () => void): Promise<void> {
    const cid = newId();
    const answer = deps.replies.wait(cid, leftMs(job.requests));
    const payload = {
      v: 1 as const,
      from: deps.processId,
      cid,
      at: realNowMs(),
      ...(organizationId === undefined ? {} : { organization_id: organizationId }),
      shows_ratings: true as const,
      batches: job.requests.map((request) => packBatch(request.batch)),
    };
    const added = deps.producer.add('events.store', payload, part === undefined ? {} : { part });
    // Rejected: Redis refused the job. Never settled: Redis is away, and the answer's timeout comes first.
    const failed = new Promise((resolve) => added.catch(() => resolve(STORING_FAILED)));
    const reply = Promise.race([answer, failed]);
    // Events that Redis has not accepted count for this process even after their requests were answered.
    void Promise.allSettled([added, reply]).then(() => {
      waiting -= job.events;
      deps.left(job.requests);
    });
    const outcome = await reply;
    ended();
    await nextTurn();
    settle(job, outcome, deps.held);
  }

  /** Held requests have waited before, so the deadline of their first job applies. */
  function leftMs(requests: readonly Waiting[]): number {
    const now = realNowMs();
    let untilMs = now + deps.timeoutMs;
    for (const request of requests) {
      request.untilMs ??= now + deps.timeoutMs;
      untilMs = Math.min(untilMs, request.untilMs);
    }
    return Math.max(0, untilMs - now);
  }

  return {
    add(request) {
      waiting += request.batch.events.length;
      open.add(request);
      schedule();
    },
    isIdle: () => open.events === 0 && sending.size === 0,
    async stop() {
      while (open.events > 0) start(open.take());
      await Promise.allSettled(sending);
    },
  };
}

/** Requests that wait for a job. */
interface Turns {
  readonly events: number;
  readonly bytes: number;
  add(request: Waiting): void;
  /** The next job: one request of each organization in turn as long as they fit; a larger one goes alone. */
  take(): StoreJob;
}

function createTurns(): Turns {
  /** By organization, in the order of turns. */
  const lines = new Map<string, Waiting[]>();
  let events = 0;
  let bytes = 0;

  const fits = (job: StoreJob, { batch, bytes: more }: Waiting): boolean =>
    job.requests.length === 0 || (job.events + batch.events.length <= MOST_EVENTS && job.bytes + more <= MOST_BYTES);

  function move(job: StoreJob, organizationId: OrganizationId, line: Waiting[]): void {
    const request = line.shift()!;
    job.requests.push(request);
    job.events += request.batch.events.length;
    job.bytes += request.bytes;
    // Goes to the end of the round, in this job and the next.
    lines.delete(organizationId);
    if (line.length > 0) lines.set(organizationId, line);
  }

  return {
    get events() {
      return events;
    },
    get bytes() {
      return bytes;
    },
    add(request) {
      const { organization_id: id } = request.batch;
      const line = lines.get(id);
      if (line) line.push(request);
      else lines.set(id, [request]);
      events += request.batch.events.length;
      bytes += request.bytes;
    },
    take() {
      const job: StoreJob = { requests: [], events: 0, bytes: 0 };
      let moved = true;
      while (moved) {
        moved = false;
        for (const [organizationId, line] of [...lines]) {
          if (!fits(job, line[0]!)) continue;
          move(job, organizationId, line);
          moved = true;
        }
      }
      events -= job.events;
      bytes -= job.bytes;
      return job;
    },
  };
}

/** Gives every request its part of the reply. */
function settle({ requests }: StoreJob, reply: unknown, held: (request: Waiting) => void): void {
  let position = 0;
  for (const request of requests) {
    const { batch, requestId, resolve, reject } = request;
    const count = batch.events.length;
    const own = Array.isArray(reply) ? reply.slice(position, position + count) : [];
    if (reply === undefined) reject(refuse.writePending(requestId));
    else if (reply === STORING_FAILED) reject(refuse.unavailable());
    else if (reply === null) resolve(new Array<Verdict>(count).fill(0));
    else if (own[0] === HELD) held(request);
    else resolve(own as Verdict[]);
    position += count;
  }
}
