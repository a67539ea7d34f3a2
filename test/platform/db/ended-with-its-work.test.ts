import { afterAll, beforeAll, expect, test } from 'vitest';
import { connectDatabase, type Sql } from '../../../src/platform/db/connect.ts';
import { TransactionOver } from '../../../src/platform/db/ended-with-its-work.ts';
import { startService, type TestService } from '../../support/service.ts';

let service: TestService;
let sql: Sql;
beforeAll(async () => {
  service = await startService();
  sql = connectDatabase(service.config.DATABASE_URL, { connections: 1 });
});
afterAll(async () => {
  await sql.end();
  await service.stop();
});

test('work that goes on beside a part that failed sends nothing into the next transaction', async () => {
  let late: Promise<unknown> | undefined;
  const failed = sql.begin(async (tx) => {
    late = (async () => {
      await tx`select pg_sleep(0.05)`;
      await tx`create temporary table written_late (id int)`;
    })();
    await Promise.all([late, Promise.reject(new Error('a part failed'))]);
  });
  await expect(failed).rejects.toThrow('a part failed');
  await sql.begin(async (tx) => {
    await expect(late).rejects.toThrow(TransactionOver);
    expect(await tx`select to_regclass('written_late') as found`).toEqual([{ found: null }]);
  });
});

test('a transaction refuses what comes after it, by text too, and answers a list of statements', async () => {
  const [tx, rows] = await sql.begin(async (open) => [open, await open`select 1 as one`]);
  expect(rows).toEqual([{ one: 1 }]);
  expect(() => tx`select 1`).toThrow(TransactionOver);
  expect(() => tx.unsafe('select 1')).toThrow(TransactionOver);
  expect(await sql.begin((open) => [open`select 1 as one`, open`select 2 as two`])).toEqual([
    [{ one: 1 }],
    [{ two: 2 }],
  ]);
});
