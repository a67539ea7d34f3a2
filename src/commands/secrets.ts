import { Command } from 'commander';
import { type Closed, countAnswersByKey, countByKey, openAll, sealAgain } from '../platform/secrets/sealed-columns.ts';
import { configuredKeys } from '../platform/secrets/secrets.ts';
import { onDatabase } from './operator/on-database.ts';

/** How many rows are listed one by one at most; the rest is counted. */
const NAMED_ROWS = 20;

const program = new Command('secrets').description(
  'Stored secrets and the keys of SECRETS_KEYS that seal them: beside a running service, or with nothing running.',
);

program
  .command('status')
  .description('count the sealed texts by table and key')
  .action(() =>
    onDatabase(async ({ sql, config }) => {
      const keys = configuredKeys(config).map(({ id }) => id);
      console.log(`keys             ${keys.length === 0 ? 'none is set' : `${keys.join(', ')} (the first one seals)`}`);
      for (const { table, column, key, texts } of await countByKey(sql))
        console.log(`${`${table}.${column}`.padEnd(34)} ${key.padEnd(20)} ${texts}`);
      for (const { key, texts } of await countAnswersByKey(sql))
        console.log(`${'answers of commands (they end)'.padEnd(34)} ${key.padEnd(20)} ${texts}`);
    }),
  );

program
  .command('rotate')
  .description('seal everything with the first key of SECRETS_KEYS, 500 rows at a time; run it again after a cut')
  .action(() =>
    onDatabase(async ({ sql, config }) => {
      if (configuredKeys(config).length === 0) throw new Error('SECRETS_KEYS is not set: there is no key to seal with');
      const { sealed, closed } = await sealAgain(sql, config, 'all');
      console.log(`sealed again: ${sealed}`);
      report(closed);
    }),
  );

program
  .command('verify')
  .description('open every sealed text and print counts only')
  .action(() =>
    onDatabase(async ({ sql, config }) => {
      const { opened, closed } = await openAll(sql, config);
      console.log(`opened: ${opened}`);
      report(closed);
    }),
  );

try {
  await program.parseAsync();
} catch (error) {
  process.exitCode = 1;
  console.error((error as Error).message);
}

function report(closed: readonly Closed[]): void {
  console.log(`closed: ${closed.length}`);
  if (closed.length === 0) return;
  process.exitCode = 1;
  for (const { table, column, id, key } of closed.slice(0, NAMED_ROWS))
    console.error(`${table}.${column} of row ${id} does not open: key "${key}"`);
}
