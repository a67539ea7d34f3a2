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

test('a file without a transaction runs its statements one by one, however long one takes', async () => {
  const database = await createTestDatabase();
  const directory = await mkdtemp(join(tmpdir(), 'migrations-'));
  const sql = connectDatabase(database.url, { connections: 1, name: 'test' });
  await sql`create table rooms (id integer)`;
  await writeFile(
    join(directory, '0001_find_rooms.sql'),
    [
      '-- no transaction\n-- Why: to find rooms.',
      'drop index concurrently if exists rooms_id;\ncreate index concurrently rooms_id on rooms (id);',
      "create table limits as select current_setting('statement_timeout') as statement_timeout;\n",
    ].join('\n'),
  );
  try {
    expect(await migrate(sql, directory)).toEqual(['0001_find_rooms.sql']);
    expect(await sql`select statement_timeout from limits`).toEqual([{ statement_timeout: '0' }]);
    expect(await sql`select indexname from pg_indexes where tablename = 'rooms'`).toEqual([{ indexname: 'rooms_id' }]);
    expect(await sql`show statement_timeout`).toEqual([{ statement_timeout: '1min' }]);
  } finally {
    await sql.end();
    await database.drop();
  }
});
