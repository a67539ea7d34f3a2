import { afterAll, beforeAll, expect, test } from 'vitest';
import { createTestDatabase, type TestDatabase } from '../../support/database.ts';

// A preview defers the checks of its references to a commit that never comes; one that cannot be deferred locks the row
// it refers to, and whoever changes that waits for the preview. everywhere.md#bounded-cost.
let database: TestDatabase;
beforeAll(async () => {
  database = await createTestDatabase();
});
afterAll(() => database.drop());

/**
 * References that are checked at once even in a preview, each with the reason why no preview can hold anybody up by it.
 */
const AT_ONCE: Readonly<Record<string, string>> = {};

test('foreign keys can be deferred by a transaction that asks for it and are checked at once for all others', async () => {
  const references = await database.sql<{ name: string; at_once: boolean; deferred: boolean }[]>`
    select conrelid::regclass || '.' || conname as name, not condeferrable as at_once, condeferred as deferred
    from pg_constraint
    where contype = 'f' and connamespace = 'public'::regnamespace
    order by 1`;
  expect(references.length).toBeGreaterThan(200);
  expect(references.filter(({ at_once }) => at_once).map(({ name }) => name)).toEqual(Object.keys(AT_ONCE));
  expect(references.filter(({ deferred }) => deferred)).toEqual([]);
});
