import { type Config, loadConfig } from '../../platform/config.ts';
import { connectDatabase, type Sql } from '../../platform/db/connect.ts';
import { schemaState } from '../../platform/db/migrate.ts';
import { bringUpToDate } from '../../platform/db/role-settings.ts';
import { isPooled } from '../../platform/db/session-settings.ts';
import { demandStores, StartRefused } from '../../platform/process/await-stores.ts';
import { demandSecretsKey } from '../../platform/secrets/check-secrets-at-start.ts';
import { defaultDataDir } from '../../platform/services/discover.ts';
import { findRunning } from '../../platform/services/run-file.ts';
import { readLocalSecretsKey } from '../../platform/services/secrets-file.ts';
import { withServices } from '../../platform/services/with-services.ts';

/** Placeholder for a Redis that a command does not need, so that none is started for it. */
const NO_REDIS = 'redis://none.invalid';

/** The stores that an operator command works on. */
export interface Place {
  sql: Sql;
  config: Config;
  /** Undefined if no Redis was requested or known. */
  redisUrl: string | undefined;
  /** Address of the API of a service that runs on the same data. */
  baseUrl: string | undefined;
  /** The cell that the command names, with its directory. */
  cell?: { control: Sql; name: string };
}

/**
 * Runs a command on the given database, that of a running service, or one started for the command; Redis likewise, if
 * it is needed. A given database has its own Redis or none. A database without the service's tables is refused, unless
 * the command creates them and so `migrates`.
 */
export async function onDatabase(
  work: (place: Place) => Promise<void>,
  asks: { redis?: boolean; migrates?: boolean } = {},
): Promise<void> {
  const dataDir = defaultDataDir();
  const running = await findRunning(dataDir);
  const isGiven = Boolean(process.env.DATABASE_URL);
  // Settings of the running service, overridden by those of the command; a given database is not the service's.
  const settings = isGiven ? {} : { ...running?.settings, ...(await readLocalSecretsKey(dataDir)) };
  const config = loadConfig({ ...settings, ...process.env });
  demandSecretsKey(config);
  await demandStores({ DATABASE_URL: config.DATABASE_URL });
  const known = config.REDIS_URL || running?.redisUrl;
  const isBrought = asks.redis === true && config.DATABASE_URL === '';
  if (!running && config.DATABASE_URL === '') console.error(startsOwn(dataDir));
  const input = {
    databaseUrl: config.DATABASE_URL,
    redisUrl: known ?? (isBrought ? undefined : NO_REDIS),
    log: (line: string) => console.error(line),
  };
  await withServices(input, async ({ databaseUrl, redisUrl }) => {
    const sql = connectDatabase(databaseUrl, {
      schema: config.DATABASE_SCHEMA,
      connections: 2,
      name: 'meterstone operator',
    });
    const baseUrl = isGiven ? undefined : running?.baseUrl;
    try {
      if (asks.migrates && !running) await bringUpToDate(sql, isPooled(databaseUrl));
      else await demandTables(sql, config, isGiven);
      await work({ sql, config, redisUrl: redisUrl === NO_REDIS ? undefined : redisUrl, baseUrl });
    } finally {
      await sql.end({ timeout: 5 });
    }
  });
}

/** What a command does that finds no service: another folder may have one, which nothing tells it. */
const startsOwn = (dataDir: string): string =>
  `no service is up on the data of ${dataDir}, so Postgres is started there for this command. A service on the data of ` +
  'another folder is reached with its DATA_DIR, one with a database of its own with its DATABASE_URL.';

/** @throws StartRefused when the tables are missing, because most commands must not create them */
async function demandTables(sql: Sql, { DATABASE_SCHEMA: schema }: Config, isGiven: boolean): Promise<void> {
  const { state } = await schemaState(sql);
  if (state !== 'behind') return;
  const remedy = isGiven ? 'run "npm run migrate"' : 'npm start migrates it';
  throw new StartRefused(`the schema "${schema}" is not migrated, and nothing was changed: ${remedy}`);
}
