import { execFile } from 'node:child_process';
import { readdirSync, readFileSync, symlinkSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { WEBHOOK_TYPES } from '../src/areas/messaging/webhook-endpoints/event-types.ts';
import { createOrganization } from '../src/areas/tenancy/organizations/commands.ts';
import { describeSettings, loadConfig } from '../src/platform/config.ts';
import { connectDatabase, type Sql } from '../src/platform/db/connect.ts';
import { createMetrics } from '../src/platform/metrics/metrics.ts';
import { projectRoot } from '../src/platform/project-root.ts';
import { NAMED_ONLY_WEBHOOK_TYPES } from '../src/platform/records/write-records.ts';
import { findRunning } from '../src/platform/services/run-file.ts';
import { readLocalSecretsKey } from '../src/platform/services/secrets-file.ts';
import { buildOnce } from './support/build-once.ts';
import { examplesOf, runExamples } from './support/examples.ts';
import { hasKcat } from './support/kafka-cluster.ts';
import { expectInDocument, tableOf } from './support/kept-table.ts';
import { apiIn, keyIn, type Launcher, spawnStart, stop, untilUp } from './support/launcher.ts';
import { newFolder } from './support/new-folder.ts';

interface MetricOfOurs {
  name: string;
  help: string;
  labelNames: string[];
}

interface WebhookShape {
  properties: { object_type: { enum: [string] } };
}

const read = (document: string): string => readFileSync(join(projectRoot(), document), 'utf8');
/** Data and write-ahead log of the servers. */
const ENOUGH_BYTES = 2 * 1024 ** 3;
const folder = await newFolder('examples', ENOUGH_BYTES);
const dataDir = join(folder, 'data');
let service: Launcher;
let sql: Sql;
let databaseUrl: string;

/** One service for the examples of every page: what `npm start` runs. */
beforeAll(async () => {
  for (const name of ['docs', 'bin', 'package.json']) symlinkSync(join(projectRoot(), name), join(folder, name));
  await buildOnce();
  // As docs/guide/own-provider.md starts it.
  service = spawnStart(dataDir, { PRIVATE_TARGETS: '127.0.0.1' });
  await untilUp(service);
  databaseUrl = (await findRunning(dataDir))!.databaseUrl!;
  sql = connectDatabase(databaseUrl, { connections: 1 });
}, 240_000);

afterAll(async () => {
  await sql.end({ timeout: 1 });
  await stop(service.process);
  await rm(folder, { recursive: true, force: true });
});

test('the README is at most 150 lines long and its Start stands on line 20', () => {
  const lines = read('README.md').split('\n');
  expect(lines.length).toBeLessThanOrEqual(150);
  expect(lines[19]).toBe('## Start');
});

test('the commands of the README lead from nothing to the PDF of an invoice and to its customer’s page', async () => {
  const [start, ...rest] = examplesOf(read('README.md'));
  // What beforeAll did, in a folder of its own and without asking the registry.
  expect(start!.commands).toBe('npm install && npm start');
  const outputs = await runExamples(rest, {
    api: apiIn(service.output())!,
    key: keyIn(service.output())!,
    folder,
  });

  expect(readFileSync(join(folder, 'invoice.pdf')).subarray(0, 5).toString()).toBe('%PDF-');
  const [portalUrl] = /^http\S+$/m.exec(outputs.at(-1)!)!;
  const page = await fetch(portalUrl);
  expect(page.status).toBe(200);
  expect(await page.text()).toContain('10.10');
});

/** Each brings its own server, for which a few messages are as good as many. */
const FEW = '1000';
const KINDS = ['kafka', 'kinesis', 's3'] as const;
test.each(KINDS)(
  'the demo of a stream of %s ends with the invoice that it must',
  { timeout: 120_000 },
  async (kind) => {
    if (kind === 'kafka' && !hasKcat()) return;
    const env = { ...process.env, DATA_DIR: dataDir, DEMO_MESSAGES: FEW };
    const demo = promisify(execFile)('npm', ['run', '--silent', 'demo:stream', '--', kind], {
      cwd: projectRoot(),
      env,
    });
    const { stdout } = await demo;
    expect(stdout).toContain('stored 1000, replayed 50, dead letters 0\n');
    expect(stdout).toContain('1000 calls at a cent each: equal\n');
  },
);

const PAGES = readdirSync(join(projectRoot(), 'docs/guide')).filter((file) => file.endsWith('.md'));

describe.concurrent('the guide', () => {
  test.each(PAGES)('the examples of docs/guide/%s run in order in a sandbox of their own', async (file) => {
    const examples = examplesOf(read(`docs/guide/${file}`));
    expect(examples.length).toBeGreaterThan(file === 'README.md' ? 0 : 1);
    const config = loadConfig({ DATABASE_URL: databaseUrl, ...(await readLocalSecretsKey(dataDir)) });
    const { api_key: key } = await createOrganization(sql, { name: file, sandbox: true }, config);
    const place = { api: apiIn(service.output())!, key, folder };
    await runExamples(examples, { ...place, prelude: `API=${place.api}; KEY=${key}` });
  });
});

const sources = readdirSync(join(projectRoot(), 'src/areas'), { recursive: true, encoding: 'utf8' })
  .filter((file) => file.endsWith('.ts'))
  .map((file) => read(`src/areas/${file}`));

/** The root under which a type that the contract does not have is sent; undefined where nothing sends it. */
const objectTypeOf = (type: string): string | undefined =>
  sources.flatMap((text) => new RegExp(`type: '${type}',\\s+objectType: '(\\w+)'`).exec(text)?.[1] ?? [])[0];

test('docs/guide/webhooks-and-feed.md lists every event type', () => {
  const shapes = JSON.parse(read('test/contract/webhook-shapes.json')).types as Record<string, WebhookShape>;
  const unsent = new Map(
    [...read('test/contract/never-sent.txt').matchAll(/^(\w+\.\w+)\t([^(\n]+)/gm)].map(([, type, why]) => [
      type,
      why!.trim(),
    ]),
  );
  const rows = [...WEBHOOK_TYPES, ...NAMED_ONLY_WEBHOOK_TYPES].map((type) => {
    const root = shapes[type]?.properties.object_type.enum[0];
    const isNamedOnly = NAMED_ONLY_WEBHOOK_TYPES.includes(type);
    const made = isNamedOnly ? objectTypeOf(type) : root;
    const named = made === undefined ? 'never: nothing makes it yet' : 'where named';
    const sent = unsent.has(type) ? `never: ${unsent.get(type)}` : isNamedOnly ? named : 'yes';
    return [`\`${type}\``, made === undefined ? '' : `\`${made}\``, sent];
  });
  expect(rows.length).toBeGreaterThan(80);
  expectInDocument('docs/guide/webhooks-and-feed.md', 'types', tableOf(['Type', 'Body under', 'Sent'], rows));
});

test('docs/operations.md lists every setting as the schema has it', () => {
  const rows = describeSettings().map(({ name, fallback, meaning }) => [
    `\`${name}\``,
    fallback === '' ? 'none' : fallback,
    meaning,
  ]);
  expect(rows.map(([name]) => name)).toContain('`REDIS_URL`');
  expectInDocument('docs/operations.md', 'settings', tableOf(['Setting', 'Default', 'Meaning'], rows));
});

test('docs/operations.md lists every metric of the service', async () => {
  const metrics = createMetrics('ingress').registry.getMetricsAsArray() as unknown as MetricOfOurs[];
  const ours = metrics.filter(({ name }) => name.startsWith('meterstone_'));
  const rows = ours.map(({ name, help, labelNames }) => [
    `\`${name}\``,
    labelNames.length === 0 ? '–' : labelNames.map((label) => `\`${label}\``).join(', '),
    help,
  ]);
  expect(rows.length).toBeGreaterThan(10);
  expectInDocument('docs/operations.md', 'metrics', tableOf(['Metric', 'By', 'Says'], rows));
});
