import { mkdtemp, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { connectDatabase, type Sql } from '../../../src/platform/db/connect.ts';
import { migrate, schemaState } from '../../../src/platform/db/migrate.ts';
import { createEmptyDatabase, createTestDatabase } from '../../support/database.ts';

test('a missing schema is created once', async () => {
  const database = await createTestDatabase();
  const directory = await mkdtemp(join(tmpdir(), 'migrations-'));
  await writeFile(join(directory, '0001_rooms.sql'), 'create table rooms (id integer);');
  const sql = connectDatabase(database.url, { schema: 'house', connections: 2, name: 'test' });
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

test('a migration without a transaction runs its statements one by one, however long they take', async () => {
  const database = await createTestDatabase();
  const directory = await mkdtemp(join(tmpdir(), 'migrations-'));
  const sql = connectDatabase(database.url, { connections: 2, name: 'test' });
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

test('tables of previews are made once in a new schema, and after each file of one that may be in use', async () => {
  const database = await createEmptyDatabase();
  const directory = await mkdtemp(join(tmpdir(), 'migrations-'));
  const file = (name: string, text: string) => writeFile(join(directory, name), text);
  await file(
    '0001_make.sql',
    `create table made (at text);
    create function make_preview_tables() returns void language plpgsql as $$
    begin
      create schema if not exists public_preview_draft;
      insert into made select max(name) from schema_migrations;
    end $$;`,
  );
  await file('0002_rooms.sql', 'create table rooms (id integer);');
  const made = async () => (await database.sql<{ at: string }[]>`select at from made`).map(({ at }) => at);
  await migrate(database.sql, directory);
  expect(await made()).toEqual(['0002_rooms.sql']);
  await file('0003_doors.sql', 'create table doors (id integer);');
  await file('0004_walls.sql', 'create table walls (id integer);');
  await migrate(database.sql, directory);
  expect(await made()).toHaveLength(3);
  await database.drop();
});

test('a new schema whose migration was cut gets its tables of previews from the run that ends it', async () => {
  const database = await createEmptyDatabase();
  await migrate(database.sql, undefined, undefined, '0285');
  await database.sql.unsafe('drop schema public_preview_draft cascade');
  await migrate(database.sql);
  const [row] = await database.sql`select to_regclass('public_preview_1.wallet_days') is not null as is_there`;
  expect(row).toEqual({ is_there: true });
  await database.drop();
});

const tablesOf = async (sql: Sql) =>
  (
    await sql<
      { name: string }[]
    >`select relname as name from pg_class where relnamespace = 'public'::regnamespace and relkind = 'r'`
  )
    .map(({ name }) => name)
    .sort();

test.each([
  ['tables', ['users', 'customers'], 'create table users (id int); create table customers (id int)', 2],
  // The frameworks of others keep their migrations in a table of the same name.
  ['a table of migrations', ['schema_migrations'], 'create table schema_migrations (version text)', 1],
  ['a view', [], 'create view customers as select 1 as id', 1],
])('a schema with %s of another program is left unchanged', async (_what, tables, statements, count) => {
  const database = await createEmptyDatabase();
  const { sql } = database;
  await sql.unsafe(statements);
  await expect(migrate(sql)).rejects.toThrow(
    new RegExp(
      `^the schema "public" holds ${count} tables of another program \\(.+\\) and was left as it is: ` +
        'set DATABASE_SCHEMA to a schema of its own, or DATABASE_URL to an empty database$',
    ),
  );
  expect(await tablesOf(sql)).toEqual([...tables].sort());
  expect(await schemaState(sql)).toMatchObject({ state: 'behind' });
  await database.drop();
});

test('a database with the numbering before the first release is refused in one sentence and left unchanged', async () => {
  const database = await createEmptyDatabase();
  const { sql } = database;
  await sql`create table schema_migrations (name text primary key, checksum text not null)`;
  await sql`insert into schema_migrations values ('0001_create_organizations.sql', 'c')`;
  await expect(migrate(sql)).rejects.toThrow(
    /^the database was made by a version before the first release, .+: set DATABASE_URL to an empty database, .+$/,
  );
  expect(await tablesOf(sql)).toEqual(['schema_migrations']);
  await database.drop();
});

test('an empty schema of that database may be used, and objects of an extension do not prevent it', async () => {
  const database = await createEmptyDatabase();
  const { sql, url } = database;
  const directory = await mkdtemp(join(tmpdir(), 'migrations-'));
  await writeFile(join(directory, '0001_rooms.sql'), 'create table rooms (id integer);');
  // As an extension does with its tables and views; none that makes some is in every Postgres.
  await sql.unsafe(`
    create extension if not exists plpgsql;
    create table spatial_ref_sys (id int); alter extension plpgsql add table spatial_ref_sys;
    create view pg_stat_statements as select 1 as calls; alter extension plpgsql add view pg_stat_statements`);
  expect(await migrate(sql, directory)).toEqual(['0001_rooms.sql']);
  await sql`create table users (id int)`;
  const own = connectDatabase(url, { schema: 'meters', connections: 2, name: 'test' });
  expect(await migrate(own, directory)).toEqual(['0001_rooms.sql']);
  await own.end();
  await database.drop();
});

test('every table has a comment that says what a row is', async () => {
  const database = await createTestDatabase();
  const silent = await database.sql<{ name: string }[]>`
    select relname as name from pg_class
    where relnamespace = current_schema()::regnamespace and relkind in ('r', 'p') and not relispartition
      and relname <> 'schema_migrations' and obj_description(oid, 'pg_class') is null`;
  expect(silent.map(({ name }) => name)).toEqual([]);
  await database.drop();
});
