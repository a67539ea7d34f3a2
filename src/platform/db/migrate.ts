import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { ReservedSql } from 'postgres';
import { projectRoot } from '../project-root.ts';
import type { Db, Sql } from './connect.ts';

// Any 63-bit number: one migration run at a time per database.
const MIGRATION_LOCK = 7_236_104_411;

/**
 * Applies the files of migrations/ that this schema has not seen, in order, one transaction for each file (unless its
 * first line is `-- no transaction`). A file that was edited after it landed is an error. The tables of previews are
 * out of a file's way and follow what it changes.
 *
 * @returns the names of the files applied now
 * @throws Error for a person to read when the schema holds another program's tables, or those of a version before the
 *   first release; nothing was changed then
 */
export async function migrate(sql: Sql, directory = join(projectRoot(), 'migrations')): Promise<string[]> {
  const connection = await sql.reserve();
  const applied: string[] = [];
  try {
    // Building an index of a large table takes longer than any statement of the service may.
    await connection`set statement_timeout = 0`;
    await connection`select pg_advisory_lock(${MIGRATION_LOCK})`;
    await refuseForeignSchema(connection);
    await createSchema(connection);
    await connection`create table if not exists schema_migrations (name text primary key, checksum text not null)`;
    const seen = new Map(
      (await connection<{ name: string; checksum: string }[]>`select name, checksum from schema_migrations`).map(
        (row) => [row.name, row.checksum],
      ),
    );
    refuseFormerNumbering(seen);
    for (const name of migrationFiles(directory)) {
      const text = readFileSync(join(directory, name), 'utf8');
      const checksum = createHash('sha256').update(text).digest('hex');
      const known = seen.get(name);
      if (known === checksum) continue;
      if (known !== undefined) throw new Error(`migration ${name} was changed after it had been applied`);
      const wrapped = !text.startsWith('-- no transaction');
      try {
        if (wrapped) await connection`begin`;
        // Only the views forbid to change a column; previews use the tables until they are made again at the end.
        if (wrapped) await callIfThere(connection, 'drop_preview_views', 'drop_preview_tables');
        for (const statements of wrapped ? [text] : apart(text)) await connection.unsafe(statements);
        await callIfThere(connection, 'make_preview_tables');
        await connection`insert into schema_migrations (name, checksum) values (${name}, ${checksum})`;
        if (wrapped) await connection`commit`;
      } catch (cause) {
        if (wrapped) await connection`rollback`;
        throw new Error(`migration ${name} failed`, { cause });
      }
      applied.push(name);
    }
    if (await lacksPreviewTables(connection)) await callIfThere(connection, 'make_preview_tables');
    return applied;
  } finally {
    await connection`select pg_advisory_unlock(${MIGRATION_LOCK})`.catch(() => {}); // the session ends with the connection
    await connection`reset statement_timeout`.catch(() => {}); // the same
    connection.release();
  }
}

/** They have schemas of their own, which a dump of the service's schema leaves out. */
async function lacksPreviewTables(connection: ReservedSql): Promise<boolean> {
  const [row] = await connection<{ found: string | null }[]>`
    select to_regnamespace(quote_ident(current_schema() || '_preview_draft')) as found`;
  return row!.found === null;
}

/** Runs the first of these functions of migrations 0018 and 0031 that is there; each has no arguments and no result. */
async function callIfThere(connection: ReservedSql, ...names: string[]): Promise<void> {
  const [row] = await connection<{ name: string }[]>`
    select name from unnest(${names}::text[]) with ordinality as wanted (name, place)
    where to_regproc(name) is not null order by place limit 1`;
  if (row) await connection.unsafe(`select ${row.name}()`);
}

