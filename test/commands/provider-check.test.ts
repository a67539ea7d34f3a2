import { spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { projectRoot } from '../../src/platform/project-root.ts';

// `npm run provider:check` against the provider of docs/examples, each a process of its own:
// provider-connections.md#custom-provider.
const EXAMPLE = join(projectRoot(), 'docs/examples/custom-provider.mjs');
const SECRET = `whsec_${randomBytes(32).toString('base64')}`;

let example: ReturnType<typeof spawn>;
let url: string;

beforeAll(async () => {
  example = spawn(process.execPath, [EXAMPLE], { env: { ...process.env, SECRET, PORT: '0' } });
  for await (const line of createInterface({ input: example.stdout! })) {
    url = `http://127.0.0.1:${/\d+/.exec(line)![0]}/`;
    break;
  }
});
afterAll(async () => {
  example.kill();
  if (example.exitCode === null && example.signalCode === null) await once(example, 'exit');
});

async function check(...args: string[]): Promise<{ code: number; lines: string[] }> {
  const child = spawn(process.execPath, [join(projectRoot(), 'bin/meterstone.mjs'), 'provider-check', ...args]);
  const chunks: Buffer[] = [];
  child.stdout.on('data', (chunk) => chunks.push(chunk));
  const [code] = await once(child, 'close');
  return { code, lines: Buffer.concat(chunks).toString().trim().split('\n') };
}

test('the example has fewer than a hundred lines', () => {
  expect(readFileSync(EXAMPLE, 'utf8').trimEnd().split('\n').length).toBeLessThan(100);
});

test('the example passes all 24 cases', async () => {
  const { code, lines } = await check(url, SECRET);
  expect(lines.filter((line) => !/^ ?\d+ {2}ok /.test(line))).toEqual(['24 cases: 24 ok, 0 failed, 0 skipped']);
  expect(lines.length).toBe(25);
  expect(code).toBe(0);
});

test('what a provider cannot do is skipped, and what it does wrong fails the check', async () => {
  const { code, lines } = await check(url, SECRET, '--without', 'refund,partial_refund', '--declined', 'pm_ok');
  expect(lines.at(-1)).toBe('24 cases: 20 ok, 2 failed, 2 skipped');
  expect(lines.filter((line) => line.includes('failed  ')).join()).toContain('a declined charge is refused');
  expect(code).toBe(1);
});

test('with another secret nothing but the refusals passes', async () => {
  const { code, lines } = await check(url, `whsec_${randomBytes(32).toString('base64')}`);
  expect(lines.at(-1)).toBe('24 cases: 4 ok, 20 failed, 0 skipped');
  expect(code).toBe(1);
});
