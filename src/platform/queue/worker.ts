import { DelayedError, type Job, Queue, UnrecoverableError, Worker } from 'bullmq';
import type { Redis } from 'ioredis';
import { type JobName, type JobPayload, jobs, type QueueName, type QueueSpec, queues } from '../../queues.ts';
import { realNowMs } from '../clock/real-clock.ts';
import type { Log } from '../log/log.ts';
import { Refusal } from '../refusal.ts';
import { openCrowdedLanes } from './crowded-lanes.ts';
import { type Outcomes, openOutcomes } from './failing-queues.ts';
import { openHeldJobs } from './held-jobs.ts';
import { ConnectionLost, comeBackIfLost } from './lost-connections.ts';
import { MOST_AT_ONCE, mayBeCalled, nameOf, openParkedJobs, type ParkedJobs } from './parked-jobs.ts';
import { keyPrefix, type Parts, partOf, storedNames } from './queue-names.ts';
import { markProgress, PING_EVERY_MS, PING_JOB, ping } from './queue-progress.ts';
import { type Lane, type Owner, openShares } from './shares.ts';

export interface JobInfo {
  id: string;
  /** 1 for the first try. */
  attempt: number;
  lastAttempt: boolean;
  /** When the job was put into the queue, milliseconds since 1970. */
  addedAtMs: number;
  /** Puts the job back for a while without using an attempt; never returns. */
  comeBack(delayMs: number): Promise<never>;
}

export type Handlers<Names extends JobName = JobName> = {
  [Name in Names]: (payload: JobPayload<Name>, info: JobInfo) => Promise<void>;
};

export interface ServeOptions {
  redis: Redis;
  prefix: string;
  parts?: Parts;
  /** Concurrent jobs, each with a database connection available. */
  concurrency: number;
  log: Log;
  /** How long a caller waits for the answer of a job. */
  answerWithinMs?: number;
  onFinished?: (job: { queue: QueueName; name: string; seconds: number; failed: boolean }) => void;
}

// A caller waits, so the job of a killed worker must run again within about 5 s (storing-events.md#jobs-and-replies).
const WAITED_LOCK = { lockDuration: 3000, stalledInterval: 1500, maxStalledCount: 5 };
const RETRIED_LOCK = { lockDuration: 30_000, stalledInterval: 5000, maxStalledCount: 5 };
/**
 * A worker asks again at least this often, since a fail-over may have lost the mark that wakes it, and a second ping
 * sets none. The library's own wait after a failed command is as long as a queue may stand
 * (redis-cluster.md#a-lost-master).
 */
const ASKING = { drainDelay: 2, runRetryDelay: 1000 };
/** Interval of searching for jobs whose call was lost, because a caller may wait for them. */
const LOOK_EVERY_MS = 2000;

/**
 * Serves one queue with the handlers given by job name. A Refusal ends a job for good without retry; any other error is
 * retried by the queue's table. Start-up refuses a queue that has a job without a handler. A ping job every few seconds
 * proves that the queue moves (`/ready`). A job whose organization or customer has used up its share of the slots waits
 * in the process, or is parked, until one of its own jobs leaves. A queue with several parts has one worker a part,
 * which share the slots: whatever part jobs come from, the slots are given as if there were one.
 */
export function serveQueue(
  name: QueueName,
  handlers: Partial<Handlers>,
  options: ServeOptions,
): { close(): Promise<void> } {
  const missing = (Object.keys(jobs) as JobName[]).filter((job) => jobs[job].queue === name && !handlers[job]);
  if (missing.length > 0) throw new Error(`queue ${name} has jobs without a handler: ${missing.join(', ')}`);
  const { redis, prefix, parts = {} } = options;
  const stored = storedNames(name, parts).map((each) => {
    const queue = new Queue(each, { connection: redis, prefix: keyPrefix(prefix, each) });
    queue.on('error', () => {}); // the connection reconnects by itself
    return queue;
  });
  const turns = takeTurns(stored, options, queues[name]);
  const outcomes = openOutcomes(redis, prefix, name);
  const workers = stored.map((queue) => startWorker(queue, name, handlers, { ...options, turns, outcomes }));
  const pings = every(PING_EVERY_MS, () => Promise.all([...stored.map(ping), outcomes.tell()]));
  const looks = every(LOOK_EVERY_MS, turns.look);
  pings.run();
  return {
    async close() {
      pings.stop();
      looks.stop();
      const closing = Promise.all(workers.map((worker) => worker.close()));
      turns.close();
      await closing;
      await turns.settled();
      await outcomes.close();
      await Promise.all(stored.map((queue) => queue.close()));
    },
  };
}

