import { Command } from 'commander';
import { type Config, loadConfig } from '../platform/config.ts';
import { connectDatabase } from '../platform/db/connect.ts';
import { migrate } from '../platform/db/migrate.ts';
import { demandStores } from '../platform/process/await-stores.ts';

new Command('migrate').description('bring the schema of DATABASE_URL up to date; prints what was applied').parse();

/** `npm run migrate`: brings the schema of DATABASE_URL up to date; prints what it applied. */
try {
  const config = loadConfig();
  if (config.DATABASE_URL === '') throw new Error('set DATABASE_URL (npm start migrates its own database by itself)');
  await demandStores({ DATABASE_URL: config.DATABASE_URL });
  await run(config);
} catch (error) {
  const { message, cause } = error as Error;
  console.error(`migrate: ${cause instanceof Error ? `${message}: ${cause.message}` : message}`);
  process.exitCode = 1;
}

async function run(config: Config): Promise<void> {
  const started = performance.now();
  const sql = connectDatabase(config.DATABASE_URL, {
    schema: config.DATABASE_SCHEMA,
    connections: 2,
    name: 'meterstone migrate',
  });
  try {
    const applied = await migrate(sql);
    const took = ((performance.now() - started) / 1000).toFixed(1);
    console.log(applied.length === 0 ? `nothing to migrate, ${took} s` : `applied ${applied.join(', ')}, ${took} s`);
  } finally {
    await sql.end({ timeout: 5 });
  }
}
