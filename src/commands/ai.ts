import { Command, Option } from 'commander';
import { importSpend } from './ai/import-spend.ts';

const program = new Command('ai').description('Usage of language models: what a gateway has logged so far.');

program
  .command('import-spend')
  .description('send the rows of a LiteLLM spend log, as CSV with a header or as one JSON object a line')
  .argument('<file>', 'the file; beside it stands what is done (FILE.progress) and what was refused')
  .addOption(new Option('--format <format>', 'default: csv for a name that ends so').choices(['csv', 'ndjson']))
  .option('--url <url>', 'of the API; default: METERSTONE_URL', process.env.METERSTONE_URL)
  .option('--provider <name>', 'whose calls they are, where a row does not say it')
  .addHelpText('after', '\nThe API key is read from METERSTONE_API_KEY. Run it again to go on where it ended.')
  .action(async (file: string, { format, url, provider }: Given) => {
    const apiKey = process.env.METERSTONE_API_KEY;
    if (!url) throw new Error('say where the API is: --url or METERSTONE_URL');
    if (!apiKey) throw new Error('set METERSTONE_API_KEY');
    const { rows, skipped, ...counts } = await importSpend({
      file,
      form: format ?? (file.toLowerCase().endsWith('.csv') ? 'csv' : 'ndjson'),
      baseUrl: url.replace(/\/+$/, ''),
      apiKey,
      provider,
      onProgress: (done) => console.log(`${done} rows`),
    });
    if (skipped > 0) console.log(`${skipped} rows were done before`);
    console.log(
      Object.entries({ rows, ...counts })
        .map(([name, count]) => `${name}: ${count}`)
        .join(', '),
    );
    if (counts.rejected > 0) console.log(`what was refused stands in ${file}.rejected.ndjson`);
  });

try {
  await program.parseAsync();
} catch (error) {
  process.exitCode = 1;
  console.error((error as Error).message);
}

interface Given {
  format?: 'csv' | 'ndjson';
  url?: string;
  provider?: string;
}