/** Takes the jobs of one part of a queue. */
function startWorker(
  queue: Queue,
  name: QueueName,
  handlers: Partial<Handlers>,
  { turns, outcomes, ...options }: ServeOptions & { turns: ReturnType<typeof takeTurns>; outcomes: Outcomes },
): Worker {
  const { redis, prefix, log, answerWithinMs } = options;
  const worker = new Worker(
    queue.name,
    async (job: Job, token?: string) => {
      if (job.name === PING_JOB) return markProgress(redis, prefix, queue.name);
      await turns.enter(job, token);
      const started = performance.now();
      let failed = true;
      try {
        await run(job, token, handlers).catch(async (error: unknown) => {
          await comeBackIfLost(job, error, { token, spec: queues[name], answerWithinMs });
          throw error;
        });
        failed = false;
        outcomes.done();
      } catch (error) {
        if (error instanceof ConnectionLost)
          log.warn({ queue: name, job: job.name, err: error.message }, 'connection lost: the job comes back');
        // A refused command and a job that comes back later are no failures of the work.
        else if (error instanceof UnrecoverableError || error instanceof DelayedError) outcomes.done();
        else outcomes.failed(job.id ?? '', error as Error);
        throw error;
      } finally {
        turns.leave(job);
        options.onFinished?.({ queue: name, name: job.name, seconds: (performance.now() - started) / 1000, failed });
      }
    },
    {
      connection: redis,
      prefix: keyPrefix(prefix, queue.name),
      concurrency: options.concurrency + turns.places,
      ...ASKING,
      ...(queues[name].waited ? WAITED_LOCK : RETRIED_LOCK),
    },
  );
  worker.on('error', (error) => log.warn({ queue: name, err: error.message }, 'queue connection trouble'));
  worker.on('failed', (job, error) => {
    const details = {
      queue: name,
      job: job?.name,
      id: job?.id,
      attempt: job?.attemptsMade,
      ...(typeof job?.data.organization_id === 'string' ? { organization_id: job.data.organization_id } : {}),
      err: error,
    };
    if (error instanceof UnrecoverableError) log.info(details, 'job refused');
    else log.error(details, 'job failed');
  });
  return worker;
}

/** Time after which a called job that has not arrived is not expected any longer: another process has it. */
const ARRIVES_WITHIN_MS = 500;

/**
 * Decides which of the jobs taken by the workers of a queue's parts may run.
 *
 * enter takes the job's slot, waiting for it if it is held; parks the job and never returns if there is no place for it
 * settled resolves when all calls in progress have been made
 */
