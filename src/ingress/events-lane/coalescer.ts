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
  /** Whether so much waits that a request is to be refused before its body is parsed. */
  isFull(): boolean;
  /** Sends what is open and waits for its acknowledgement. */
  stop(): Promise<void>;
}

interface Waiting {
  batch: IncomingBatch;
  requestId: string;
  resolve(verdicts: Verdict[]): void;
  reject(error: unknown): void;
}

interface OpenJob {
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
 * Adaptive coalescing: a request joins the open job, which is sent on the next turn of the event loop while none is in
 * flight, or one and it is worth a second, else when one ends. At low load a job holds one request; under load it grows by
 * itself. Rule: performance-design 3.1.
 */
export function createCoalescer(deps: CoalescerDeps): Coalescer {
  const timeoutMs = deps.config.WRITE_TIMEOUT_SECONDS * 1000;
  const open: OpenJob[] = [];
  let inFlight = 0;
  let waiting = 0;
  let isScheduled = false;
  const sending = new Set<Promise<void>>();

  const maySend = (): boolean => open.length > 0 && (inFlight === 0 || (inFlight < MOST_IN_FLIGHT && isWorthASecond()));
  // Full, or half of all that wait: two jobs of a size keep this process and the storing worker busy in turns.
  const isWorthASecond = (): boolean =>
    open.length > 1 || open[0]!.events >= Math.max(WORTH_A_SECOND, waiting / MOST_IN_FLIGHT);

  function schedule(): void {
    if (isScheduled || !maySend()) return;
    isScheduled = true;
    setImmediate(() => {
      isScheduled = false;
      sendDue();
    });
  }

  function sendDue(): void {
    while (maySend()) start(open.shift()!);
  }

  function start(job: OpenJob): void {
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
  async function deliver(job: OpenJob, ended: () => void): Promise<void> {
    const cid = newId();
    const answer = deps.replies.wait(cid, timeoutMs);
    const batches = job.requests.map((request) => packBatch(request.batch));
    const added = deps.producer.add('events.store', { v: 1, from: deps.processId, cid, at: realNowMs(), batches });
    // Rejected: Redis refused the job. Never settled: Redis is away, and the answer's timeout speaks first.
    const failed = new Promise((resolve) => added.catch(() => resolve(STORING_FAILED)));
    const reply = Promise.race([answer, failed]);
    // What Redis has not taken fills this process even after its requests were answered.
    void Promise.allSettled([added, reply]).then(() => {
      waiting -= job.events;
    });
    const outcome = await reply;
    ended();
    await nextTurn();
    settle(job, outcome);
  }

  return {
    send(batch, requestId) {
      waiting += batch.events.length;
      return new Promise((resolve, reject) => {
        const bytes = bytesOf(batch);
        const last = open.at(-1);
        const request = { batch, requestId, resolve, reject };
        if (last && last.events + batch.events.length <= MOST_EVENTS && last.bytes + bytes <= MOST_BYTES) {
          last.requests.push(request);
          last.events += batch.events.length;
          last.bytes += bytes;
        } else open.push({ requests: [request], events: batch.events.length, bytes });
        schedule();
      });
    },
    isFull: () => waiting >= deps.config.EVENTS_MAX_WAITING,
    async stop() {
      for (const job of open.splice(0)) start(job);
      await Promise.allSettled(sending);
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
function settle({ requests }: OpenJob, reply: unknown): void {
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
