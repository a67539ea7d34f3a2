import { mkdtemp, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { connectDatabase } from '../../../src/platform/db/connect.ts';
import { migrate } from '../../../src/platform/db/migrate.ts';
import { createTestDatabase } from '../../support/database.ts';

test('a schema that is not there is made, once', async () => {
  const database = await createTestDatabase();
  const directory = await mkdtemp(join(tmpdir(), 'migrations-'));
  await writeFile(join(directory, '0001_rooms.sql'), 'create table rooms (id integer);');
  const sql = connectDatabase(database.url, { schema: 'house', connections: 1, name: 'test' });
  try {
    expect(await migrate(sql, directory)).toEqual(['0001_rooms.sql']);
    expect(await migrate(sql, directory)).toEqual([]);
    const [row] = await database.sql<{ found: string }[]>`select to_regclass('house.rooms')::text as found`;
    expect(row!.found).toBe('house.rooms');
  } finally {
    await sql.end();
    await database.drop();
  }
});
