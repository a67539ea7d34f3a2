import { Command } from 'commander';
import { type Cell, countOrganizations, listCells } from '../platform/cells/directory.ts';
import { schemaState } from '../platform/db/migrate.ts';
import { within } from '../platform/db/within.ts';
import { addCell } from './cells/add-cell.ts';
import { drainCell, resumeCell } from './cells/drain-cell.ts';
import { migrateCells } from './cells/migrate-cells.ts';
import { type Directory, onDirectory, onTables } from './cells/on-directory.ts';

const ANSWER_WITHIN_MS = 3000;

const program = new Command('cells').description(
  'Cells, for the operator: schemas that each hold many organizations. The directory lies on DATABASE_URL.',
);

program
  .command('list')
  .description('show every cell: its state, where it lies, whether its tables are up to date, how many organizations')
  .option('--json', 'answer a line of JSON each', false)
  .action(({ json }: { json: boolean }) =>
    onDirectory(async (directory) => {
      for (const shown of await describe(directory))
        console.log(json ? JSON.stringify(shown) : Object.values(shown).join('  '));
    }),
  );

program
  .command('add')
  .description('make the tables of a cell, or take those of a service without cells, and note it in the directory')
  .argument('<name>', 'a-z, 0-9 and "-"')
  .option('--schema <schema>', 'schema of its tables; default cell_<name>')
  .option('--database <name>', 'its server, by its name in CELL_DATABASE_URLS; default that of DATABASE_URL')
  .option('--redis-prefix <prefix>', 'first part of its keys; default REDIS_PREFIX-<name>')
  .action((name: string, options: { schema?: string; database?: string; redisPrefix?: string }) =>
    onDirectory(
      async (directory) => {
        const { schema, redis_prefix, found } = await addCell(directory, { name, ...options });
        console.log(`added ${name}: schema ${schema}, keys ${redis_prefix}:…, ${found} organizations`);
      },
      { makes: true },
    ),
  );

program
  .command('migrate')
  .description('bring the tables of every cell up to date, cell by cell; breaks off where one fails, and goes on later')
  .action(() =>
    onDirectory(
      async (directory) => {
        await migrateCells(directory, (cell, files) => console.log(`${cell}: applied ${files.join(', ')}`));
        console.log('every cell is up to date');
      },
      { makes: true },
    ),
  );

program
  .command('drain')
  .description('refuse the writes of a cell, work off what it has, and leave its tables, so that they can be copied')
  .argument('<name>', 'its name')
  .option('--retry-after <seconds>', 'what callers are told to wait; default as it was, 30 at first')
  .option('--within <seconds>', 'how long queues and processes are waited for', '300')
  .action((name: string, { retryAfter, within: seconds }: { retryAfter?: string; within: string }) =>
    onDirectory(async (directory) => {
      const retryAfterSeconds = retryAfter === undefined ? null : wholeOf('--retry-after', retryAfter);
      const withinSeconds = wholeOf('--within', seconds);
      await drainCell(directory, name, { retryAfterSeconds, withinSeconds }, console.log);
      console.log(`${name} is drained: its tables may be copied`);
    }),
  );

program
  .command('resume')
  .description('let a drained cell serve again, there or where it was copied to')
  .argument('<name>', 'its name')
  .option('--database <name>', 'its server now, by its name in CELL_DATABASE_URLS; "default" for that of DATABASE_URL')
  .option('--schema <schema>', 'schema of its tables now')
  .action((name: string, moved: { database?: string; schema?: string }) =>
    onDirectory(async (directory) => {
      const { schema, database } = await resumeCell(directory, name, moved);
      console.log(`${name} serves again: schema ${schema} on ${database ?? 'DATABASE_URL'}`);
    }),
  );

try {
  await program.parseAsync();
} catch (error) {
  process.exitCode = 1;
  console.error(`cells: ${(error as Error).message}`);
}

async function describe({ control, config }: Directory) {
  const [cells, counted] = await Promise.all([listCells(control), countOrganizations(control)]);
  const countOf = new Map(counted.map(({ cell, organizations }) => [cell, organizations]));
  const tables = (cell: Cell) =>
    within(
      onTables(config, cell, async (sql) => (await schemaState(sql)).state),
      ANSWER_WITHIN_MS,
    ).catch((error: Error) => `away (${error.message})`);
  return Promise.all(
    cells.map(async (cell) => ({
      name: cell.name,
      state: cell.state,
      database: cell.database ?? 'default',
      schema: cell.schema,
      redis_prefix: cell.redis_prefix,
      tables: await tables(cell),
      organizations: countOf.get(cell.name) ?? 0,
    })),
  );
}

/** @throws Error naming the option, which takes 1 to 86 400 seconds */
function wholeOf(option: string, text: string): number {
  const seconds = Number(text);
  if (!/^\d{1,5}$/.test(text) || seconds < 1 || seconds > 86_400) throw new Error(`${option} takes 1 to 86400 seconds`);
  return seconds;
}
