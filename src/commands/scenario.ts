import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { basename, join } from 'node:path';
import { Command } from 'commander';
import { createOrganization } from '../areas/tenancy/organizations/commands.ts';
import { connectDatabase } from '../platform/db/connect.ts';
import { defaultDataDir } from '../platform/services/discover.ts';
import { findRunning } from '../platform/services/run-file.ts';
import { play, type Scenario } from './scenario/play-step.ts';

interface Options {
  only?: string;
  jobs: string;
  within: string;
  log?: string;
}

const program = new Command('scenario')
  .description(
    'Plays billing scenarios (JSON files or folders) against the running service, each in a sandbox of its own.',
  )
  .argument('<files...>')
  .option('--only <text>', 'play those whose file or name contains the text')
  .option('--jobs <n>', 'scenarios at once', '2')
  .option('--within <seconds>', 'patience with a read that does not match yet', '15')
  .option('--log <file>', 'append every exchange as a line of JSON')
  .action(run);
try {
  await program.parseAsync();
} catch (error) {
  console.error(`scenario: ${(error as Error).message}`);
  process.exitCode = 1;
}

async function run(paths: string[], options: Options): Promise<void> {
  const started = performance.now();
  // Read first, so that a wrong file is reported at once.
  const waiting = paths
    .flatMap(load)
    .filter(({ file, scenario }) => !options.only || `${file} ${scenario.name}`.includes(options.only));
  const running = await findRunning(defaultDataDir());
  if (!running) throw new Error('no service is running here: start it with `npm start`');
  const { WIRE_PREFIX, DATABASE_SCHEMA } = running.settings;
  const sql = connectDatabase(running.databaseUrl, {
    schema: DATABASE_SCHEMA,
    connections: 2,
    name: 'meterstone scenario',
  });
  let passed = 0;
  let failed = 0;
  const player = async () => {
    for (let next = waiting.shift(); next; next = waiting.shift()) {
      const { api_key } = await createOrganization(sql, { name: 'scenario', sandbox: true });
      const wrong = await play(next.scenario, {
        baseUrl: running.baseUrl,
        apiKey: api_key,
        wirePrefix: WIRE_PREFIX,
        withinSeconds: Number(options.within),
        logFile: options.log,
      });
      if (wrong === null) passed += 1;
      else failed += 1;
      console.log(
        `${wrong === null ? 'ok   ' : 'FAIL '} ${next.file}: ${next.scenario.name}${wrong === null ? '' : `\n      ${wrong}`}`,
      );
    }
  };
  await Promise.all(Array.from({ length: Number(options.jobs) }, player));
  await sql.end();
  console.log(`${passed} passed, ${failed} failed`);
  console.log(`${((performance.now() - started) / 1000).toFixed(1)} s`);
  process.exitCode = failed === 0 ? 0 : 1;
}

function load(path: string): { file: string; scenario: Scenario }[] {
  if (!existsSync(path)) throw new Error(`there is no file or folder ${path}`);
  if (statSync(path).isDirectory()) {
    return readdirSync(path)
      .sort()
      .filter((name) => name.endsWith('.json') || statSync(join(path, name)).isDirectory())
      .flatMap((name) => load(join(path, name)));
  }
  return parsed(path).map((scenario) => ({ file: basename(path), scenario }));
}

function parsed(path: string): Scenario[] {
  try {
    return [JSON.parse(readFileSync(path, 'utf8')) as Scenario | Scenario[]].flat();
  } catch (cause) {
    throw new Error(`${path} is no JSON: ${(cause as Error).message}`, { cause });
  }
}
