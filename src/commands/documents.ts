import { link, open, rm } from 'node:fs/promises';
import { Command } from 'commander';
import { Temporal } from 'temporal-polyfill';
import { filesOfArchive } from '../areas/documents/archive/export-archive.ts';
import { type ArchiveFault, listArchives } from '../areas/documents/archive/queries.ts';
import { verifyArchive } from '../areas/documents/archive/verify-archive.ts';
import { realNow } from '../platform/clock/real-clock.ts';
import { zipped } from '../platform/documents/zip.ts';
import type { OrganizationId } from '../platform/ids.ts';
import { onDatabase } from './operator/on-database.ts';

interface ExportOptions {
  organization: OrganizationId;
  from: string;
  to: string;
  file: string;
}

const program = new Command('documents').description(
  'Electronic documents that were handed out: beside a running service, or with nothing running.',
);

program
  .command('verify')
  .description('compute every checksum again, from contents to the roots of days, and name what does not fit')
  .option('--organization <id>', 'of one organization')
  .action(({ organization }: { organization?: string }) =>
    onDatabase(async ({ sql }) => {
      let [documents, days, wrong] = [0, 0, 0];
      for (const { id, name } of await listArchives(sql)) {
        if (organization !== undefined && organization !== id) continue;
        const archive = await verifyArchive({ db: sql, organizationId: id });
        documents += archive.documents;
        days += archive.days;
        wrong += archive.faults.length;
        for (const fault of archive.faults) console.log(`${name} (${id}): ${wordsOf(fault)}`);
      }
      console.log(`documents: ${documents}, days: ${days}, wrong: ${wrong}`);
      if (wrong > 0) process.exitCode = 1;
    }),
  );

program
  .command('export')
  .description('write the documents that were issued from one day to another into a ZIP file, with a list of them')
  .requiredOption('--organization <id>', 'of which organization')
  .requiredOption('--from <day>', 'first day, as 2026-01-31')
  .requiredOption('--to <day>', 'last day')
  .requiredOption('--file <path>', 'the ZIP file, which must not exist yet')
  .action(({ organization, from, to, file }: ExportOptions) =>
    onDatabase(async ({ sql }) => {
      const period = { from: Temporal.PlainDate.from(from), to: Temporal.PlainDate.from(to) };
      const at = new Date(realNow().epochMilliseconds);
      let files = 0;
      async function* counted() {
        for await (const each of filesOfArchive({ db: sql, organizationId: organization }, period)) {
          files += 1;
          yield each;
        }
      }
      await writeWhole(file, zipped(counted(), at));
      console.log(`documents: ${files - 1}, in ${file}`);
    }),
  );

try {
  await program.parseAsync();
} catch (error) {
  process.exitCode = 1;
  console.error((error as Error).message);
}

function wordsOf(fault: ArchiveFault): string {
  const sums = `SHA-256 ${fault.actual}, not ${fault.expected}`;
  return fault.kind === 'content'
    ? `the content of document ${fault.document_id} (${fault.number}) was changed: ${sums}`
    : `the day ${fault.day.toString()} of ${fault.billing_entity_code} does not follow from its documents: ${sums}`;
}

/**
 * Writes a file that has its name only once it is whole and on the disk: until then it ends in `.part`, and a failure
 * removes it. What was left by a process that died is written anew.
 */
async function writeWhole(file: string, pieces: AsyncIterable<Uint8Array>): Promise<void> {
  const part = `${file}.part`;
  const target = await open(part, 'w');
  try {
    for await (const bytes of pieces) await target.writeFile(bytes);
    await target.sync();
    // Fails where the file exists, which a renaming would replace.
    await link(part, file);
  } finally {
    await target.close();
    await rm(part, { force: true });
  }
}
