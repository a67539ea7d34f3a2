import { join } from 'node:path';
import { realNow } from '../clock/real-clock.ts';
import type { Config } from '../config.ts';
import { connectDatabase, type Sql } from '../db/connect.ts';
import type { OrganizationId } from '../ids.ts';
import { projectRoot } from '../project-root.ts';

/** Schema of the directory, on the server of DATABASE_URL. */
export const CONTROL_SCHEMA = 'control';
/** Files by which it is made, as `migrate` takes them. */
export const controlMigrations = (): string => join(projectRoot(), 'migrations', 'control');

export type CellState = 'serving' | 'draining' | 'drained';

/** A cell as the directory has it. */
export interface Cell {
  name: string;
  /** Null: the server of DATABASE_URL; else a name of CELL_DATABASE_URLS. */
  database: string | null;
  schema: string;
  redis_prefix: string;
  state: CellState;
  /** After how many seconds writes are to be tried again while it is drained. */
  retry_after_seconds: number;
}

/** What leads to a cell and is in the directory: the digest of an API key, an organization, or the id of a link. */
export type NotedPointer = { kind: 'key'; digest: Buffer } | { kind: 'organization' | 'link'; id: string };
/** The digest of a console session's token, or of a code that signs in once, leads to a cell too. */
export type Pointer = NotedPointer | { kind: 'session' | 'code'; digest: Buffer };

export const connectControl = (config: Pick<Config, 'DATABASE_URL'>, connections = 2): Sql =>
  connectDatabase(config.DATABASE_URL, { schema: CONTROL_SCHEMA, connections, name: 'meterstone directory' });

export const listCells = (control: Sql) => control<Cell[]>`
  select name, database, schema, redis_prefix, state, retry_after_seconds from cells order by name`;

/** Name of the cell that the directory has for a pointer. */
export async function findPlace(control: Sql, pointer: NotedPointer): Promise<string | undefined> {
  const [row] = await (pointer.kind === 'key'
    ? control<{ cell: string }[]>`
        select organization.cell
        from api_keys key join organizations organization on organization.id = key.organization_id
        where key.digest = ${pointer.digest}`
    : pointer.kind === 'organization'
      ? control<{ cell: string }[]>`select cell from organizations where id = ${pointer.id}`
      : control<{ cell: string }[]>`select cell from links where subject_id = ${pointer.id}`);
  return row?.cell;
}

/** An organization with keys of its own. */
export interface Tenant {
  organizationId: OrganizationId;
  digests: readonly Buffer[];
}

/** Of how many organizations a statement notes what they have. */
const PAGE = 1000;

/**
 * Notes that a cell holds organizations and their keys; what is known already stays as it is.
 *
 * @throws Error when another cell holds one of them: an organization never spans cells
 */
export async function noteTenants(control: Sql, cell: string, tenants: readonly Tenant[]): Promise<void> {
  for (let from = 0; from < tenants.length; from += PAGE) {
    const page = tenants.slice(from, from + PAGE);
    const ids = page.map(({ organizationId }) => organizationId);
    const keys = page.flatMap(({ organizationId, digests }) => digests.map((digest) => ({ organizationId, digest })));
    await control.begin(async (tx) => {
      await tx`
        insert into organizations (id, cell) select unnest(${ids}::uuid[]), ${cell} on conflict (id) do nothing`;
      const [other] = await tx<{ id: string; cell: string }[]>`
        select id, cell from organizations where id = any(${ids}::uuid[]) and cell <> ${cell} order by id limit 1`;
      if (other) throw new Error(`the organization ${other.id} is in the cell "${other.cell}"`);
      await tx`
        insert into api_keys (digest, organization_id)
        select decode(digest, 'base64'), organization_id
        from unnest(${keys.map(({ digest }) => digest.toString('base64'))}::text[],
          ${keys.map(({ organizationId }) => organizationId)}::uuid[]) as key (digest, organization_id)
        on conflict (digest) do nothing`;
    });
  }
}

/** Links that nobody opened for so long are forgotten. */
const LINKS_KEPT_DAYS = 60;
const FORGOTTEN_AT_ONCE = 100;

/** Notes the cell in which the record behind a link was found, and forgets some old ones. */
export async function noteLink(control: Sql, cell: string, subjectId: string): Promise<void> {
  const now = realNow();
  await control`
    with old as (
      select subject_id from links where noted_at < ${now.subtract({ hours: LINKS_KEPT_DAYS * 24 })}
      order by noted_at limit ${FORGOTTEN_AT_ONCE}),
    gone as (delete from links using old where links.subject_id = old.subject_id)
    insert into links (subject_id, cell, noted_at) values (${subjectId}, ${cell}, ${now})
    on conflict (subject_id) do update set cell = excluded.cell, noted_at = excluded.noted_at`;
}

export const insertCell = (control: Sql, cell: Pick<Cell, 'name' | 'database' | 'schema' | 'redis_prefix'>) => control`
  insert into cells (name, database, schema, redis_prefix, created_at)
  values (${cell.name}, ${cell.database}, ${cell.schema}, ${cell.redis_prefix}, ${realNow()})`;

/** Forgets a cell that could not be added, with all that points to it. */
export const forgetCell = (control: Sql, name: string) =>
  control.begin(async (tx) => {
    await tx`delete from organizations where cell = ${name}`;
    await tx`delete from links where cell = ${name}`;
    await tx`delete from cells where name = ${name}`;
  });

export const setState = (
  control: Sql,
  name: string,
  { state, retryAfterSeconds }: { state: CellState; retryAfterSeconds: number | null },
) => control`
  update cells set state = ${state}, retry_after_seconds = coalesce(${retryAfterSeconds}::int, retry_after_seconds)
  where name = ${name}`;

/** Where a drained cell lies from now on. */
export const setPlace = (control: Sql, name: string, place: Pick<Cell, 'database' | 'schema'>) => control`
  update cells set database = ${place.database}, schema = ${place.schema} where name = ${name} and state = 'drained'`;

export const countOrganizations = (control: Sql) => control<{ cell: string; organizations: number }[]>`
  select cell, count(*)::int as organizations from organizations group by cell`;
