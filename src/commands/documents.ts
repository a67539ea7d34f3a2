import { Command } from 'commander';
import { type ArchiveFault, listArchives } from '../areas/documents/archive/queries.ts';
import { verifyArchive } from '../areas/documents/archive/verify-archive.ts';
import { onDatabase } from './operator/on-database.ts';

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
