import { connectDatabase, openedWith, type Sql } from './connect.ts';
import { statementsOf } from './role-settings.ts';
import { isPooled } from './session-settings.ts';

/** Names of the zone in which a day begins at midnight of Greenwich, all the year. */
const UTC = new Set(['UTC', 'Etc/UTC', 'GMT', 'Etc/GMT', 'Universal', 'Etc/Universal', 'Zulu', 'Etc/Zulu', 'UCT']);

/**
 * Why this service must not run on the sessions that it gets: it would count days in another zone, or write to the
 * tables of another schema. The sentence names the statement that mends it.
 *
 * @returns undefined if they have what they need
 * Rule: several-hosts.md#settings-of-a-session.
 */
export async function whySessionsAreWrong(sql: Sql): Promise<string | undefined> {
  const { schema } = openedWith(sql);
  const [row] = await sql<{ zone: string; path: string[]; isThere: boolean }[]>`
    select current_setting('TimeZone') as zone, current_schemas(false)::text[] as path,
      to_regnamespace(quote_ident(${schema})) is not null as "isThere"`;
  const { zone, path, isThere } = row!;
  // A schema that is not there yet is made by the migrations.
  const isPathRight = path.length === 0 ? !isThere : path.length === 1 && path[0] === schema;
  const wrong = [...(UTC.has(zone) ? [] : ['TimeZone']), ...(isPathRight ? [] : ['search_path'])];
  if (wrong.length === 0) return undefined;
  const found = wrong.map((name) => `${name} is ${name === 'TimeZone' ? zone : path.join(', ') || 'of no schema'}`);
  return (
    `sessions of the database do not have what the service needs (${found.join('; ')}): run "npm run migrate", or as ` +
    `an administrator "${await statementsOf(sql, schema, wrong)}"; a pooler then has to open new sessions (RECONNECT)`
  );
}

/** How often the sessions behind two open connections are compared. */
const LOOKS = 4;

/**
 * Whether a pooler in transaction mode stands behind an address that does not say so: two open connections have one
 * session, or one has several.
 */
export async function hasUnsaidPooler(url: string): Promise<boolean> {
  if (isPooled(url)) return false;
  const open = () => connectDatabase(url, { connections: 1, name: 'meterstone start' });
  const connections = [open(), open()];
  try {
    const seen = connections.map(() => new Set<number>());
    for (let look = 0; look < LOOKS; look += 1) {
      for (const [place, sql] of connections.entries()) {
        // Sent as text, because it may be the first prepared statement that fails.
        const [row] = (await sql.unsafe('select pg_backend_pid() as pid')) as unknown as { pid: number }[];
        seen[place]!.add(row!.pid);
      }
    }
    return new Set(seen.flatMap((pids) => [...pids])).size !== connections.length || seen.some(({ size }) => size > 1);
  } finally {
    await Promise.all(connections.map((sql) => sql.end({ timeout: 1 })));
  }
}
