import { randomUUID } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import type { Redis } from 'ioredis';
import { afterAll, beforeAll, expect, inject, test } from 'vitest';
import { createOrganization } from '../../../../src/areas/tenancy/organizations/commands.ts';
import { packBatch } from '../../../../src/areas/usage/events/packed-batch.ts';
import { storeHandlers } from '../../../../src/areas/usage/ingest-events/jobs.ts';
import { createOnceEach } from '../../../../src/areas/usage/ingest-events/once-each.ts';
import { newId } from '../../../../src/platform/ids.ts';
import { createLog } from '../../../../src/platform/log/log.ts';
import { createMetrics } from '../../../../src/platform/metrics/metrics.ts';
import { createProducer } from '../../../../src/platform/queue/producer.ts';
import { serveQueue } from '../../../../src/platform/queue/worker.ts';
import { connectPatiently } from '../../../../src/platform/redis/connect.ts';
import { openReplies } from '../../../../src/platform/replies/replies.ts';
import { createTestDatabase, type TestDatabase } from '../../../support/database.ts';
import { until } from '../../../support/until.ts';
import { incoming, storage } from './build.ts';

/** Longer than the lock of a job whose caller waits. */
const STANDS_STILL_MS = 3500;

let database: TestDatabase;
let statements = 0;
const redis: Redis[] = [];
const connect = () => {
  const connection = connectPatiently(inject('redisUrl'), 'test');
  redis.push(connection);
  return connection;
};
beforeAll(async () => {
  const onStatement = (text: string) => {
    if (text.includes('insert into events (')) statements += 1;
  };
  database = await createTestDatabase({ onStatement });
});
afterAll(async () => {
  for (const connection of redis) connection.disconnect();
  await database.drop();
});

test('a job that is delivered again while it runs is stored once', async () => {
  const { sql } = database;
  const { organization_id: id } = await createOrganization(sql, { name: 'Acme', sandbox: false });
  // The statement takes until the job has been given out a second time.
  await sql.unsafe(`
    create table gate (is_open boolean);
    create function slow() returns trigger language plpgsql as $$
      begin
        while not exists (select from gate) loop perform pg_sleep(0.05); end loop;
        return null;
      end $$;
    create trigger slow before insert on events for each statement execute function slow()`);
  const isStoring = async () => {
    const running = await sql`
      select from pg_stat_activity
      where datname = current_database() and wait_event = 'PgSleep'`;
    return running.length > 0;
  };
  const prefix = `t${randomUUID().slice(0, 8)}`;
  const connection = connect();
  const producer = createProducer(connection, prefix);
  const replies = await openReplies(connect(), prefix, 'me');
  const { deps } = storage(sql);
  const handlers = storeHandlers({
    ...deps,
    redis: connection,
    config: { REDIS_PREFIX: prefix } as never,
    metrics: createMetrics('test'),
  });
  let given = 0;
  let ended = 0;
  const served = serveQueue(
    'events',
    {
      async 'events.store'(job, info) {
        given += 1;
        const isFirst = given === 1;
        const stored = handlers['events.store'](job, info);
        if (isFirst) {
          await until(isStoring);
          const from = performance.now();
          while (performance.now() - from < STANDS_STILL_MS); // as large values do on a busy machine
        }
        await stored;
        ended += 1;
      },
    },
    { redis: connection, prefix, concurrency: 5, log: createLog({ level: 'silent', process: 'test' }) },
  );
  const cid = newId();
  const reply = replies.wait(cid, 60_000);
  await producer.add('events.store', { v: 1, from: 'me', cid, at: 0, batches: [packBatch(incoming(id, [{}, {}]))] });
  await until(() => given > 1);
  await sql`insert into gate values (true)`;
  expect(await reply).toBeNull();
  await until(async () => (await producer.queue('events').getJobCountByTypes('active', 'wait', 'delayed')) === 0);
  expect(ended).toBe(given);
  expect(statements).toBe(1);
  await served.close();
  await producer.close();
  replies.close();
});

test('a copy of a job waits for the first, a late copy has nothing to do, and a failed job is run again', async () => {
  const once = createOnceEach();
  let runs = 0;
  const work = async () => {
    runs += 1;
    await pause(10);
  };
  await Promise.all([once('a', work), once('a', work), once('b', work)]);
  await once('a', work);
  expect(runs).toBe(2);
  const fail = () => Promise.reject(new Error('no'));
  await expect(Promise.all([once('c', fail), once('c', work)])).rejects.toThrow('no');
  await once('c', work);
  expect(runs).toBe(3);
});
