import { listTenants } from '../../platform/cells/cell-settings.ts';
import { type Cell, forgetCell, insertCell, listCells, noteTenants } from '../../platform/cells/directory.ts';
import { announceCells } from '../../platform/cells/watched-cells.ts';
import { loadConfig } from '../../platform/config.ts';
import type { Sql } from '../../platform/db/connect.ts';
import { bringUpToDate } from '../../platform/db/role-settings.ts';
import { isPooled } from '../../platform/db/session-settings.ts';
import { StartRefused } from '../../platform/process/await-stores.ts';
import { type Directory, onTables } from './on-directory.ts';

const NAME = /^[a-z][a-z0-9-]{0,29}$/;
const TENANTS_A_PAGE = 1000;

/** The settings of a login say in which schema its sessions look, and that of DATABASE_URL has the directory. */
const OWN_LOGIN =
  'behind a pooler each cell needs a login of its own: give its address a name in CELL_DATABASE_URLS, and that name ' +
  'by --database';

interface NewCell {
  name: string;
  schema?: string | undefined;
  database?: string | undefined;
  redisPrefix?: string | undefined;
}

/**
 * Makes the tables of a cell, or brings those that are there up to date, and notes it in the directory with the
 * organizations that it has: a service without cells becomes the first one so. A cell that cannot be noted is
 * forgotten, its tables stay.
 *
 * @throws StartRefused for a name, schema or prefix that is wrong or taken, and without a login of its own behind a
 *   pooler
 * @throws Error when another cell has one of its organizations
 */
export async function addCell({ control, config }: Directory, wanted: NewCell): Promise<Cell & { found: number }> {
  const { name } = wanted;
  if (!NAME.test(name)) throw new StartRefused('the name of a cell has a-z, 0-9 and "-", 30 characters at most');
  const schema = wanted.schema ?? `cell_${name.replaceAll('-', '_')}`;
  // Checks the form, and what Postgres would cut.
  loadConfig({ DATABASE_SCHEMA: schema, REDIS_PREFIX: wanted.redisPrefix });
  const isFormer = wanted.database === undefined && schema === config.DATABASE_SCHEMA;
  const cell: Cell = {
    name,
    database: wanted.database ?? null,
    schema,
    // What a service without cells has in Redis stays where it is.
    redis_prefix: wanted.redisPrefix ?? (isFormer ? config.REDIS_PREFIX : `${config.REDIS_PREFIX}-${name}`),
    state: 'serving',
    retry_after_seconds: 30,
  };
  if (cell.database === null && isPooled(config.DATABASE_URL)) throw new StartRefused(OWN_LOGIN);
  for (const other of await listCells(control)) refuseTaken(cell, other);
  return onTables(
    config,
    cell,
    async (sql, settings) => {
      await bringUpToDate(sql, isPooled(settings.DATABASE_URL));
      await insertCell(control, cell);
      const found = await noteAll(control, sql, name).catch(async (error: unknown) => {
        await forgetCell(control, name);
        throw error;
      });
      await announceCells(config);
      return { ...cell, found };
    },
    { migrates: true },
  );
}

function refuseTaken(cell: Cell, other: Cell): void {
  if (other.name === cell.name) throw new StartRefused(`there is a cell "${cell.name}" already`);
  if (other.redis_prefix === cell.redis_prefix)
    throw new StartRefused(`the cell "${other.name}" has the prefix "${cell.redis_prefix}" in Redis`);
  if (other.database === cell.database && other.schema === cell.schema)
    throw new StartRefused(`the schema "${cell.schema}" is that of the cell "${other.name}"`);
}

/**
 * Notes every organization of a cell with its keys; those that are known stay.
 *
 * @returns how many there are
 * @throws Error when another cell has one of them
 */
export async function noteAll(control: Sql, sql: Sql, cell: string): Promise<number> {
  let afterId: string | null = null;
  for (let found = 0; ; ) {
    const tenants = await listTenants(sql, afterId, TENANTS_A_PAGE);
    await noteTenants(control, cell, tenants);
    found += tenants.length;
    if (tenants.length < TENANTS_A_PAGE) return found;
    afterId = tenants.at(-1)!.organizationId;
  }
}
