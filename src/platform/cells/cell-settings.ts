import { type Config, ConfigError } from '../config.ts';
import { whySessionsAreWrong } from '../db/check-sessions.ts';
import type { Sql } from '../db/connect.ts';
import { schemaState } from '../db/migrate.ts';
import type { OrganizationId } from '../ids.ts';
import type { Cell, Pointer, Tenant } from './directory.ts';

/**
 * The settings with which the service works on one cell: its server, schema and prefix in Redis, all else as given.
 * Read replicas are those of DATABASE_URL, so cells on other servers have none.
 *
 * @throws ConfigError when CELL_DATABASE_URLS lacks the server
 */
export function settingsOfCell(config: Config, cell: Cell): Config {
  const ofCell = { ...config, DATABASE_SCHEMA: cell.schema, REDIS_PREFIX: cell.redis_prefix };
  if (cell.database === null) return ofCell;
  const server = config.CELL_DATABASE_URLS.find(({ name }) => name === cell.database);
  if (server === undefined)
    throw new ConfigError(`CELL_DATABASE_URLS has no "${cell.database}", where the cell "${cell.name}" lies`);
  return { ...ofCell, DATABASE_URL: server.url, READ_DATABASE_URL: [] };
}

/** Why a process must not work on the tables of a cell; undefined if it may. */
export async function whyUnfit(sql: Sql): Promise<string | undefined> {
  const wrong = await whySessionsAreWrong(sql);
  if (wrong !== undefined) return wrong;
  const { state, names } = await schemaState(sql);
  return state === 'behind' ? `${names.length} migrations are missing: run "npm run cells -- migrate"` : undefined;
}

/** Whether a cell holds what a pointer leads to: its own tables are asked. */
export async function holds(sql: Sql, pointer: Pointer): Promise<boolean> {
  return (await rowsOf(sql, pointer)).length > 0;
}

function rowsOf(sql: Sql, pointer: Pointer): PromiseLike<readonly unknown[]> {
  switch (pointer.kind) {
    case 'key':
      return sql`select 1 from api_keys where value_digest = ${pointer.digest}`;
    case 'session':
      return sql`select 1 from console_sessions where token_digest = ${pointer.digest}`;
    case 'code':
      return sql`select 1 from console_codes where digest = ${pointer.digest}`;
    case 'organization':
      return sql`select 1 from organizations where id = ${pointer.id}`;
    case 'link':
      return sql`
        select 1 from customers where id = ${pointer.id} union all
        select 1 from documents where id = ${pointer.id} union all
        select 1 from invoices where id = ${pointer.id} union all
        select 1 from payment_requests where id = ${pointer.id}`;
  }
}

/** The organization of a key, with this key, as the directory notes it. */
export async function tenantOfKey(sql: Sql, digest: Buffer): Promise<Tenant | undefined> {
  const [row] = await sql<{ organization_id: OrganizationId }[]>`
    select organization_id from api_keys where value_digest = ${digest}`;
  return row && { organizationId: row.organization_id, digests: [digest] };
}

/** Organizations of a cell after `afterId` with their keys, in the order of their ids; at most `limit`. */
export async function listTenants(sql: Sql, afterId: string | null, limit: number): Promise<Tenant[]> {
  const rows = await sql<{ id: string; digests: Buffer[] }[]>`
    select organization.id, coalesce((select array_agg(key.value_digest) from api_keys key
      where key.organization_id = organization.id), '{}') as digests
    from organizations organization
    where ${afterId}::uuid is null or organization.id > ${afterId}::uuid
    order by organization.id limit ${limit}`;
  return rows.map(({ id, digests }) => ({ organizationId: id, digests }));
}
