import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import {
  HELD,
  type IncomingBatch,
  STORING_FAILED,
  type Verdict,
} from '../../../src/areas/usage/events/incoming-event.ts';
import { type PackedBatch, unpackBatch } from '../../../src/areas/usage/events/packed-batch.ts';
import { createCoalescer } from '../../../src/ingress/events-lane/coalescer.ts';

interface Sent {
  cid: string;
  organization_id?: string;
  batches: PackedBatch[];
}

/** A queue and a worker that answer when they are told to. */
function wall(settings: { EVENTS_MAX_WAITING?: number } = {}) {
  const jobs: Sent[] = [];
  const waiting = new Map<string, (reply: unknown) => void>();
  let add: (payload: Sent) => Promise<void> = async (payload) => void jobs.push(payload);
  const coalescer = createCoalescer({
    producer: { add: (_name: string, payload: unknown) => add(payload as Sent) } as never,
    replies: {
      wait: (cid, timeoutMs) =>
        new Promise((resolve) => {
          const timer = setTimeout(() => resolve(undefined), timeoutMs);
          waiting.set(cid, (reply) => {
            clearTimeout(timer);
            resolve(reply);
          });
        }),
      close: () => {},
    },
    config: { WRITE_TIMEOUT_SECONDS: 10, EVENTS_MAX_WAITING: 5000, EVENTS_QUEUES: 1, ...settings },
    processId: 'me',
  });
  return {
    coalescer,
    jobs,
    sizes: () => jobs.map((job) => job.batches.map((batch) => unpackBatch(batch).events.length)),
    reply: (index: number, reply: unknown) => waiting.get(jobs[index]!.cid)!(reply),
    queueIs: (behaviour: typeof add) => {
      add = behaviour;
    },
  };
}

const batch = (events: number, bytes = 10, organizationId = 'o'): IncomingBatch => ({
  organization_id: organizationId,
  sandbox: false,
  atomic: true,
  received_at: '',
  user_agent: null,
  remote_address: null,
  events: Array.from({ length: events }, (_, index) => ({
    id: `${index}`,
    transaction_id: 't',
    external_subscription_id: 's',
    code: 'c',
    timestamp: null,
    properties: 'x'.repeat(bytes),
    precise_total_amount_cents: null,
    digest: '',
  })),
});

const turn = () => vi.advanceTimersByTimeAsync(0);

beforeEach(() => vi.useFakeTimers());
afterEach(() => vi.useRealTimers());

describe('slow organizations in the events lane', () => {
  const owners = (jobs: Sent[]) => jobs.map((job) => job.organization_id);

  test('events that were held up travel in separate jobs for half a minute while the others go on together', async () => {
    const { coalescer, jobs, reply } = wall();
    const [first, other] = [coalescer.send(batch(2, 10, 'a'), ''), coalescer.send(batch(1, 10, 'b'), '')];
    await turn();
    reply(0, [HELD, HELD, 0]);
    expect(await other).toEqual([0]);
    await turn();
    expect(owners(jobs)).toEqual([undefined, 'a']);
    const [later, neighbour] = [coalescer.send(batch(1, 10, 'a'), ''), coalescer.send(batch(1, 10, 'b'), '')];
    await turn();
    expect(owners(jobs)).toEqual([undefined, 'a', undefined]);
    reply(2, null);
    expect(await neighbour).toEqual([0]);
    reply(1, [0, 1]);
    expect(await first).toEqual([0, 1]);
    await turn();
    expect(owners(jobs)).toEqual([undefined, 'a', undefined, 'a']);
    reply(3, null);
    expect(await later).toEqual([0]);
    await vi.advanceTimersByTimeAsync(30_000);
    void coalescer.send(batch(1, 10, 'a'), '');
    await turn();
    expect(owners(jobs)).toEqual([undefined, 'a', undefined, 'a', undefined]);
  });

  test('events that were set apart are answered within the time of their first job', async () => {
    const { coalescer, jobs, reply } = wall();
    const held = coalescer.send(batch(1), 'me').catch((error) => error);
    await turn();
    await vi.advanceTimersByTimeAsync(6000);
    reply(0, [HELD]);
    await turn();
    await turn();
    expect(owners(jobs)).toEqual([undefined, 'o']);
    await vi.advanceTimersByTimeAsync(4000);
    expect(await held).toMatchObject({ status: 504 });
  });

  test('events larger than a shared job travel in a job of their own', async () => {
    const { coalescer, jobs } = wall();
    void coalescer.send(batch(3, 200_000, 'a'), '');
    void coalescer.send(batch(1, 10, 'b'), '');
    await turn();
    expect(owners(jobs).sort()).toEqual(['a', undefined]);
  });
});