/** Whether the tables are those that this program was written for; `names` lists the migrations that differ. */
export async function schemaState(
  db: Db,
  directory = join(projectRoot(), 'migrations'),
): Promise<{ state: 'current' | 'behind' | 'newer'; names: string[] }> {
  const rows = (await isOurs(db)) ? await db<{ name: string }[]>`select name from schema_migrations order by name` : [];
  const [applied, files] = [rows.map(({ name }) => name), migrationFiles(directory)];
  const behind = files.filter((name) => !applied.includes(name));
  if (behind.length > 0) return { state: 'behind', names: behind };
  const newer = applied.filter((name) => !files.includes(name));
  return { state: newer.length > 0 ? 'newer' : 'current', names: newer };
}

/** Names of the files of migrations/ that this schema has not seen. */
export async function pendingMigrations(db: Db): Promise<string[]> {
  const { state, names } = await schemaState(db);
  return state === 'behind' ? names : [];
}

/** Whether the schema has a migrations table with our columns; other programs have one of the same name. */
async function isOurs(db: Db): Promise<boolean> {
  const [row] = await db<{ columns: number }[]>`
    select count(*)::int as columns from pg_attribute
    where attrelid = to_regclass('schema_migrations') and attname in ('name', 'checksum') and not attisdropped`;
  return row!.columns === 2;
}

/** The first file of the numbering that the files of today replaced, one for each area. */
const FORMER_FIRST_FILE = '0001_create_organizations.sql';

/** Its tables equal today's, but no file says which migrations it has, so none may be applied. */
function refuseFormerNumbering(seen: ReadonlyMap<string, unknown>): void {
  if (seen.has(FORMER_FIRST_FILE))
    throw new Error(
      'the database was made by a version before the first release, whose migrations were numbered otherwise, and ' +
        'was left as it is: set DATABASE_URL to an empty database, DATABASE_SCHEMA to a new schema, or DATA_DIR to ' +
        'a new folder',
    );
}

/**
 * Tables, partitioned tables, views, materialized views and foreign tables: names that our tables could collide with.
 */
const KINDS_OF_TABLES = ['r', 'p', 'v', 'm', 'f'];
/** Number of names that are listed, enough to recognize the database. */
const NAMED_TABLES = 3;

/**
 * A mistyped DATABASE_URL must not create our tables beside those of another program; objects of extensions do not
 * count.
 */
async function refuseForeignSchema(connection: ReservedSql): Promise<void> {
  if (await isOurs(connection as unknown as Sql)) return;
  const foreign = await connection<{ schema: string; name: string; total: number }[]>`
    select current_schema() as schema, relname as name, count(*) over ()::int as total
    from pg_class
    where relnamespace = to_regnamespace(quote_ident(current_schema())) and relkind = any(${KINDS_OF_TABLES})
      and not exists (
      select 1 from pg_depend
      where classid = 'pg_class'::regclass and objid = pg_class.oid and deptype = 'e')
    order by relname limit ${NAMED_TABLES}`;
  const [first] = foreign;
  if (first === undefined) return;
  const names = foreign.map(({ name }) => name).join(', ') + (first.total > foreign.length ? ', …' : '');
  throw new Error(
    `the schema "${first.schema}" holds ${first.total} tables of another program (${names}) and was left as it is: ` +
      'set DATABASE_SCHEMA to a schema of its own, or DATABASE_URL to an empty database',
  );
}

/**
 * The statements of a file, each of which ends with a semicolon at the end of a line: sent together they are a
 * transaction.
 */
const apart = (text: string): string[] => text.split(/(?<=;)\n/).filter((part) => part.trim() !== '');

const migrationFiles = (directory: string): string[] =>
  readdirSync(directory)
    .filter((file) => file.endsWith('.sql'))
    .sort();

// Creates the schema of the search path only if it is missing, because that takes one more permission.
async function createSchema(connection: ReservedSql): Promise<void> {
  const [row] = await connection<{ wanted: string; found: string | null }[]>`
    select current_setting('search_path') as wanted, current_schema() as found`;
  if (row!.found === null) await connection.unsafe(`create schema ${row!.wanted}`);
}
