import { spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { readFileSync, writeFileSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import { projectRoot } from '../../src/platform/project-root.ts';
import { newFolder } from '../support/new-folder.ts';

// `npm run provider:check` against the provider of docs/examples, each a process of its own:
// provider-connections.md#custom-provider.
const EXAMPLE = join(projectRoot(), 'docs/examples/custom-provider.mjs');
const BYTES_OF_IT = 10_000;
const SECRET = `whsec_${randomBytes(32).toString('base64')}`;

interface Running {
  url: string;
  stop(): Promise<void>;
}

/** A provider as a process of its own. */
async function run(file: string): Promise<Running> {
  const child = spawn(process.execPath, [file], { env: { ...process.env, SECRET, PORT: '0' } });
  const stop = async () => {
    child.kill();
    if (child.exitCode === null && child.signalCode === null) await once(child, 'exit');
  };
  for await (const line of createInterface({ input: child.stdout }))
    return { url: `http://127.0.0.1:${/\d+/.exec(line)![0]}/`, stop };
  throw new Error('It has said nothing.');
}

let example: Running;
let url: string;

beforeAll(async () => {
  example = await run(EXAMPLE);
  url = example.url;
});
afterAll(() => example.stop());

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

// A provider that is wrong in one place, made of the example.
test.each([
  [
    'believes old signatures',
    [' || Math.abs(Date.now() / 1000 - Number(at)) > 300', ''],
    ['a signature that is ten minutes old is refused'],
  ],
  [
    'forgets what it has answered',
    ['known.set(key, { content, answer: structuredClone(given) });', ''],
    [
      'a customer gets an id, and the same one when the operation is repeated',
      'a charge that is repeated is the same payment',
      'a charge whose answer was lost is made once',
      'two identical charges at the same moment are one payment',
      'the id of a charge with another amount is a conflict',
      'the id of a charge with another method is a conflict',
      'a refund that is sent twice is one refund',
    ],
  ],
  [
    'charges one cent more',
    [
      "status: 'succeeded', amount, currency, metadata }",
      "status: 'succeeded', amount: amount + 1, currency, metadata }",
    ],
    [
      'a charge is paid',
      'a charge that is repeated is the same payment',
      'the id of a charge with another amount is a conflict',
      'the id of a charge with another method is a conflict',
      'a late outcome comes by a signed event that names the payment, its amount and our metadata',
      'a payment can be read',
      'a refund that is sent twice is one refund',
      'a refund of more than was paid is refused',
      'a payment that has succeeded cannot be canceled',
    ],
  ],
  [
    'gives back more than was paid',
    [' || before + amount > payment.amount', ''],
    ['a refund of more than was paid is refused'],
  ],
] as const)('a provider that %s fails the cases that look for it', async (_, [right, wrong], titles) => {
  const folder = await newFolder('provider', BYTES_OF_IT);
  onTestFinished(() => rm(folder, { recursive: true }));
  const file = join(folder, 'custom-provider.mjs');
  const source = readFileSync(EXAMPLE, 'utf8');
  expect(source).toContain(right);
  writeFileSync(file, source.replace(right, wrong));
  const broken = await run(file);
  const { code, lines } = await check(broken.url, SECRET).finally(broken.stop);
  const failed = lines.flatMap((line) => /^ ?\d+ {2}failed {3}([^(]+) \(/.exec(line)?.[1] ?? []);
  expect([failed, code]).toEqual([titles, 1]);
});

test('the example says what it wants when it is started without a secret', async () => {
  const { SECRET: _, ...environment } = process.env;
  const child = spawn(process.execPath, [EXAMPLE], { env: environment });
  const chunks: Buffer[] = [];
  child.stderr.on('data', (chunk) => chunks.push(chunk));
  const [code] = await once(child, 'close');
  expect([code, Buffer.concat(chunks).toString()]).toEqual([1, expect.stringContaining('Set SECRET')]);
});

test('with another secret nothing but the refusals passes', async () => {
  const { code, lines } = await check(url, `whsec_${randomBytes(32).toString('base64')}`);
  expect(lines.at(-1)).toBe('24 cases: 4 ok, 20 failed, 0 skipped');
  expect(code).toBe(1);
});