describe('shared jobs of the events lane', () => {
  test('requests of one turn share a job, and so do those that arrive while a job is in flight', async () => {
    const { coalescer, sizes, reply } = wall();
    const first = [coalescer.send(batch(1), 'a'), coalescer.send(batch(2), 'b')];
    await turn();
    const later = [coalescer.send(batch(1), 'c')];
    await turn();
    later.push(coalescer.send(batch(3), 'd'));
    await turn();
    expect(sizes()).toEqual([[1, 2]]);
    reply(0, null);
    expect(await Promise.all(first)).toEqual([[0], [0, 0]]);
    await turn();
    expect(sizes()).toEqual([
      [1, 2],
      [1, 3],
    ]);
    reply(1, [1, 0, { r: 'x' }, 0]);
    expect(await Promise.all(later)).toEqual([[1], [0, { r: 'x' }, 0]] satisfies Verdict[][]);
  });

  test('a second events job is sent beside a large one, a third never', async () => {
    const { coalescer, sizes } = wall();
    for (const events of [1, 29, 1, 499, 100]) {
      void coalescer.send(batch(events), '');
      await turn();
    }
    expect(sizes()).toEqual([[1], [29, 1]]);
  });

  test('a second events job takes half of what waits, or as much as it can hold', async () => {
    const { coalescer, sizes } = wall();
    for (const events of [100, 60, 39, 1]) {
      void coalescer.send(batch(events), '');
      await turn();
    }
    expect(sizes()).toEqual([[100], [60, 39, 1]]);
    const busy = wall();
    for (const events of [450, 100, 100, 100, 100, 100]) {
      void busy.coalescer.send(batch(events), '');
      await turn();
    }
    expect(busy.sizes()).toEqual([[450], [100, 100, 100, 100, 100]]);
  });

  test('an events job holds at most 500 events and 512 KiB, and a larger request goes alone', async () => {
    const { coalescer, sizes } = wall();
    for (const events of [300, 200, 101, 600]) void coalescer.send(batch(events), '');
    await turn();
    expect(sizes()).toEqual([[300, 200], [101]]);
    const heavy = wall();
    for (const events of [1, 1, 1]) void heavy.coalescer.send(batch(events, 200_000), '');
    await turn();
    expect(heavy.sizes()).toEqual([[1, 1]]);
    heavy.reply(0, null);
    await turn();
    expect(heavy.sizes()).toEqual([[1, 1], [1]]);
  });

  test('organizations take turns: one event does not wait behind a thousand of another organization', async () => {
    const { coalescer, jobs, reply } = wall();
    void coalescer.send(batch(1, 10, 'a'), '');
    await turn();
    for (let index = 0; index < 1000; index += 1) void coalescer.send(batch(1, 10, 'a'), '');
    void coalescer.send(batch(1, 10, 'b'), '');
    void coalescer.send(batch(200, 10, 'c'), '');
    await turn();
    reply(0, null);
    await turn();
    const next = jobs.slice(1).flatMap(({ batches }) => batches.map((packed) => unpackBatch(packed).organization_id));
    expect(next).toContain('b');
    expect(next).toContain('c');
    expect(next.indexOf('b')).toBeLessThan(3);
  });

  test('an events job that hangs gives up its place', async () => {
    const { coalescer, sizes } = wall();
    for (let index = 0; index < 2; index += 1) {
      void coalescer.send(batch(1), '');
      await turn();
    }
    expect(sizes()).toHaveLength(1);
    await vi.advanceTimersByTimeAsync(201);
    await turn();
    expect(sizes()).toHaveLength(2);
  });
});

describe('answers of the events lane', () => {
  test('without a reply within the write timeout each request gets 504 with its id', async () => {
    const { coalescer } = wall();
    const answers = ['a', 'b'].map((id) => coalescer.send(batch(1), id).catch((error) => error));
    await vi.advanceTimersByTimeAsync(10_000);
    for (const [index, answer] of (await Promise.all(answers)).entries())
      expect(answer.body).toMatchObject({ status: 504, code: 'write_pending', request_id: ['a', 'b'][index] });
  });

  test('a job that failed for good, or that Redis refused, gives 503', async () => {
    const { coalescer, reply, queueIs } = wall();
    const failed = coalescer.send(batch(1), '').catch((error) => error.status);
    await turn();
    reply(0, STORING_FAILED);
    expect(await failed).toBe(503);
    queueIs(() => Promise.reject(new Error('OOM')));
    const refused = coalescer.send(batch(1), '').catch((error) => error.status);
    await turn();
    expect(await refused).toBe(503);
  });
});

describe('limits of the events lane', () => {
  test('the lane is full while as many events wait as a process may hold', async () => {
    const { coalescer, reply } = wall({ EVENTS_MAX_WAITING: 3 });
    void coalescer.send(batch(2), '');
    await turn();
    expect(coalescer.isFull('p')).toBe(false);
    void coalescer.send(batch(1), '');
    expect(coalescer.isFull('p')).toBe(true);
    reply(0, null);
    await turn();
    expect(coalescer.isFull('p')).toBe(false);
  });

  test('one organization fills at most half of the lane and cannot be pushed out by another', async () => {
    const { coalescer, reply } = wall({ EVENTS_MAX_WAITING: 10 });
    void coalescer.send(batch(5, 10, 'a'), '');
    await turn();
    expect(coalescer.isFull('a')).toBe(false);
    void coalescer.send(batch(1, 10, 'a'), '');
    expect(coalescer.isFull('a')).toBe(true);
    expect(coalescer.isFull('b')).toBe(false);
    reply(0, null);
    await turn();
    expect(coalescer.isFull('a')).toBe(false);
  });

  test('events that Redis has not accepted count even after their requests were answered', async () => {
    const { coalescer, queueIs } = wall({ EVENTS_MAX_WAITING: 1 });
    let taken: () => void = () => {};
    queueIs(() => new Promise((resolve) => (taken = resolve)));
    const answer = coalescer.send(batch(1), '').catch((error) => error.status);
    await vi.advanceTimersByTimeAsync(10_000);
    expect(await answer).toBe(504);
    expect(coalescer.isFull('o')).toBe(true);
    taken();
    await turn();
    expect(coalescer.isFull('o')).toBe(false);
  });
});

test('stopping the lane sends what is open and waits for its answers', async () => {
  const { coalescer, sizes, reply } = wall();
  for (let index = 0; index < 2; index += 1) {
    void coalescer.send(batch(1), '');
    await turn();
  }
  let isStopped = false;
  const stopped = coalescer.stop().then(() => {
    isStopped = true;
  });
  await turn();
  expect(sizes()).toHaveLength(2);
  reply(0, null);
  await turn();
  expect(isStopped).toBe(false);
  reply(1, null);
  await stopped;
});
