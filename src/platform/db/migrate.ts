import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { ReservedSql } from 'postgres';
import { projectRoot } from '../project-root.ts';
import type { Db, Sql } from './connect.ts';

// Any 63-bit number of our own: one migration run at a time per database.
const MIGRATION_LOCK = 7_236_104_411;

/**
 * Applies the files of migrations/ that this schema has not seen, in order, one transaction a file (unless its first
 * line is `-- no transaction`). A file that was edited after it landed is an error.
 *
 * @returns the names of the files applied now
 */
export async function migrate(sql: Sql, directory = join(projectRoot(), 'migrations')): Promise<string[]> {
  const connection = await sql.reserve();
  const applied: string[] = [];
  try {
    // Building an index of a large table takes longer than any statement of the service may.
    await connection`set statement_timeout = 0`;
    await connection`select pg_advisory_lock(${MIGRATION_LOCK})`;
    await createSchema(connection);
    await connection`create table if not exists schema_migrations (name text primary key, checksum text not null)`;
    const seen = new Map(
      (await connection<{ name: string; checksum: string }[]>`select name, checksum from schema_migrations`).map(
        (row) => [row.name, row.checksum],
      ),
    );
    for (const name of migrationFiles(directory)) {
      const text = readFileSync(join(directory, name), 'utf8');
      const checksum = createHash('sha256').update(text).digest('hex');
      const known = seen.get(name);
      if (known === checksum) continue;
      if (known !== undefined) throw new Error(`migration ${name} was changed after it had been applied`);
      const wrapped = !text.startsWith('-- no transaction');
      try {
        if (wrapped) await connection`begin`;
        for (const statements of wrapped ? [text] : apart(text)) await connection.unsafe(statements);
        await connection`insert into schema_migrations (name, checksum) values (${name}, ${checksum})`;
        if (wrapped) await connection`commit`;
      } catch (cause) {
        if (wrapped) await connection`rollback`;
        throw new Error(`migration ${name} failed`, { cause });
      }
      applied.push(name);
    }
    return applied;
  } finally {
    await connection`select pg_advisory_unlock(${MIGRATION_LOCK})`.catch(() => {}); // the session ends with the connection
    await connection`reset statement_timeout`.catch(() => {}); // the same
    connection.release();
  }
}

/** Whether the tables are those that this program was written for; `names` of the migrations that differ. */
export async function schemaState(
  db: Db,
  directory = join(projectRoot(), 'migrations'),
): Promise<{ state: 'current' | 'behind' | 'newer'; names: string[] }> {
  const [table] = await db<{ name: string | null }[]>`select to_regclass('schema_migrations')::text as name`;
  const rows =
    table!.name === null ? [] : await db<{ name: string }[]>`select name from schema_migrations order by name`;
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

/** The statements of a file, each of which ends with a semicolon at the end of a line: sent together they are a transaction. */
const apart = (text: string): string[] => text.split(/(?<=;)\n/).filter((part) => part.trim() !== '');

const migrationFiles = (directory: string): string[] =>
  readdirSync(directory)
    .filter((file) => file.endsWith('.sql'))
    .sort();

// The schema of the search path, when it is not there: to ask for an existing one would take a permission more.
async function createSchema(connection: ReservedSql): Promise<void> {
  const [row] = await connection<{ wanted: string; found: string | null }[]>`
    select current_setting('search_path') as wanted, current_schema() as found`;
  if (row!.found === null) await connection.unsafe(`create schema ${row!.wanted}`);
}
