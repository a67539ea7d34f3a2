import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Command, Option } from 'commander';
import { type ImportOptions, importPrices } from '../areas/catalog/price-book/import-prices.ts';
import { priceAgeInDays } from '../areas/catalog/price-book/price-age.ts';
import { isObject } from '../engine/ai/price-files/read-price.ts';
import { realNow } from '../platform/clock/real-clock.ts';
import { parseBody } from '../platform/json/parse-body.ts';
import { projectRoot } from '../platform/project-root.ts';
import { Refusal } from '../platform/refusal.ts';
import { parseInstant } from '../platform/schema/instant-field.ts';
import { inCell } from './operator/in-cell.ts';
import { onDatabase, type Place } from './operator/on-database.ts';

/** Limits of a file, above those of the route: an operator's own. */
const MOST_VALUES = 2_000_000;
const MOST_MEMBERS = 100_000;
/** The sample that is shipped. */
const SAMPLE = join('data', 'prices.json');

const program = new Command('prices').description(
  'Prices of language models of the deployment, which count where an organization has none of its own.',
);
const cell = () => new Option('--cell <name>', 'of this cell');
const dryRun = () => new Option('--dry-run', 'say what would be written, and write nothing');
const force = () =>
  new Option('--force', 'take prices that change by more than half, and a file with far fewer models');

program
  .command('import')
  .description('read a file of prices; nothing is fetched')
  .argument('<file>', 'a LiteLLM price map, a file of models.dev, or entries of this service, as JSON')
  .addOption(
    new Option('--source <source>', 'whose file it is')
      .choices(['litellm', 'models_dev', 'meterstone'])
      .default('litellm'),
  )
  .option('--valid-from <instant>', 'from when on the prices hold; default: now, for new models 2020-01-01')
  .option('--providers <names...>', 'only these providers')
  .option('--accept-zero', 'a price of 0 is one')
  .addOption(force())
  .addOption(dryRun())
  .addOption(cell())
  .action((file: string, options: Given & { source: ImportOptions['source'] }) =>
    at(options, async (place) => report(await bring(place, await read(file), options))),
  );

program
  .command('sample')
  .description(`read the dated sample of public list prices that is shipped (${SAMPLE})`)
  .addOption(force())
  .addOption(dryRun())
  .addOption(cell())
  .action((options: Given) =>
    at(options, async (place) => {
      const content = await read(join(projectRoot(), SAMPLE));
      const { as_of: asOf, notice } = content as { as_of: string; notice: string };
      console.log(`${notice} As of ${asOf}.`);
      report(await bring(place, content, { ...options, source: 'sample', asOf: `${asOf}T00:00:00Z` }));
    }),
  );

program
  .command('status')
  .description('how many prices there are, and how old they are')
  .addOption(cell())
  .action((options: Given) =>
    at(options, async ({ sql }) => {
      const [row] = await sql<{ version: number; entries: number; models: number }[]>`
        select layer.version, count(entry.id) as entries, count(distinct (entry.provider, entry.model)) filter
          (where entry.id is not null) as models
        from price_layers layer
        left join price_entries entry on entry.organization_id is null and entry.retracted_version is null
        where layer.name = 'deployment' group by layer.version`;
      const days = await priceAgeInDays(sql, realNow());
      console.log(`version ${row!.version}: ${row!.entries} prices of ${row!.models} models`);
      console.log(days === null ? 'no file was read' : `as of ${days} days ago`);
    }),
  );

try {
  await program.parseAsync();
} catch (error) {
  process.exitCode = 1;
  console.error(error instanceof Refusal ? refusalText(error) : (error as Error).message);
}

interface Given {
  source?: ImportOptions['source'];
  validFrom?: string;
  providers?: string[];
  acceptZero?: boolean;
  force?: boolean;
  dryRun?: boolean;
  cell?: string;
  asOf?: string;
}

function at({ cell: name }: Given, work: (place: Place) => Promise<void>): Promise<void> {
  return name === undefined ? onDatabase(work) : inCell(name, work);
}

/** A JSON file whose numbers keep what was written. */
async function read(file: string): Promise<unknown> {
  const text = await readFile(file, 'utf8');
  const content = parseBody(text, { keepLiterals: true, mostValues: MOST_VALUES, mostMembers: MOST_MEMBERS });
  if (!isObject(content)) throw new Error(`${file} holds no object`);
  return content;
}

function bring({ sql }: Place, content: unknown, given: Given) {
  const validFrom = given.validFrom === undefined ? undefined : parseInstant(given.validFrom);
  if (given.validFrom !== undefined && validFrom === undefined) throw new Error('--valid-from is no instant');
  const options: ImportOptions = {
    source: given.source!,
    validFrom: validFrom?.toString() ?? null,
    dryRun: given.dryRun ?? false,
    providers: given.providers ?? null,
    acceptZero: given.acceptZero ?? false,
    force: given.force ?? false,
    ...(given.asOf === undefined ? {} : { asOf: given.asOf }),
  };
  return sql.begin((db) => importPrices({ db, organizationId: null }, { content, options, now: realNow().toString() }));
}

function report(imported: Awaited<ReturnType<typeof importPrices>>): void {
  console.log(JSON.stringify({ import: imported }, null, 2));
}

function refusalText({ body }: Refusal): string {
  const details = body.error_details as Record<string, string[]> | undefined;
  if (!details?.base) return JSON.stringify(body);
  return 'refused: a price changes by more than half, or the file has far fewer models than the last one; see --dry-run, --force';
}
