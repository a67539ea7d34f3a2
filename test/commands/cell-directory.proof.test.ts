import { randomUUID } from 'node:crypto';
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, inject, test } from 'vitest';
import { createOrganization } from '../../src/areas/tenancy/organizations/commands.ts';
import { addCell } from '../../src/commands/cells/add-cell.ts';
import { drainCell, resumeCell } from '../../src/commands/cells/drain-cell.ts';
import { migrateCells } from '../../src/commands/cells/migrate-cells.ts';
import type { Directory } from '../../src/commands/cells/on-directory.ts';
import { connectControl, controlMigrations, insertCell, listCells } from '../../src/platform/cells/directory.ts';
import { loadConfig } from '../../src/platform/config.ts';
import { connectDatabase, type Sql } from '../../src/platform/db/connect.ts';
import { migrate } from '../../src/platform/db/migrate.ts';
import { projectRoot } from '../../src/platform/project-root.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { TEST_SECRETS_KEYS } from '../support/service.ts';

const FILES = readdirSync(join(projectRoot(), 'migrations'))
  .filter((name) => name.endsWith('.sql'))
  .sort();
const [OLDER, LAST_BUT_ONE, LAST] = FILES.slice(-3) as [string, string, string];

let database: TestDatabase;
let directory: Directory;
let control: Sql;

beforeAll(async () => {
  database = await createTestDatabase();
  const config = loadConfig({
    DATABASE_URL: database.url,
    REDIS_URL: inject('redisUrl'),
    REDIS_PREFIX: `t${randomUUID().slice(0, 8)}`,
    SECRETS_KEYS: TEST_SECRETS_KEYS,
  });
  control = connectControl(config);
  await migrate(control, controlMigrations());
  directory = { control, config };
});
afterAll(async () => {
  await control.end();
  await database.drop();
});

const inSchema = async <Result>(schema: string, work: (sql: Sql) => Promise<Result>): Promise<Result> => {
  const sql = connectDatabase(database.url, { schema, connections: 2 });
  return work(sql).finally(() => sql.end());
};

const newest = (schema: string): Promise<string> =>
  inSchema(schema, async (sql) => {
    const [row] = await sql<{ name: string }[]>`select max(name) as name from schema_migrations`;
    return row!.name;
  });

test('a service without cells becomes the first one, with its prefix in Redis, its organizations and their keys', async () => {
  const organizations = [];
  for (let made = 0; made < 3; made += 1)
    organizations.push(
      await createOrganization(database.sql, { name: `Acme ${made}`, sandbox: false }, directory.config),
    );
  const added = await addCell(directory, { name: 'first', schema: 'public' });
  expect([added.redis_prefix, added.found]).toEqual([directory.config.REDIS_PREFIX, 3]);
  const noted = await control`select id from organizations where cell = 'first' order by id`;
  expect(noted.map(({ id }) => id)).toEqual(organizations.map(({ organization_id: id }) => id).sort());
  expect(await control`select from api_keys`).toHaveLength(3);
});

test('a cell is refused whose name, schema or prefix is wrong or taken, and nothing is noted', async () => {
  const adding = (cell: Parameters<typeof addCell>[1]) => addCell(directory, cell);
  await expect(adding({ name: 'first', schema: 'other' })).rejects.toThrow('there is a cell "first" already');
  await expect(adding({ name: 'second', schema: 'public' })).rejects.toThrow('has the prefix');
  await expect(adding({ name: 'second', schema: 'public', redisPrefix: 'own' })).rejects.toThrow('is that of the cell');
  await expect(adding({ name: 'Second' })).rejects.toThrow('a-z, 0-9');
  await expect(adding({ name: 'second', schema: 'a b' })).rejects.toThrow('DATABASE_SCHEMA');
  await expect(adding({ name: 'second', redisPrefix: '{x}' })).rejects.toThrow('REDIS_PREFIX');
  await expect(adding({ name: 'second', database: 'nowhere' })).rejects.toThrow('CELL_DATABASE_URLS has no "nowhere"');
  expect((await listCells(control)).map(({ name }) => name)).toEqual(['first']);
});

test('a second name for the tables of a cell is refused, since an organization never spans cells', async () => {
  const twice = { ...directory.config, CELL_DATABASE_URLS: [{ name: 'twice', url: database.url }] };
  await expect(
    addCell({ control, config: twice }, { name: 'mirror', database: 'twice', schema: 'public' }),
  ).rejects.toThrow('is in the cell "first"');
  expect((await listCells(control)).map(({ name }) => name)).toEqual(['first']);
});

test('cells are migrated file by file, at most one apart where one fails, and go on where they broke off', async () => {
  for (const name of ['one', 'two']) {
    await inSchema(`cell_${name}`, (sql) => migrate(sql, undefined, undefined, OLDER));
    await insertCell(control, { name, database: null, schema: `cell_${name}`, redis_prefix: `mig-${name}` });
  }
  // Cell one believes that it has the last but one, in another form: its next file fails.
  await inSchema('cell_one', (sql) => sql`insert into schema_migrations values (${LAST_BUT_ONE}, 'other')`);
  const said: string[] = [];
  const note = (cell: string, files: readonly string[]) => said.push(`${cell} ${files.join(' ')}`);
  await expect(migrateCells(directory, note)).rejects.toThrow(`the cell "one": migration ${LAST_BUT_ONE} was changed`);
  expect(said).toEqual([`two ${LAST_BUT_ONE}`]);
  expect(await newest('cell_two')).toBe(LAST_BUT_ONE);
  await inSchema('cell_one', (sql) => sql`delete from schema_migrations where checksum = 'other'`);
  await migrateCells(directory, note);
  expect(said).toEqual([`two ${LAST_BUT_ONE}`, `one ${LAST_BUT_ONE}`, `one ${LAST}`, `two ${LAST}`]);
  expect(await Promise.all(['cell_one', 'cell_two'].map(newest))).toEqual([LAST, LAST]);
});

test('a drained cell serves from where it was copied to, and nowhere where its organizations are missing', async () => {
  const say = () => {};
  await expect(resumeCell(directory, 'first', { schema: 'cell_one' })).rejects.toThrow('is not drained');
  await drainCell(directory, 'first', { retryAfterSeconds: 90, withinSeconds: 60 }, say);
  expect((await listCells(control)).find(({ name }) => name === 'first')).toMatchObject({
    state: 'drained',
    retry_after_seconds: 90,
  });
  await expect(resumeCell(directory, 'first', { schema: 'nowhere' })).rejects.toThrow('lacks migrations');
  await control`delete from cells where name = 'one'`;
  await expect(resumeCell(directory, 'first', { schema: 'cell_one' })).rejects.toThrow(
    'of 3 organizations of the cell 0 are in those tables',
  );
  await inSchema('cell_one', (sql) => sql`insert into organizations select * from public.organizations`);
  expect(await resumeCell(directory, 'first', { schema: 'cell_one' })).toMatchObject({ schema: 'cell_one' });
  expect((await listCells(control)).find(({ name }) => name === 'first')).toMatchObject({
    state: 'serving',
    schema: 'cell_one',
  });
});
