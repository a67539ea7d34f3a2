import { randomBytes } from 'node:crypto';
import postgres from 'postgres';

/** The role that the service connects with: it owns its database and everything in it, and has no other rights. */
export const SERVICE_ROLE = 'meterstone_service';

const CONNECT_TIMEOUT_SECONDS = 10;
const PASSWORD_BYTES = 24;

/** Letters, digits, `-` and `_`, so that it needs no escaping in an address or between quotes. */
export const newPassword = (): string => randomBytes(PASSWORD_BYTES).toString('base64url');

/**
 * Creates the role of the service and its database if they are missing. Data from the time when the service was the
 * superuser changes its owner. Safe to run at every start.
 *
 * @returns whether the server accepted the superuser
 */
export async function prepareServiceRole(
  urlOf: (database: string) => string,
  { database, password }: { database: string; password: string },
): Promise<boolean> {
  const server = connect(urlOf('postgres'));
  try {
    const [role] = await server`select 1 from pg_roles where rolname = ${SERVICE_ROLE}`;
    await server.unsafe(
      `${role ? 'alter' : 'create'} role ${SERVICE_ROLE}
       login nosuperuser nocreatedb nocreaterole noreplication nobypassrls password '${password}'`,
    );
    const [found] = await server`select 1 from pg_database where datname = ${database}`;
    await server.unsafe(
      found
        ? `alter database ${database} owner to ${SERVICE_ROLE}`
        : `create database ${database} owner ${SERVICE_ROLE}`,
    );
  } catch {
    return false;
  } finally {
    await server.end({ timeout: 1 });
  }
  await handOver(urlOf(database));
  return true;
}

/**
 * Gives everything that the superuser owns in a database to the role of the service. `reassign owned` refuses a
 * bootstrap user.
 */
async function handOver(url: string): Promise<void> {
  const sql = connect(url);
  try {
    await sql.begin(async (tx) => {
      const statements = await tx<{ statement: string }[]>`
        with mine as (select oid from pg_roles where rolname = current_user),
          places as (
            select oid, nspname, nspowner from pg_namespace
            where not starts_with(nspname, 'pg_') and nspname <> 'information_schema'
          )
        select format('alter schema %I owner to ${tx.unsafe(SERVICE_ROLE)}', nspname) as statement
        from places where nspowner = (select oid from mine)
        union all
        -- A sequence of a column goes with its table.
        select format('alter table %s owner to ${tx.unsafe(SERVICE_ROLE)}', c.oid::regclass)
        from pg_class c join places on places.oid = c.relnamespace
        where c.relowner = (select oid from mine) and c.relkind in ('r', 'p', 'v', 'm', 'S', 'f')
          and not exists (
            select 1 from pg_depend d
            where d.objid = c.oid and d.refclassid = 'pg_class'::regclass and d.deptype in ('a', 'i')
              and c.relkind = 'S'
          )
        union all
        select format('alter routine %s owner to ${tx.unsafe(SERVICE_ROLE)}', p.oid::regprocedure)
        from pg_proc p join places on places.oid = p.pronamespace where p.proowner = (select oid from mine)
        union all
        select format('alter type %s owner to ${tx.unsafe(SERVICE_ROLE)}', t.oid::regtype)
        from pg_type t join places on places.oid = t.typnamespace
        where t.typowner = (select oid from mine) and t.typtype in ('e', 'd', 'r')`;
      for (const { statement } of statements) await tx.unsafe(statement);
    });
  } finally {
    await sql.end({ timeout: 1 });
  }
}

const connect = (url: string) =>
  postgres(url, { max: 1, connect_timeout: CONNECT_TIMEOUT_SECONDS, onnotice: () => undefined });
