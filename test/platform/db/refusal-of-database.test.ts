import { expect, test } from 'vitest';
import { refusalOfDatabase } from '../../../src/platform/db/refusal-of-database.ts';
import { createTestDatabase } from '../../support/database.ts';

test('a text that Postgres cannot store is a refusal, a broken statement is not', async () => {
  const { sql, drop } = await createTestDatabase();
  const failed = async (statement: Promise<unknown>) => refusalOfDatabase(await statement.catch((error) => error));
  expect((await failed(sql`select ${{ code: '\0' } as never}::jsonb ->> 'code'`))?.body).toMatchObject({
    status: 422,
    error_details: { base: ['invalid_format'] },
  });
  expect(await failed(sql`select 1 / 0`)).toBeUndefined();
  await drop();
});
