import { mkdtempSync, readFileSync } from 'node:fs';
import { readlink, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { describeSettings } from '../src/platform/config.ts';
import { createMetrics } from '../src/platform/metrics/metrics.ts';
import { projectRoot } from '../src/platform/project-root.ts';
import { examplesOf, runExamples } from './support/examples.ts';
import { expectInDocument, tableOf } from './support/kept-table.ts';
import { apiIn, keyIn, type Launcher, spawnStart, stop, untilUp } from './support/launcher.ts';

interface MetricOfOurs {
  name: string;
  help: string;
  labelNames: string[];
}

const read = (document: string): string => readFileSync(join(projectRoot(), document), 'utf8');
const folder = mkdtempSync(join(tmpdir(), 'meterstone-examples-'));
let service: Launcher;

/** One service for the examples of every page: what `npm start` runs. */
beforeAll(async () => {
  service = spawnStart(join(folder, 'data'));
  await untilUp(service);
}, 240_000);

afterAll(async () => {
  await stop(service.process);
  // The Postgres data may lie outside, behind a link.
  const outside = await readlink(join(folder, 'data', 'postgres')).catch(() => undefined);
  for (const path of [outside, folder]) if (path) await rm(path, { recursive: true, force: true });
});

test('the README is short and comes to the start on line 20', () => {
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
