import { Command } from 'commander';
import { Temporal } from 'temporal-polyfill';
import { openStore } from '../areas/usage/event-retention/archive-store.ts';
import { listArchives, prove } from '../areas/usage/event-retention/archives.ts';
import { releaseMonth, restoreMonth } from '../areas/usage/event-retention/restore-events.ts';
import { realNow } from '../platform/clock/real-clock.ts';
import type { Config } from '../platform/config.ts';
import type { OrganizationId } from '../platform/ids.ts';
import { onDatabase } from './operator/on-database.ts';

interface Months {
  organization: OrganizationId;
  month: string;
}

const program = new Command('events').description(
  'Raw events that retention has removed and archived: beside a running service, or with nothing running.',
);

program
  .command('list')
  .description('show the files of the archive, by month')
  .requiredOption('--organization <id>', 'of which organization')
  .action(({ organization }: { organization: OrganizationId }) =>
    onDatabase(async ({ sql }) => {
      for (const { month, events_count, bytes, path } of await listArchives(
        { db: sql, organizationId: organization },
        'all',
      ))
        console.log(`${monthText(month)}  ${events_count} events  ${bytes} bytes  ${path}`);
    }),
  );

program
  .command('verify')
  .description('read every file of the archive and compare it with what was removed')
  .requiredOption('--organization <id>', 'of which organization')
  .action(({ organization }: { organization: OrganizationId }) =>
    onDatabase(async ({ sql, config }) => {
      const store = storeOf(config);
      let [files, events, wrong] = [0, 0, 0];
      for (const archive of await listArchives({ db: sql, organizationId: organization }, 'all')) {
        files += 1;
        events += archive.events_count;
        await prove(store, archive).catch((error: Error) => {
          wrong += 1;
          console.log(error.message);
        });
      }
      console.log(`files: ${files}, events: ${events}, wrong: ${wrong}`);
      if (wrong > 0) process.exitCode = 1;
    }),
  );

program
  .command('restore')
  .description('bring the events of a month back from the archive, for verifications and reads')
  .requiredOption('--organization <id>', 'of which organization')
  .requiredOption('--month <month>', 'in which they came, as 2026-01')
  .action(({ organization, month }: Months) =>
    onDatabase(async ({ sql, config }) => {
      const of = { organizationId: organization, month: monthOf(month), now: realNow() };
      const { restored, removed } = await restoreMonth(sql, storeOf(config), of);
      console.log(`events: ${restored} of ${removed} that were removed`);
      if (restored < removed) process.exitCode = 1;
    }),
  );

program
  .command('release')
  .description('take restored events of a month away again; the archive keeps them')
  .requiredOption('--organization <id>', 'of which organization')
  .requiredOption('--month <month>', 'in which they came, as 2026-01')
  .action(({ organization, month }: Months) =>
    onDatabase(async ({ sql }) => {
      console.log(`events: ${await releaseMonth(sql, { organizationId: organization, month: monthOf(month) })}`);
    }),
  );

try {
  await program.parseAsync();
} catch (error) {
  process.exitCode = 1;
  console.error((error as Error).message);
}

function monthOf(text: string): Temporal.PlainDate {
  return Temporal.PlainYearMonth.from(text).toPlainDate({ day: 1 });
}

function monthText(month: Temporal.PlainDate): string {
  return month.toPlainYearMonth().toString();
}

function storeOf({ EVENTS_ARCHIVE_URL: url }: Config) {
  if (url === undefined) throw new Error('there is no archive of events: EVENTS_ARCHIVE_URL is not set');
  return openStore(url);
}
