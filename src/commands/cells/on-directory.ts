import { settingsOfCell } from '../../platform/cells/cell-settings.ts';
import { type Cell, connectControl, controlMigrations, listCells } from '../../platform/cells/directory.ts';
import { type Config, loadConfig } from '../../platform/config.ts';
import { connectDatabase, type Sql } from '../../platform/db/connect.ts';
import { schemaState } from '../../platform/db/migrate.ts';
import { bringUpToDate } from '../../platform/db/role-settings.ts';
import { isPooled } from '../../platform/db/session-settings.ts';
import { demandStores, StartRefused } from '../../platform/process/await-stores.ts';

/** What a command of cells works on. */
export interface Directory {
  control: Sql;
  config: Config;
}

/**
 * Works on the directory of DATABASE_URL.
 *
 * @throws StartRefused without DATABASE_URL, or without a directory unless the command makes it
 */
export async function onDirectory<Result>(
  work: (directory: Directory) => Promise<Result>,
  { makes = false }: { makes?: boolean } = {},
): Promise<Result> {
  const config = loadConfig();
  if (config.DATABASE_URL === '') throw new StartRefused('DATABASE_URL must be set: that is where the directory lies');
  await demandStores({ DATABASE_URL: config.DATABASE_URL, REDIS_URL: config.REDIS_URL });
  const control = connectControl(config);
  try {
    const directory = controlMigrations();
    if (makes) await bringUpToDate(control, isPooled(config.DATABASE_URL), { directory });
    else if ((await schemaState(control, directory)).state === 'behind')
      throw new StartRefused('there is no directory of cells on DATABASE_URL yet: run "npm run cells -- add"');
    return await work({ control, config });
  } finally {
    await control.end({ timeout: 5 });
  }
}

/** @throws StartRefused when the directory has no such cell */
export async function getCell({ control }: Directory, name: string): Promise<Cell> {
  const cell = (await listCells(control)).find((each) => each.name === name);
  if (!cell) throw new StartRefused(`there is no cell "${name}": "npm run cells -- list" shows them`);
  return cell;
}

/** Works on the tables of a cell, with two connections. Migrations of cells on DATABASE_URL go past a pooler. */
export async function onTables<Result>(
  config: Config,
  cell: Cell,
  work: (sql: Sql, settings: Config) => Promise<Result>,
  { migrates = false }: { migrates?: boolean } = {},
): Promise<Result> {
  const settings = settingsOfCell(config, cell);
  const past = migrates && cell.database === null ? config.MIGRATION_DATABASE_URL : '';
  const sql = connectDatabase(past || settings.DATABASE_URL, {
    schema: settings.DATABASE_SCHEMA,
    connections: 2,
    name: 'meterstone cells',
  });
  try {
    return await work(sql, settings);
  } finally {
    await sql.end({ timeout: 5 });
  }
}
