import postgres from 'postgres';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { refusalOfDatabase } from '../../../src/platform/db/refusal-of-database.ts';
import { json } from '../../../src/platform/db/values.ts';
import { createTestDatabase, type TestDatabase } from '../../support/database.ts';

let database: TestDatabase;
beforeAll(async () => {
  database = await createTestDatabase();
});
afterAll(() => database.drop());

test('a text that Postgres cannot store is a refusal, and a broken statement is not', async () => {
  const { sql } = database;
  const failed = async (statement: Promise<unknown>) => refusalOfDatabase(await statement.catch((error) => error));
  expect((await failed(sql`select ${json({ code: '\0' })}::jsonb ->> 'code'`))?.body).toMatchObject({
    status: 422,
    error_details: { base: ['invalid_format'] },
  });
  expect(await failed(sql`select 1 / 0`)).toBeUndefined();
});

test('a second live version of a quote is a refusal', () => {
  const violation = { code: '23505', constraint_name: 'quote_versions_alive_key' };
  const refusal = refusalOfDatabase(Object.assign(new postgres.PostgresError('taken'), violation));
  expect(refusal?.body).toEqual({ status: 403, error: 'Forbidden', code: 'active_version_exists' });
});

test('a code that another record took at the same moment is a refusal for every kind of record', async () => {
  const keys = await database.sql<{ name: string }[]>`
    select relname as name from pg_class join pg_index on indexrelid = pg_class.oid
    where indisunique and relname like '%\_code\_key' and relname not like 'applied%'
      and relnamespace = current_schema()::regnamespace
    order by relname`;
  expect(keys.length).toBeGreaterThan(15);
  const answers = keys.map(({ name }) => {
    const violation = Object.assign(new postgres.PostgresError('taken'), { code: '23505', constraint_name: name });
    return refusalOfDatabase(violation)?.body.error_details;
  });
  const taken = { code: ['value_already_exist'] };
  expect(answers).toEqual(
    keys.map(({ name }) => (name === 'privileges_code_key' ? { 'privilege.code': ['value_already_exist'] } : taken)),
  );
});
