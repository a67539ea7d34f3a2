import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { projectRoot } from '../project-root.ts';
import { type Db, openedWith, type Sql, type Tx } from './connect.ts';

// Any 63-bit number: one migration run at a time per database.
const MIGRATION_LOCK = 7_236_104_411;

/**
 * Applies the files of migrations/ that this schema has not seen, in order, one transaction for each file (unless its
 * first line is `-- no transaction`). A file that was edited after it landed is an error. The tables of previews are
 * out of a file's way and follow what it changes; those of a new schema are made once, at the end. A transaction of its
 * own holds the lock meanwhile, so the pool has two connections at least, and a pooler may be between.
 *
 * beforeFiles  runs under the lock, once it is known that the schema is ours
 * upTo         name of the last file that is applied; default all
 * @returns the names of the files applied now
 * @throws Error for a person to read when the schema holds another program's tables, or those of a version before the
 *   first release; nothing was changed then
 * Rule: several-hosts.md#migrations.
 */
export async function migrate(
  sql: Sql,
  directory = join(projectRoot(), 'migrations'),
  beforeFiles: (lock: Tx) => Promise<unknown> = async () => {},
  upTo?: string,
): Promise<string[]> {
  if (sql.options.max < 2) throw new Error('migrations need a second connection, which holds their lock');
  return underLock(sql, async (lock) => {
    const seen = await inSchema(sql, async (tx) => {
      await refuseForeignSchema(tx);
      return (await isOurs(tx)) ? readSeen(tx) : new Map<string, string>();
    });
    refuseFormerNumbering(seen);
    await beforeFiles(lock);
    await inSchema(sql, async (tx) => {
      await createSchema(tx, openedWith(sql).schema);
      await tx`create table if not exists schema_migrations (name text primary key, checksum text not null)`;
    });
    const applied: string[] = [];
    for (const name of migrationFiles(directory)) {
      if (upTo !== undefined && name > upTo) break;
      const text = readFileSync(join(directory, name), 'utf8');
      const checksum = createHash('sha256').update(text).digest('hex');
      const known = seen.get(name);
      if (known === checksum) continue;
      if (known !== undefined) throw new Error(`migration ${name} was changed after it had been applied`);
      await lock.unsafe('select 1'); // its session may have been cut, and then another migrator works
      await apply(sql, { name, text, checksum }, seen.size === 0);
      applied.push(name);
    }
    if (await inSchema(sql, lacksPreviewTables)) await inSchema(sql, (tx) => callIfThere(tx, 'make_preview_tables'));
    return applied;
  });
}

const LOCK_EVERY_MS = 200;

/**
 * Works in a transaction that keeps other migrators of this database away until it ends. It must never hold a snapshot,
 * for whose end `create index concurrently` would wait for ever: so it asks for the lock again and again instead of
 * waiting in a statement, and its statements are sent as texts, which leave no open portal behind.
 */
async function underLock<Result>(sql: Sql, work: (lock: Tx) => Promise<Result>): Promise<Result> {
  for (;;) {
    const done = await sql.begin(async (tx) => {
      await tx.unsafe('set local idle_in_transaction_session_timeout = 0');
      const [row] = await tx.unsafe<{ held: boolean }[]>(`select pg_try_advisory_xact_lock(${MIGRATION_LOCK}) as held`);
      return row!.held ? { result: await work(tx) } : undefined;
    });
    if (done) return done.result as Result;
    await pause(LOCK_EVERY_MS);
  }
}

/**
 * A transaction in which names are those of the schema, and statements take as long as they need: building an index of
 * a large table takes longer than any statement of the service may.
 */
function inSchema<Result>(sql: Sql, work: (tx: Tx) => Promise<Result>): Promise<Result> {
  const { schema } = openedWith(sql);
  return sql.begin(async (tx) => {
    await tx`
      select set_config('search_path', quote_ident(${schema}), true), set_config('TimeZone', 'UTC', true),
        set_config('statement_timeout', '0', true), set_config('jit', 'off', true)`;
    return work(tx);
  }) as Promise<Result>;
}