function takeTurns(stored: readonly Queue[], { redis, prefix, concurrency }: ServeOptions, spec: QueueSpec) {
  const shares = openShares(concurrency, spec.mostOfOrganization);
  const hasSlot = (owner: Owner | undefined): boolean =>
    owner === undefined ? shares.enterUnowned() : shares.enter(owner).full === undefined;
  const held = openHeldJobs(spec.heldOfOrganization ?? 0, hasSlot);
  const parked = stored.map((queue) => openParkedJobs(redis, prefix, queue));
  const parkedWith = ({ organizationId }: Lane) => parked[partOf(organizationId, parked.length)]!;
  /** Of the part that the job came from: not its organization's where the number of parts was another one. */
  const parkedOf = (job: Job) => parked[stored.findIndex(({ name }) => name === job.queueName)]!;
  /** Lanes that may have parked jobs: they are called when jobs of their organization leave. */
  const crowded = openCrowdedLanes();
  /** Called jobs by lane that have not arrived, and when the last of them was called. */
  const onTheWay = new Map<string, { count: number; sinceMs: number }>();
  const calling = new Set<Promise<void>>();

  /** How many jobs of a lane may come: for slots, and for places once half of them are free, so that several come. */
  function wanted(lane: Lane): number {
    const slots = shares.room(lane) - expectedOf(nameOf(lane));
    if (lane.customerKey !== undefined) return slots;
    const places = held.room(lane.organizationId);
    return places * 2 > (spec.heldOfOrganization ?? 0) ? slots + places : slots;
  }

  async function call(lane: Lane, count: number, where: ParkedJobs = parkedWith(lane)): Promise<number> {
    if (count <= 0) return 0;
    const names = namesOf(lane);
    for (const name of names) expect(name, count);
    const called = await where.call(lane, count);
    for (const name of names) expect(name, called - count);
    if (called < count) crowded.delete(lane);
    return called;
  }

  function expect(name: string, more: number): void {
    const count = Math.max(0, expectedOf(name) + more);
    if (count === 0) onTheWay.delete(name);
    else onTheWay.set(name, { count, sinceMs: realNowMs() });
  }

  function expectedOf(name: string): number {
    const coming = onTheWay.get(name);
    return coming === undefined || realNowMs() - coming.sinceMs > ARRIVES_WITHIN_MS ? 0 : coming.count;
  }

  /** Calls from the lanes of an organization, the owner's first, as long as there is room. */
  async function callNext(owner: Owner): Promise<void> {
    for (const lane of crowded.of(owner)) {
      const left = wanted({ organizationId: owner.organizationId });
      if (left <= 0) return;
      await call(lane, Math.min(left, wanted(lane)));
    }
  }

  function inBackground(work: Promise<void>): void {
    const made = work.catch(() => {}).finally(() => calling.delete(made)); // a lost call is made up by a sweep
    calling.add(made);
  }

  return {
    places: held.places,
    async enter(job: Job, token: string | undefined): Promise<void> {
      const owner = ownerOf(job.data);
      const isCalled = mayBeCalled(job);
      if (isCalled) {
        parkedOf(job).arrived(job.id!);
        if (owner !== undefined) for (const name of namesOf(owner)) if (onTheWay.has(name)) expect(name, -1);
      }
      if (owner === undefined) {
        if (!shares.enterUnowned()) await held.wait(owner, job.data);
        return;
      }
      const { full } = shares.enter(owner);
      if (full === undefined) return;
      // What came later waits behind the parked ones; a customer's own limit leaves places to the others.
      const mayWait = full.customerKey === undefined && (isCalled || !crowded.has(full));
      if (mayWait && (await held.wait(owner, job.data))) return;
      await parkedOf(job).park(job, token, full);
      crowded.add(full);
      // All other jobs may have left meanwhile, without calling this one, which was not listed yet.
      inBackground(callNext(owner));
      throw new DelayedError();
    },
    leave(job: Job): void {
      const owner = ownerOf(job.data);
      if (owner === undefined) shares.leaveUnowned();
      else shares.leave(owner);
      held.letGo();
      if (owner !== undefined) inBackground(callNext(owner));
    },
    async look(): Promise<void> {
      const found = await Promise.all(parked.map((each) => each.look()));
      // As many as a look finds at most: there may be others, which stay known.
      if (found.every((lanes) => lanes.length < MOST_AT_ONCE)) crowded.replace(found.flat());
      else for (const lane of found.flat()) crowded.add(lane);
      for (const [part, lanes] of found.entries())
        for (const lane of lanes) await call(lane, wanted(lane), parked[part]!);
    },
    /** Parks what is held, since the process ends. */
    close: held.close,
    async settled(): Promise<void> {
      await Promise.all(calling);
    },
  };
}

/** The lane of an organization, and the one of a customer. */
const namesOf = ({ organizationId, customerKey }: Lane): string[] => [
  nameOf({ organizationId }),
  ...(customerKey === undefined ? [] : [nameOf({ organizationId, customerKey })]),
];

interface OwnedData {
  organization_id?: unknown;
  customer_key?: unknown;
  customer_id?: unknown;
  item?: { customer_id?: unknown } | null;
}

/** The only place that reads the owner of a job, from fields with the same name in every payload. */
function ownerOf(data: OwnedData): Owner | undefined {
  if (typeof data.organization_id !== 'string') return undefined;
  const customerKey = data.customer_key ?? data.customer_id ?? data.item?.customer_id;
  return {
    organizationId: data.organization_id,
    customerKey: typeof customerKey === 'string' ? customerKey : undefined,
  };
}

async function run(job: Job, token: string | undefined, handlers: Partial<Handlers>): Promise<void> {
  const name = job.name as JobName;
  const handler = handlers[name] as ((payload: unknown, info: JobInfo) => Promise<void>) | undefined;
  if (!handler) throw new UnrecoverableError(`no handler for job ${job.name}`);
  const parsed = jobs[name].payload.safeParse(job.data);
  if (!parsed.success) throw new UnrecoverableError(`payload of ${job.name} does not fit: ${parsed.error.message}`);
  const attempt = job.attemptsMade + 1;
  const info: JobInfo = {
    id: job.id ?? '',
    attempt,
    lastAttempt: attempt >= (job.opts.attempts ?? 1),
    addedAtMs: job.timestamp,
    async comeBack(delayMs) {
      await job.moveToDelayed(realNowMs() + delayMs, token);
      throw new DelayedError();
    },
  };
  try {
    await handler(parsed.data, info);
  } catch (error) {
    if (error instanceof Refusal) throw new UnrecoverableError(error.message);
    throw error;
  }
}

function every(intervalMs: number, work: () => Promise<unknown>): { run(): void; stop(): void } {
  const run = () => void work().catch(() => {}); // the next sweep tries again
  const timer = setInterval(run, intervalMs);
  return { run, stop: () => clearInterval(timer) };
}
