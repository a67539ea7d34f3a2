import { setImmediate as nextTurn } from 'node:timers/promises';
import { realNowMs } from '../../platform/clock/real-clock.ts';
import type { Config } from '../../platform/config.ts';
import { newId } from '../../platform/ids.ts';
import type { Producer } from '../../platform/queue/producer.ts';
import { refuse } from '../../platform/refusal.ts';
import type { Replies } from '../../platform/replies/replies.ts';
import { type IncomingBatch, STORING_FAILED, type Verdict } from '../../resources/events/incoming.ts';
import { packBatch } from '../../resources/events/packed.ts';

export interface CoalescerDeps {
  producer: Pick<Producer, 'add'>;
  replies: Replies;
  config: Pick<Config, 'WRITE_TIMEOUT_SECONDS' | 'EVENTS_MAX_WAITING'>;
  /** Channel of replies of this process. */
  processId: string;
}

/** Collects the events of concurrent requests into few jobs. */
export interface Coalescer {
  /**
   * Sends the events of one request and resolves when they are stored, with a verdict for each.
   *
   * @throws Refusal 503 when storing failed for good, 504 write_pending after the write timeout
   */
  send(batch: IncomingBatch, requestId: string): Promise<Verdict[]>;
  /**
   * Whether so much waits that a request is to be refused before its body is parsed: of all organizations together, or of
   * this one more than is left for the others.
   */
  isFull(organizationId: string): boolean;
  /** Sends what is open and waits for its acknowledgement. */
  stop(): Promise<void>;
}

interface Waiting {
  batch: IncomingBatch;
  bytes: number;
  requestId: string;
  resolve(verdicts: Verdict[]): void;
  reject(error: unknown): void;
}

interface StoreJob {
  requests: Waiting[];
  events: number;
  bytes: number;
}

const MOST_IN_FLIGHT = 2;
/**
 * A second job is sent beside one in flight only when it holds this many events: smaller ones are cheaper together.
 * Measured with 100 connections: half as many events again a second as with one job in flight, at the same processor time.
 */
const WORTH_A_SECOND = 30;
const MOST_EVENTS = 500;
const MOST_BYTES = 512 * 1024;
/** Text of an event beside its properties and keys, in a job. */
const EVENT_BYTES = 220;
/** A send that takes longer gives its place up: the job of a killed worker must not hold back those of the others. */
const SLOW_SEND_MS = 200;

/**
 * Adaptive coalescing: a request joins the next job, which is sent on the next turn of the event loop while none is in
 * flight, or one and it is worth a second, else when one ends. At low load a job holds one request; under load it grows by
 * itself. Organizations take turns in filling it, so that one with thousands of events keeps no other one waiting.
 * Rule: performance-design 3.1, README decision 19.
 */
export function createCoalescer(deps: CoalescerDeps): Coalescer {
  const timeoutMs = deps.config.WRITE_TIMEOUT_SECONDS * 1000;
  const open = createTurns();
  const waitingOf = new Map<string, number>();
  let inFlight = 0;
  let waiting = 0;
  let isScheduled = false;
  const sending = new Set<Promise<void>>();

  const maySend = (): boolean => open.events > 0 && (inFlight === 0 || (inFlight < MOST_IN_FLIGHT && isWorthASecond()));
  // Full, or half of all that wait: two jobs of a size keep this process and the storing worker busy in turns.
  const isWorthASecond = (): boolean =>
    open.bytes > MOST_BYTES ||
    open.events >= Math.min(MOST_EVENTS + 1, Math.max(WORTH_A_SECOND, waiting / MOST_IN_FLIGHT));

  function count(requests: readonly Waiting[], sign: 1 | -1): void {
    for (const { batch } of requests) {
      const events = sign * batch.events.length;
      const left = (waitingOf.get(batch.organization_id) ?? 0) + events;
      if (left === 0) waitingOf.delete(batch.organization_id);
      else waitingOf.set(batch.organization_id, left);
      waiting += events;
    }
  }

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

  /** The next job is on its way before the requests of this one are answered: meanwhile the worker has something to do. */
  async function deliver(job: StoreJob, ended: () => void): Promise<void> {
    const cid = newId();
    const answer = deps.replies.wait(cid, timeoutMs);
    const batches = job.requests.map((request) => packBatch(request.batch));
    const added = deps.producer.add('events.store', { v: 1, from: deps.processId, cid, at: realNowMs(), batches });
    // Rejected: Redis refused the job. Never settled: Redis is away, and the answer's timeout speaks first.
    const failed = new Promise((resolve) => added.catch(() => resolve(STORING_FAILED)));
    const reply = Promise.race([answer, failed]);
    // What Redis has not taken fills this process even after its requests were answered.
    void Promise.allSettled([added, reply]).then(() => count(job.requests, -1));
    const outcome = await reply;
    ended();
    await nextTurn();
    settle(job, outcome);
  }

  return {
    send(batch, requestId) {
      return new Promise((resolve, reject) => {
        const request = { batch, bytes: bytesOf(batch), requestId, resolve, reject };
        count([request], 1);
        open.add(request);
        schedule();
      });
    },
    isFull(organizationId) {
      const left = deps.config.EVENTS_MAX_WAITING - waiting;
      return left <= 0 || (waitingOf.get(organizationId) ?? 0) > left;
    },
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
  /** The next job: one request of each organization in turn, while they fit; a larger one goes alone. */
  take(): StoreJob;
}

function createTurns(): Turns {
  /** By organization, in the order of their turns. */
  const lines = new Map<string, Waiting[]>();
  let events = 0;
  let bytes = 0;

  const fits = (job: StoreJob, { batch, bytes: more }: Waiting): boolean =>
    job.requests.length === 0 || (job.events + batch.events.length <= MOST_EVENTS && job.bytes + more <= MOST_BYTES);

  function move(job: StoreJob, organizationId: string, line: Waiting[]): void {
    const request = line.shift()!;
    job.requests.push(request);
    job.events += request.batch.events.length;
    job.bytes += request.bytes;
    // To the end of the round, in this job and in the next.
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

const bytesOf = (batch: IncomingBatch): number =>
  batch.events.reduce(
    (sum, event) =>
      sum + EVENT_BYTES + event.properties.length + event.transaction_id.length + event.external_subscription_id.length,
    0,
  );

/** Gives every request its part of the reply. */
function settle({ requests }: StoreJob, reply: unknown): void {
  let position = 0;
  for (const { batch, requestId, resolve, reject } of requests) {
    const count = batch.events.length;
    if (reply === undefined) reject(refuse.writePending(requestId));
    else if (reply === STORING_FAILED) reject(refuse.unavailable());
    else if (reply === null) resolve(new Array<Verdict>(count).fill(0));
    else resolve((reply as Verdict[]).slice(position, position + count));
    position += count;
  }
}