/** Checksums of the applied files by their names. */
async function readSeen(tx: Tx): Promise<Map<string, string>> {
  const rows = await tx<{ name: string; checksum: string }[]>`select name, checksum from schema_migrations`;
  return new Map(rows.map((row) => [row.name, row.checksum]));
}

interface MigrationFile {
  name: string;
  text: string;
  checksum: string;
}

async function apply(sql: Sql, { name, text, checksum }: MigrationFile, isNew: boolean): Promise<void> {
  const isWrapped = !text.startsWith('-- no transaction');
  try {
    if (!isWrapped) await applyApart(sql, text);
    await inSchema(sql, async (tx) => {
      // Only the views forbid to change a column; previews use the tables until they are made again at the end.
      if (isWrapped) await callIfThere(tx, 'drop_preview_views', 'drop_preview_tables');
      if (isWrapped) await tx.unsafe(text);
      if (!isNew) await callIfThere(tx, 'make_preview_tables'); // a service may work meanwhile
      await tx`insert into schema_migrations (name, checksum) values (${name}, ${checksum})`;
    });
  } catch (cause) {
    throw new Error(`migration ${name} failed`, { cause });
  }
}

const PAST_POOLER =
  'a statement took too long behind a pooler: give an address without it, by MIGRATION_DATABASE_URL, or for a cell by ' +
  'its name in CELL_DATABASE_URLS';

/**
 * The statements of a file one by one, each of which ends with a semicolon at the end of a line: sent together they are
 * a transaction. A pooler may give each another session: the names are found by the settings of the role, whose time
 * for a statement holds, so that a large table wants MIGRATION_DATABASE_URL.
 */
async function applyApart(sql: Sql, text: string): Promise<void> {
  const { isPooled, schema } = openedWith(sql);
  const connection = await sql.reserve();
  try {
    const [found] = await connection<{ schema: string | null }[]>`select current_schema() as schema`;
    if (found!.schema !== schema) throw new Error(`its session does not look first in the schema "${schema}"`);
    if (!isPooled) await connection`set statement_timeout = 0`;
    for (const statement of apart(text)) await connection.unsafe(statement);
  } catch (error) {
    if (!isPooled || (error as { code?: unknown }).code !== '57014') throw error;
    throw new Error(PAST_POOLER, {
      cause: error,
    });
  } finally {
    if (!isPooled) await connection`reset statement_timeout`.catch(() => {}); // the session ends with the connection
    connection.release();
  }
}

/** They have schemas of their own, which a dump of the service's schema leaves out. */
async function lacksPreviewTables(connection: Tx): Promise<boolean> {
  const [row] = await connection<{ found: string | null }[]>`
    select to_regnamespace(quote_ident(current_schema() || '_preview_draft')) as found`;
  return row!.found === null;
}

/** Runs the first of these functions of migrations 0018 and 0031 that is there; each has no arguments and no result. */
async function callIfThere(connection: Tx, ...names: string[]): Promise<void> {
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
async function refuseForeignSchema(connection: Tx): Promise<void> {
  if (await isOurs(connection)) return;
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

const apart = (text: string): string[] => text.split(/(?<=;)\n/).filter((part) => part.trim() !== '');

const migrationFiles = (directory: string): string[] =>
  readdirSync(directory)
    .filter((file) => file.endsWith('.sql'))
    .sort();

/** Only if it is missing, because that takes one more permission. */
async function createSchema(tx: Tx, schema: string): Promise<void> {
  const [row] = await tx<{ isThere: boolean }[]>`
    select to_regnamespace(quote_ident(${schema})) is not null as "isThere"`;
  if (!row!.isThere) await tx.unsafe(`create schema ${schema}`);
}
