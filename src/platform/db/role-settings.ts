import { openedWith, type Sql, type Tx } from './connect.ts';
import { migrate } from './migrate.ts';
import { sessionSettings } from './session-settings.ts';

/** What became of the settings of the role: set now, as they should be, or left for each session to send. */
export type RoleSettings =
  | { state: 'set'; names: string[]; at: string }
  | { state: 'kept' }
  | { state: 'sent'; why: string };

/** For so long a session that is in use is waited for. */
const LEFT_WITHIN_MS = 10_000;
const LOOK_EVERY_MS = 200;
const NOT_PERMITTED = '42501';

/**
 * Applies the migrations, and gives the login of the pool, in this database, the settings of the service's sessions, so
 * that they hold behind a pooler too. Behind a pooler the sessions of before end, because they keep what they began
 * with.
 *
 * isServicePooled  whether the service, whatever the migrations do, works behind a pooler
 * files            other migrations than the service's, and the last one that is applied
 * @returns what was applied, and how many sessions of before are still in use
 * @throws Error for a person to read
 * Rule: several-hosts.md#settings-of-a-session.
 */
export async function bringUpToDate(
  sql: Sql,
  isServicePooled: boolean,
  files: { directory?: string; upTo?: string } = {},
): Promise<{ applied: string[]; settings: RoleSettings; oldSessions: number }> {
  let settings: RoleSettings = { state: 'kept' };
  const settle = async (lock: Tx) => {
    settings = await settleRole(sql, isServicePooled);
    if (!isServicePooled || settings.state !== 'set') return;
    const [own] = await lock.unsafe<{ pid: number }[]>('select pg_backend_pid() as pid');
    await endOldSessions(sql, settings.at, own!.pid);
  };
  const applied = await migrate(sql, files.directory, settle, files.upTo);
  const settled = settings as RoleSettings;
  const oldSessions = isServicePooled && settled.state === 'set' ? await endOldSessions(sql, settled.at) : 0;
  return { applied, settings: settled, oldSessions };
}

/**
 * Without a pooler a login that also owns tables of other schemas here is left as it is: what sessions send goes first.
 *
 * @throws Error for a person to read when the login looks first in another schema of the service, behind a pooler
 */
async function settleRole(sql: Sql, isServicePooled: boolean): Promise<RoleSettings> {
  const { schema } = openedWith(sql);
  try {
    return await sql.begin(async (tx): Promise<RoleSettings> => {
      const { role, stored, others, at } = await readRole(tx, schema);
      if (!isServicePooled && others > 0)
        return { state: 'sent', why: `the role "${role}" has ${others} tables of other schemas in this database` };
      await refuseOtherSchema(tx, { role, schema, path: stored.get('search_path') });
      const names = Object.entries(sessionSettings(schema)).flatMap(([name, value]) =>
        stored.get(name.toLowerCase()) === value ? [] : [name],
      );
      if (names.length === 0) return { state: 'kept' };
      await tx.unsafe(await statementsOf(tx, schema, names));
      return { state: 'set', names, at };
    });
  } catch (error) {
    if ((error as { code?: unknown }).code !== NOT_PERMITTED) throw error;
    return { state: 'sent', why: 'this role may not change its own settings' };
  }
}

/** Statements with which an operator gives the role what `settleRole` would give it. */
export async function statementsOf(db: Tx | Sql, schema: string, names: readonly string[]): Promise<string> {
  const settings: Record<string, string> = sessionSettings(schema);
  const [row] = await db<{ text: string }[]>`
    select string_agg(format('alter role %I in database %I set %s = %L', current_user, current_database(), setting.name,
      setting.value), '; ' order by place) as text
    from unnest(${[...names]}::text[], ${names.map((name) => settings[name]!)}::text[]) with ordinality
      as setting (name, value, place)`;
  return row!.text;
}

interface Role {
  role: string;
  /** Settings of the role in this database, by their names in lower case. */
  stored: ReadonlyMap<string, string>;
  /** Its tables outside of the schema and of those of its previews. */
  others: number;
  /** Instant of the transaction, as Postgres writes it. */
  at: string;
}

async function readRole(tx: Tx, schema: string): Promise<Role> {
  const [row] = await tx<{ role: string; texts: string[] | null; others: number; at: string }[]>`
    select current_user::text as role, clock_timestamp()::text as at,
      (select setconfig from pg_db_role_setting
        where setrole = current_user::regrole
          and setdatabase = (select oid from pg_database where datname = current_database())) as texts,
      (select count(*)::int from pg_class c join pg_namespace n on n.oid = c.relnamespace
        where c.relkind in ('r', 'p') and pg_get_userbyid(c.relowner) = current_user
          and n.nspname <> ${schema} and not starts_with(n.nspname, ${`${schema}_preview`})
          and not starts_with(n.nspname, 'pg_') and n.nspname <> 'information_schema') as others`;
  const pairs = (row!.texts ?? []).map((text) => {
    const end = text.indexOf('=');
    return [text.slice(0, end).toLowerCase(), text.slice(end + 1)] as const;
  });
  return { role: row!.role, stored: new Map(pairs), others: row!.others, at: row!.at };
}

/** New sessions of the other schema's service would read and write the tables of this one. */
async function refuseOtherSchema(
  tx: Tx,
  { role, schema, path }: { role: string; schema: string; path: string | undefined },
): Promise<void> {
  if (path === undefined || path === schema) return;
  const [row] = await tx<{ isService: boolean }[]>`
    select to_regclass(${path} || '.schema_migrations') is not null as "isService"`;
  if (row!.isService)
    throw new Error(
      `the role "${role}" finds the tables of the schema ${path} in this database, which holds a service too: behind a ` +
        `pooler each schema needs a role of its own, so the schema "${schema}" was left as it is`,
    );
}

/**
 * Ends sessions of the role in this database that began before its settings changed, the caller's own last; a pooler
 * opens new ones.
 *
 * @returns how many are left because they are in use all the time
 */
async function endOldSessions(sql: Sql, before: string, exceptPid = 0): Promise<number> {
  const deadline = performance.now() + LEFT_WITHIN_MS;
  for (;;) {
    const left = await endIdle(sql, before, exceptPid);
    if (left === 0 || performance.now() > deadline) return left;
    await new Promise((resolve) => setTimeout(resolve, LOOK_EVERY_MS));
  }
}

async function endIdle(sql: Sql, before: string, exceptPid: number): Promise<number> {
  const rows = await sql<{ pid: number; isOwn: boolean; isIdle: boolean }[]>`
    select pid, pid = pg_backend_pid() as "isOwn",
      case when pid = pg_backend_pid() then false when state = 'idle' then pg_terminate_backend(pid) else false end
        as "isIdle"
    from pg_stat_activity
    where datname = current_database() and usename = current_user and backend_type = 'client backend'
      and backend_start < ${before}::text::timestamptz and pid <> ${exceptPid}`.catch(() => undefined);
  if (rows === undefined) return 1; // it was the session of the caller that was ended
  const others = rows.filter(({ isOwn, isIdle }) => !isOwn && !isIdle);
  if (others.length > 0 || !rows.some(({ isOwn }) => isOwn)) return others.length;
  await sql`select pg_terminate_backend(pg_backend_pid())`.catch(() => {}); // its own end is no answer
  return 1;
}
