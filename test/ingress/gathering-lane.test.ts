import { setTimeout as pause } from 'node:timers/promises';
import { beforeEach, expect, test } from 'vitest';
import type { Command } from '../../src/ingress/command-lane.ts';
import { createGatheringLane } from '../../src/ingress/gathering-lane.ts';
import { until } from '../support/until.ts';

const JOB_MS = 40;
/** So long that a rest of a tenth of a second is far from twice as long, also on a busy machine. */
const LONG_JOB_MS = 2000;

/** Jobs that were sent: when, how many commands each, and what ends them. */
let jobs: { at: number; commands: { cid: string }[]; end(): Promise<void>; endedAt: number }[];
let lane: ReturnType<typeof createGatheringLane>;

beforeEach(() => {
  jobs = [];
  const waiting = new Map<string, (reply: unknown) => void>();
  lane = createGatheringLane({
    config: { WRITE_TIMEOUT_SECONDS: 10 },
    processId: 'here',
    replies: { wait: (cid: string) => new Promise((resolve) => waiting.set(cid, resolve)), close() {} },
    producer: {
      async add(_name: string, { cid, commands }: { cid: string; commands: { cid: string }[] }) {
        const job = {
          at: performance.now(),
          commands,
          endedAt: 0,
          async end() {
            for (const command of commands) waiting.get(command.cid)!({ status: 200, body: '{}', headers: {} });
            job.endedAt = performance.now();
            waiting.get(cid)!(true);
          },
        };
        jobs.push(job);
      },
    },
  } as never);
});

const run = (isAlone = false) =>
  lane.run({ command: { organization_id: 'acme' } as unknown as Command, key: 'acme|wallet', isAlone });
const many = (count: number) => Promise.all(Array.from({ length: count }, () => run()));

test('the first command of a record is sent at once, the next ones 25 together in one job after the other', async () => {
  const answers = many(60);
  expect(jobs.map(({ commands }) => commands.length)).toEqual([1]);
  for (let count = 1; count <= 4; count += 1) {
    await until(() => jobs.length === count);
    await jobs.at(-1)!.end();
  }
  expect(jobs.map(({ commands }) => commands.length)).toEqual([1, 25, 25, 9]);
  expect((await answers).every(({ status }) => status === 200)).toBe(true);
});

test('commands that need their own transaction take more room in a gathered job', async () => {
  const answers = Promise.all([run(), ...[true, true, true].map(run)]);
  for (let count = 1; count <= 3; count += 1) {
    await until(() => jobs.length === count);
    await jobs.at(-1)!.end();
  }
  expect(jobs.map(({ commands }) => commands.length)).toEqual([1, 2, 1]);
  await answers;
});

test('after a job the line of a record rests twice as long as the job took, and at most a tenth of a second', async () => {
  const answers = many(60);
  await pause(JOB_MS);
  await jobs[0]!.end();
  await until(() => jobs.length === 2, undefined, 1);
  expect(jobs[1]!.at - jobs[0]!.endedAt).toBeGreaterThanOrEqual(2 * JOB_MS - 2);
  await pause(LONG_JOB_MS);
  await jobs[1]!.end();
  await until(() => jobs.length === 3, undefined, 1);
  const restMs = jobs[2]!.at - jobs[1]!.endedAt;
  expect(restMs).toBeGreaterThanOrEqual(98);
  // Twice as long as it took would be twice that.
  expect(restMs).toBeLessThan(LONG_JOB_MS);
  await jobs[2]!.end();
  await until(() => jobs.length === 4);
  await jobs[3]!.end();
  await answers;
});

test('a single caller never waits for a rest', async () => {
  for (let count = 1; count <= 3; count += 1) {
    const answer = run();
    expect(jobs).toHaveLength(count);
    await pause(JOB_MS);
    await jobs.at(-1)!.end();
    await answer;
    await pause(0);
  }
});
