import { afterAll, beforeAll, expect, test } from 'vitest';
import { createTestDatabase, type TestDatabase } from '../../support/database.ts';

let database: TestDatabase;
beforeAll(async () => {
  database = await createTestDatabase({ connections: 1 });
});
afterAll(() => database.drop());

test('every database connection uses UTC, cancels hanging statements and disables JIT compilation', async () => {
  const settings = ['TimeZone', 'statement_timeout', 'jit'];
  const values = await Promise.all(
    settings.map(async (name) => (await database.sql.unsafe(`show ${name}`))[0]![name] as string),
  );
  expect(values).toEqual(['UTC', '1min', 'off']);
});
