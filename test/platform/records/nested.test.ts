import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import type { Context } from '../../../src/platform/context.ts';
import { dryRun, nested } from '../../../src/platform/records/nested.ts';
import { createTestDatabase, type TestDatabase } from '../../support/database.ts';

let database: TestDatabase;
const kept: unknown[] = [];
beforeAll(async () => {
  database = await createTestDatabase();
  await database.sql`create table pieces (number smallint not null)`;
});
afterAll(() => database.drop());
beforeEach(async () => {
  kept.length = 0;
  await database.sql`truncate pieces`;
});

const inTransaction = (work: (ctx: Context) => Promise<void>) =>
  database.sql.begin((db) =>
    work({
      db,
      record: (entry: unknown) => void kept.push(entry),
      after: (entry: unknown) => void kept.push(entry),
    } as unknown as Context),
  );

const write = (number: number) => async (own: Context) => {
  own.after({ step: `${number}`, payload: {} } as never);
  own.record({ keysChanged: true });
  await own.db`insert into pieces values (1), (${number})`;
  return number;
};

const pieces = async () =>
  (await database.sql<{ number: number }[]>`select number from pieces order by number`).map(({ number }) => number);
const of = (number: number) => [{ keysChanged: true }, { step: `${number}`, payload: {} }];

test('a statement that fails undoes its nested piece of work and nothing else', async () => {
  await inTransaction(async (ctx) => {
    expect(await nested(ctx, write(2))).toBe(2);
    await expect(nested(ctx, write(70_000))).rejects.toMatchObject({ code: '22003' });
    expect(await nested(ctx, write(3))).toBe(3);
  });
  expect(await pieces()).toEqual([1, 1, 2, 3]);
  expect(kept).toEqual([...of(2), ...of(3)]);
});

test('a nested piece within another is undone with it', async () => {
  const gone = new Error('gone');
  await inTransaction(async (ctx) => {
    const outer = nested(ctx, async (own) => {
      await nested(own, write(2));
      throw gone;
    });
    await expect(outer).rejects.toBe(gone);
  });
  expect(await pieces()).toEqual([]);
  expect(kept).toEqual([]);
});

test('a dry run stores nothing and returns its answer or throws its error', async () => {
  await inTransaction(async (ctx) => {
    expect(await dryRun(ctx, write(2))).toBe(2);
    expect(await dryRun(ctx, async () => undefined)).toBeUndefined();
    await expect(dryRun(ctx, write(70_000))).rejects.toMatchObject({ code: '22003' });
    await nested(ctx, write(3));
  });
  expect(await pieces()).toEqual([1, 3]);
  expect(kept).toEqual(of(3));
});
