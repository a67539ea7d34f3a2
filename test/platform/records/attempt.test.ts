import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Context } from '../../../src/platform/context.ts';
import { attempt } from '../../../src/platform/records/attempt.ts';
import { createTestDatabase, type TestDatabase } from '../../support/database.ts';

let database: TestDatabase;
beforeAll(async () => {
  database = await createTestDatabase();
  await database.sql`create table pieces (number smallint not null)`;
});
afterAll(() => database.drop());

test('a statement that fails takes its piece of the work away and nothing else', async () => {
  const owed: unknown[] = [];
  await database.sql.begin(async (db) => {
    const ctx = { db, record: () => {}, after: (step: unknown) => owed.push(step) } as unknown as Context;
    const piece = (number: number) =>
      attempt(ctx, async (own) => {
        own.after({ step: `${number}`, payload: {} } as never);
        await own.db`insert into pieces values (1), (${number})`;
        return number;
      });
    expect(await piece(2)).toBe(2);
    await expect(piece(70_000)).rejects.toMatchObject({ code: '22003' });
    expect(await piece(3)).toBe(3);
  });
  expect(await database.sql`select number from pieces order by number`).toEqual(
    [1, 1, 2, 3].map((number) => ({ number })),
  );
  expect(owed).toEqual([
    { step: '2', payload: {} },
    { step: '3', payload: {} },
  ]);
});
