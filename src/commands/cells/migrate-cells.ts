import { type Cell, listCells } from '../../platform/cells/directory.ts';
import { pendingMigrations } from '../../platform/db/migrate.ts';
import { bringUpToDate } from '../../platform/db/role-settings.ts';
import { isPooled } from '../../platform/db/session-settings.ts';
import { noteAll } from './add-cell.ts';
import { type Directory, onTables } from './on-directory.ts';

/**
 * Brings every cell up to date, file by file: each is applied to every cell that lacks it before the next one, so that
 * cells are at most one version apart, also where it breaks off; run again it goes on there. Ends with the directory:
 * organizations and keys that it lacks are noted.
 *
 * said  called with each file that was applied to a cell
 * @throws Error naming the cell that failed, or that is away: the others wait for it
 * Rule: cells.md#operator.
 */
export async function migrateCells(
  directory: Directory,
  said: (cell: string, files: readonly string[]) => void,
): Promise<void> {
  const { control, config } = directory;
  const cells = await listCells(control);
  for (;;) {
    const pending = await Promise.all(cells.map((cell) => naming(cell, () => pendingOf(directory, cell))));
    const next = pending.flat().sort()[0];
    if (next === undefined) break;
    for (const [place, cell] of cells.entries())
      if (pending[place]!.includes(next)) said(cell.name, await naming(cell, () => migrateOne(directory, cell, next)));
  }
  for (const cell of cells) {
    await naming(cell, () => migrateOne(directory, cell)); // also where no file was missing
    await naming(cell, () => onTables(config, cell, (sql) => noteAll(control, sql, cell.name)));
  }
}

const pendingOf = ({ config }: Directory, cell: Cell): Promise<string[]> => onTables(config, cell, pendingMigrations);

/** Brings one cell up to date, or as far as a file; also the settings of its role and the tables of its previews. */
export const migrateOne = ({ config }: Directory, cell: Cell, upTo?: string): Promise<string[]> =>
  onTables(
    config,
    cell,
    async (sql, settings) =>
      (await bringUpToDate(sql, isPooled(settings.DATABASE_URL), upTo === undefined ? {} : { upTo })).applied,
    { migrates: true },
  );

async function naming<Result>(cell: Cell, work: () => Promise<Result>): Promise<Result> {
  try {
    return await work();
  } catch (cause) {
    throw new Error(`the cell "${cell.name}": ${(cause as Error).message}`, { cause });
  }
}
