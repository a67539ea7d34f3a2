import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { connectDatabase, type Sql } from '../../../src/platform/db/connect.ts';
import { migrate, pendingMigrations } from '../../../src/platform/db/migrate.ts';
import { bring, newDataFolder } from './data-folder.ts';

const RIGHTS = `select rolname, rolsuper, rolcreatedb, rolcreaterole, rolreplication, rolbypassrls
  from pg_roles where rolname = current_user`;
const NO_RIGHTS = {
  rolname: 'meterstone_service',
  rolsuper: false,
  rolcreatedb: false,
  rolcreaterole: false,
  rolreplication: false,
  rolbypassrls: false,
};

test('our own server gives the service an ordinary role that can migrate and owns everything', async () => {
  const { databaseUrl } = await bring({ dataDir: await newDataFolder() });
  await onDatabase(databaseUrl, async (sql) => {
    expect(await sql.unsafe(RIGHTS)).toEqual([NO_RIGHTS]);
    await migrate(sql);
    expect(await pendingMigrations(sql)).toEqual([]);
    const foreign = await sql`
      select relname from pg_class where relnamespace = 'public'::regnamespace and relowner <> current_user::regrole`;
    expect(foreign).toEqual([]);
    await expect(sql`copy (select 1) to program 'true'`).rejects.toMatchObject({ code: '42501' });
    await expect(sql`select pg_read_file('postgresql.conf')`).rejects.toMatchObject({ code: '42501' });
    await expect(sql.unsafe('create role another')).rejects.toMatchObject({ code: '42501' });
  });
});

test('data from the time when the service was superuser is handed over to its new role', async () => {
  const dataDir = await newDataFolder();
  const first = await bring({ dataDir });
  const file = join(dataDir, 'postgres', 'meterstone.json');
  const { servicePassword: _new, ...settings } = JSON.parse(await readFile(file, 'utf8'));
  const formerly = new URL(first.databaseUrl);
  formerly.username = 'meterstone';
  formerly.password = settings.password;
  await onDatabase(formerly.href, async (sql) => {
    await migrate(sql);
    await sql.unsafe(`
      create schema elsewhere;
      create type elsewhere.mood as enum ('well');
      create table elsewhere.notes (id bigserial primary key, mood elsewhere.mood, at date) partition by hash (id);
      create table elsewhere.notes_0 partition of elsewhere.notes for values with (modulus 1, remainder 0);
      create view elsewhere.shown as select id from elsewhere.notes;
      create function elsewhere.answer() returns int language sql as 'select 42';
      insert into elsewhere.notes (mood) values ('well');
      alter database meterstone owner to meterstone`);
  });
  await first.stop();
  await writeFile(file, JSON.stringify(settings));

  const second = await bring({ dataDir });
  await onDatabase(second.databaseUrl, async (sql) => {
    expect(await sql.unsafe(RIGHTS)).toEqual([NO_RIGHTS]);
    expect(await migrate(sql)).toEqual([]);
    expect(await sql`select id, mood from elsewhere.notes`).toEqual([{ id: 1, mood: 'well' }]);
    await sql`alter table elsewhere.notes add column text text`;
    await sql`alter type elsewhere.mood add value 'tired'`;
    await sql`create or replace function elsewhere.answer() returns int language sql as 'select 43'`;
    await sql`alter table organizations add column tried text`;
    await sql`drop schema elsewhere cascade`;
  });
});

async function onDatabase(url: string, work: (sql: Sql) => Promise<void>): Promise<void> {
  const sql = connectDatabase(url, { connections: 2 });
  try {
    await work(sql);
  } finally {
    await sql.end({ timeout: 1 });
  }
}
