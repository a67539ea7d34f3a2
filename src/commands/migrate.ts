import { Command } from 'commander';
import { type Config, loadConfig } from '../platform/config.ts';
import { connectDatabase } from '../platform/db/connect.ts';
import { bringUpToDate } from '../platform/db/role-settings.ts';
import { isPooled } from '../platform/db/session-settings.ts';
import { demandStores } from '../platform/process/await-stores.ts';

new Command('migrate').description('bring the schema of DATABASE_URL up to date; prints what was applied').parse();

/** `npm run migrate`: brings the schema of DATABASE_URL up to date; prints what it applied. */
try {
  const config = loadConfig();
  if (config.DATABASE_URL === '') throw new Error('set DATABASE_URL (npm start migrates its own database by itself)');
  const { DATABASE_URL, MIGRATION_DATABASE_URL } = config;
  await demandStores(MIGRATION_DATABASE_URL === '' ? { DATABASE_URL } : { MIGRATION_DATABASE_URL });
  await run(config);
} catch (error) {
  const { message, cause } = error as Error;
  console.error(`migrate: ${cause instanceof Error ? `${message}: ${cause.message}` : message}`);
  process.exitCode = 1;
}

async function run(config: Config): Promise<void> {
  const started = performance.now();
  const sql = connectDatabase(config.MIGRATION_DATABASE_URL || config.DATABASE_URL, {
    schema: config.DATABASE_SCHEMA,
    connections: 2,
    name: 'meterstone migrate',
  });
  try {
    const { applied, settings, oldSessions } = await bringUpToDate(sql, isPooled(config.DATABASE_URL));
    const took = ((performance.now() - started) / 1000).toFixed(1);
    console.log(applied.length === 0 ? `nothing to migrate, ${took} s` : `applied ${applied.join(', ')}, ${took} s`);
    if (settings.state === 'set') console.log(`set for the role: ${settings.names.join(', ')}`);
    if (settings.state === 'sent') console.log(`each session sends its settings, because ${settings.why}`);
    if (oldSessions > 0) console.log(`${oldSessions} sessions have the settings of before: RECONNECT the pooler`);
  } finally {
    await sql.end({ timeout: 5 });
  }
}
