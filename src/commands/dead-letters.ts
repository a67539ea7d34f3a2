import { Command, Option } from 'commander';
import { countOpenDeadLetters } from '../areas/usage/ingestion/queries.ts';
import { type AskedLetters, discardAll, type Resolved, retryAll } from '../areas/usage/ingestion/resolve-many.ts';
import { isSandbox } from '../platform/clock/organization-clock.ts';
import { isUuid, type OrganizationId } from '../platform/ids.ts';
import { createLog } from '../platform/log/log.ts';
import { createProducer } from '../platform/queue/producer.ts';
import { partsOf } from '../platform/queue/queue-names.ts';
import { connectPatiently } from '../platform/redis/connect.ts';
import { Refusal } from '../platform/refusal.ts';
import { reactions } from '../reactions.ts';
import { inCell } from './operator/in-cell.ts';
import { onDatabase, type Place } from './operator/on-database.ts';

interface Asked {
  organization: string;
  connector?: string;
  code?: string[];
  all?: boolean;
  cell?: string;
}

/** How often a long run says how far it is. */
const SAY_EVERY_MS = 5000;

const program = new Command('dead-letters').description(
  'Messages of streams that could not become events: beside a running service, or with nothing running.',
);
const organization = () => new Option('--organization <id>', 'of which organization').makeOptionMandatory();
const connector = () => new Option('--connector <code>', 'of this stream alone');
const code = () => new Option('--code <codes...>', 'of these error codes alone');
const cell = () => new Option('--cell <name>', 'the cell of the organization, where there are cells');

program
  .command('list')
  .description('show how many are open, by stream and error code')
  .addOption(organization())
  .addOption(cell())
  .action((asked: Asked) =>
    at(asked, {}, async ({ sql }) => {
      const { id } = await organizationOf(sql, asked);
      for (const row of await countOpenDeadLetters({ db: sql, organizationId: id })) {
        const cut = row.is_cut === 0 ? '' : `, ${row.is_cut} of them kept in part`;
        console.log(`${row.connector}  ${row.error_code}  ${row.letters} letters  ${row.bytes} bytes${cut}`);
      }
    }),
  );

program
  .command('retry')
  .description('try open ones again as they came; started again it goes on with those that are still open')
  .addOption(organization())
  .addOption(connector())
  .addOption(code())
  .addOption(cell())
  .action((asked: Asked) =>
    at(asked, { redis: true }, async ({ sql, config, redisUrl }) => {
      if (redisUrl === undefined) throw new Error('REDIS_URL is not set: what follows from events is queued there');
      const redis = connectPatiently(redisUrl, 'meterstone dead letters');
      const producer = createProducer(redis, config.REDIS_PREFIX, partsOf(config));
      const log = createLog({ level: config.LOG_LEVEL, process: 'dead letters' });
      try {
        const deps = { sql, config, producer, log, reactions };
        const { resolved, failed, cut } = await retryAll(deps, await lettersOf(sql, asked), saying('retried'));
        console.log(`retried: ${resolved}, wrong again: ${failed}, kept in part: ${cut}`);
        if (failed + cut > 0) process.exitCode = 1;
      } finally {
        await producer.close();
        redis.disconnect();
      }
    }),
  );

program
  .command('discard')
  .description('give open ones up, of a stream, of codes, or all of them')
  .addOption(organization())
  .addOption(connector())
  .addOption(code())
  .option('--all', 'of every stream and code')
  .addOption(cell())
  .action((asked: Asked) =>
    at(asked, {}, async ({ sql }) => {
      if (!asked.connector && !asked.code && !asked.all) throw new Error('say which: --connector, --code or --all');
      const { resolved } = await discardAll({ sql }, await lettersOf(sql, asked), saying('discarded'));
      console.log(`discarded: ${resolved}`);
    }),
  );

try {
  await program.parseAsync();
} catch (error) {
  process.exitCode = 1;
  console.error(error instanceof Refusal ? JSON.stringify(error.body) : (error as Error).message);
}

function at({ cell: name }: Asked, asks: { redis?: boolean }, work: (place: Place) => Promise<void>): Promise<void> {
  return name === undefined ? onDatabase(work, asks) : inCell(name, work);
}

async function organizationOf(sql: Place['sql'], { organization: id }: Asked): Promise<AskedLetters['organization']> {
  const organizationId = id.toLowerCase() as OrganizationId;
  const [row] = isUuid(id) ? await sql`select from organizations where id = ${organizationId}` : [];
  if (!row) throw new Error(`there is no organization ${id}: "npm run org -- list" shows them`);
  return { id: organizationId, sandbox: await isSandbox({ db: sql, organizationId }) };
}

async function lettersOf(sql: Place['sql'], asked: Asked): Promise<AskedLetters> {
  return { organization: await organizationOf(sql, asked), connector: asked.connector, codes: asked.code };
}

function saying(done: string): (so: Readonly<Resolved>) => void {
  let saidAt = performance.now();
  return ({ resolved, failed }) => {
    if (performance.now() - saidAt < SAY_EVERY_MS) return;
    saidAt = performance.now();
    console.error(`${done}: ${resolved}${failed > 0 ? `, wrong again: ${failed}` : ''} …`);
  };
}
