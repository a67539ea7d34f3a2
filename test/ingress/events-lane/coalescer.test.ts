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
    config: { WRITE_TIMEOUT_SECONDS: 10, EVENTS_MAX_WAITING: 5000, ...settings },
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

describe('events that would hold up others', () => {
  const owners = (jobs: Sent[]) => jobs.map((job) => job.organization_id);

  test('travel apart once they were held, for half a minute, and the others go on together', async () => {
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

  test('are answered within the time of their first job', async () => {
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

  test('travel apart when they are larger than a job', async () => {
    const { coalescer, jobs } = wall();
    void coalescer.send(batch(3, 200_000, 'a'), '');
    void coalescer.send(batch(1, 10, 'b'), '');
    await turn();
    expect(owners(jobs).sort()).toEqual(['a', undefined]);
  });
});

describe('coalescing', () => {
  test('requests of one turn travel together, and those that come while a job is in flight', async () => {
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

  test('a second job is sent beside the first when it is large, a third never', async () => {
    const { coalescer, sizes } = wall();
    for (const events of [1, 29, 1, 499, 100]) {
      void coalescer.send(batch(events), '');
      await turn();
    }
    expect(sizes()).toEqual([[1], [29, 1]]);
  });

  test('a second job is half of all that wait, or full', async () => {
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

  test('a job holds at most 500 events and 512 KiB; a larger request goes alone', async () => {
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

  test('organizations take turns: one event of another does not wait behind a thousand', async () => {
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

  test('a send that hangs gives its place up to the others', async () => {
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

describe('answers', () => {
  test('no reply within the write timeout: 504 with the id of each request', async () => {
    const { coalescer } = wall();
    const answers = ['a', 'b'].map((id) => coalescer.send(batch(1), id).catch((error) => error));
    await vi.advanceTimersByTimeAsync(10_000);
    for (const [index, answer] of (await Promise.all(answers)).entries())
      expect(answer.body).toMatchObject({ status: 504, code: 'write_pending', request_id: ['a', 'b'][index] });
  });

  test('a job that failed for good, or that Redis refused: 503', async () => {
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

describe('back-pressure', () => {
  test('full while as many events wait as a process may hold', async () => {
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

  test('one organization fills half, and what another one fills is left to it', async () => {
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

  test('what Redis has not taken counts even after its requests were answered', async () => {
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

test('stopping sends what is open and waits for its answers', async () => {
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
