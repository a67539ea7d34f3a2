import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { connectDatabase, type Sql } from '../../../src/platform/db/connect.ts';
import { createTestDatabase, type TestDatabase } from '../../support/database.ts';
import { inLongRun } from '../../support/long-run.ts';

// Postgres cuts connections in the middle of transactions: a restart, a failover, an operator. The driver is mended for
// it by bin/patch-driver.mjs.
let database: TestDatabase;
let killer: Sql;

beforeAll(async () => {
  database = await createTestDatabase({ connections: 4 });
  killer = connectDatabase(database.url, { connections: 1 });
  await killer`create table parts (round integer not null, part integer not null)`;
});
afterAll(async () => {
  await killer.end();
  await database.drop();
});

const ROUNDS = inLongRun(120, 60);
const AT_ONCE = 4;
const WITHIN_MS = 10_000;

const cut = (pid: number) => killer`select pg_terminate_backend(${pid})`;

/** A transaction that is cut after its first part and goes on as if nothing had happened. */
const cutTransaction = (round: number) =>
  database.sql.begin(async (tx) => {
    const [row] = await tx<{ pid: number }[]>`select pg_backend_pid() as pid`;
    await tx`insert into parts values (${round}, 1)`;
    if (round % 2 === 0) await cut(row!.pid);
    else
      await Promise.allSettled([cut(row!.pid), tx`select pg_sleep(0.02)`, tx`insert into parts values (${round}, 2)`]);
    if (round % 3 === 0) await new Promise((resolve) => setImmediate(resolve));
    await tx`insert into parts values (${round}, 3)`.catch(() => {});
    await tx`insert into parts values (${round}, 4)`;
  });

const inTime = <Result>(promise: Promise<Result>): Promise<Result | 'hangs'> =>
  Promise.race([
    promise,
    new Promise<'hangs'>((resolve) => {
      setTimeout(() => resolve('hangs'), WITHIN_MS).unref();
    }),
  ]);

const readAll = (settle: (query: Promise<unknown>) => Promise<unknown>) =>
  Promise.all(
    Array.from({ length: 8 }, (_, n) =>
      inTime(settle(database.sql<{ n: number }[]>`select ${n}::integer as n`.then(([row]) => row!.n))),
    ),
  );

test('the installed driver is the patched one', () => {
  for (const file of ['index.js', 'connection.js'])
    expect(readFileSync(new URL(`./${file}`, import.meta.resolve('postgres')), 'utf8')).toMatch(/^\/\* mended \*\//);
});

test('a transaction whose connection is cut rejects, keeps nothing and leaves a working pool', async () => {
  const outcomes: string[] = [];
  const worker = async (first: number) => {
    for (let round = first; round < ROUNDS; round += AT_ONCE) {
      const outcome = await inTime(
        cutTransaction(round).then(
          () => 'committed',
          (error) => (typeof error.code === 'string' ? 'rejected' : String(error)),
        ),
      );
      outcomes.push(outcome);
    }
  };
  let readsOver = false;
  const reads = (async () => {
    while (!readsOver) expect(await inTime(database.sql`select 1 as one`.catch(() => []))).not.toBe('hangs');
  })();
  await Promise.all(Array.from({ length: AT_ONCE }, (_, index) => worker(index)));
  readsOver = true;
  await reads;
  expect(new Set(outcomes)).toEqual(new Set(['rejected']));
  expect(await killer`select * from parts`).toHaveLength(0);
  expect(await readAll((query) => query)).toEqual([0, 1, 2, 3, 4, 5, 6, 7]);
});

test('a reserved connection that is cut refuses later statements and is not returned twice', async () => {
  const reserved = await database.sql.reserve();
  const [row] = await reserved<{ pid: number }[]>`select pg_backend_pid() as pid`;
  await cut(row!.pid);
  await expect(inTime(reserved`select pg_sleep(1)`)).rejects.toThrow();
  reserved.release();
  // A connection may still be given out while its end is on the way: then its query is refused, none waits for ever.
  const early = await readAll((query) => query.catch(() => 'refused'));
  expect(early).not.toContain('hangs');
  expect(await readAll((query) => query)).toEqual([0, 1, 2, 3, 4, 5, 6, 7]);
});
