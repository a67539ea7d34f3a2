import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, expect, inject, test } from 'vitest';
import { createLog } from '../../../src/platform/log/log.ts';
import { backAfterMs } from '../../../src/platform/queue/lost-connections.ts';
import { createProducer, type Producer } from '../../../src/platform/queue/producer.ts';
import type { JobInfo } from '../../../src/platform/queue/worker.ts';
import { serveQueue } from '../../../src/platform/queue/worker.ts';
import type { Redis } from '../../../src/platform/redis/connect.ts';
import { connectPatiently } from '../../../src/platform/redis/connect.ts';
import { queues } from '../../../src/queues.ts';
import { until } from '../../support/until.ts';

// Rule: several-hosts.md#fail-over.
const prefix = `t${randomUUID().slice(0, 8)}`;
const log = createLog({ level: 'silent', process: 'test' });
let redis: Redis;
let producer: Producer;
beforeAll(() => {
  redis = connectPatiently(inject('redisUrl'), 'test');
  producer = createProducer(redis, prefix);
});
afterAll(async () => {
  await producer.close();
  redis.disconnect();
});

test('a job whose connection is lost runs again as its first attempt, until it succeeds', async () => {
  const seen: Pick<JobInfo, 'attempt' | 'lastAttempt'>[] = [];
  const lost = ['25006', '57P01', 'CONNECTION_CLOSED', '08006', '57P03'];
  const served = serveQueue(
    'periodic',
    {
      'periodic.tick': async (_payload, { attempt, lastAttempt }) => {
        seen.push({ attempt, lastAttempt });
        const code = lost[seen.length - 1];
        if (code !== undefined) throw Object.assign(new Error(code), { code });
      },
    },
    { redis, prefix, concurrency: 1, log },
  );
  await producer.add('periodic.tick', { job: 'x', at: '2030-01-01T00:00:00Z' }, { id: 'lost' });
  await until(() => seen.length > lost.length, 20_000);
  await served.close();
  // Of three attempts none was used.
  expect(seen).toEqual(Array.from({ length: lost.length + 1 }, () => ({ attempt: 1, lastAttempt: false })));
  expect(await producer.queue('periodic').getFailedCount()).toBe(0);
});

// Five tries, 1.5 s apart, and a second for the answer are the last 7 s of the time in which a caller is answered.
test.each([
  [queues.writes, -20, undefined, 300],
  [queues.writes, 2000, undefined, 500],
  [queues.writes, 2900, undefined, 100],
  [queues.writes, 3000, undefined, undefined],
  [queues.writes, 3000, 60_000, 750],
  [queues.writes, 40_000, 60_000, 5000],
  [queues.writes, 53_000, 60_000, undefined],
  [queues.writes, 0, 3000, undefined],
  [queues.periodic, 599_999, undefined, 1],
  [queues.periodic, 590_000, undefined, 5000],
  [queues.periodic, 600_000, undefined, undefined],
])(
  'who waits for a job is told in time; others come back for ten minutes (%#)',
  (spec, ageMs, answerWithinMs, delay) => {
    expect(backAfterMs(spec, ageMs, answerWithinMs)).toBe(delay);
  },
);
