import { afterAll, beforeAll, expect, test } from 'vitest';
import { connectDatabase, type Sql } from '../../../src/platform/db/connect.ts';
import { isPassing } from '../../../src/platform/db/refusal-of-database.ts';
import { createTestDatabase, type TestDatabase } from '../../support/database.ts';
import { until } from '../../support/until.ts';

// A primary that was demoted stays read-only: its connections are of no use any more. The driver is mended for it by
// bin/patch-driver.mjs.
let database: TestDatabase;
let pool: Sql;
const CONNECTIONS = 3;

beforeAll(async () => {
  database = await createTestDatabase();
  await database.sql`create table notes (id integer)`;
  await setReadOnly('on');
  pool = connectDatabase(database.url, { connections: CONNECTIONS });
});
afterAll(async () => {
  await pool.end();
  await database.drop();
});

const setReadOnly = (value: 'on' | 'off') =>
  database.sql.unsafe(
    `do $$ begin execute format('alter database %I set default_transaction_read_only = ${value}', current_database()); end $$`,
  );

/** Sessions of the pool, all of them: a connection that is being closed meanwhile has no session yet. */
const sessions = (): Promise<number[]> =>
  until(async () => {
    const rows = await Promise.all(
      Array.from({ length: CONNECTIONS }, () => pool<{ pid: number }[]>`select pg_backend_pid() as pid, pg_sleep(0.2)`),
    );
    const pids = [...new Set(rows.map(([row]) => row!.pid))];
    return pids.length === CONNECTIONS ? pids : undefined;
  });

test('a write refused by a read-only server is an outage, and the whole pool looks for another server', async () => {
  const before = await sessions();
  await setReadOnly('off');
  const underWay = pool`select 1 as one, pg_sleep(0.5)`;
  const error = await pool`insert into notes (id) values (1)`.catch((failed) => failed);
  expect(error.code).toBe('25006');
  expect(isPassing(error)).toBe(true);
  expect((await underWay)[0]).toMatchObject({ one: 1 });
  await pool`insert into notes (id) values (2)`;
  const after = await sessions();
  expect(after.filter((pid) => before.includes(pid))).toEqual([]);
  expect(await pool`select id from notes`).toEqual([{ id: 2 }]);
});

test('a transaction refused by a read-only server ends with the same error, and the pool keeps working', async () => {
  await setReadOnly('on');
  const other = connectDatabase(database.url, { connections: 1 });
  await other`select 1`;
  await setReadOnly('off');
  const error = await other
    .begin(async (tx) => {
      await tx`select 1`;
      await tx`insert into notes (id) values (3)`;
    })
    .catch((failed) => failed);
  expect(error.code).toBe('25006');
  await other.begin(async (tx) => {
    await tx`insert into notes (id) values (4)`;
  });
  expect(await other`select id from notes order by id`).toEqual([{ id: 2 }, { id: 4 }]);
  await other.end();
});
