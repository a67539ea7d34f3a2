import { execFileSync, fork } from 'node:child_process';
import { once } from 'node:events';
import { appendFileSync, mkdtempSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { type Meterstone, type MeterstoneOptions, openMeterstone } from '../../packages/ai-client/src/index.ts';
import { projectRoot } from '../../src/platform/project-root.ts';
import { until } from '../support/until.ts';
import { type Receiver, startReceiver } from './servers.ts';

let receiver: Receiver;
let dir: string;

beforeAll(async () => {
  receiver = await startReceiver();
});
afterAll(() => receiver.close());
beforeEach(() => {
  receiver.stored.clear();
  receiver.failing = undefined;
  dir = mkdtempSync(join(tmpdir(), 'ai-client-'));
});

const opened = (options: Partial<MeterstoneOptions> = {}) =>
  openMeterstone({ url: receiver.url, key: 'k', dir, ...options });
function report(to: Meterstone, id: string, size = 0): void {
  const usage = { prompt_tokens: 1, completion_tokens: 1 };
  to.end(to.begin({ subscription: 'ada-1' }), {
    format: 'openai_chat',
    body: { id, model: 'alpha', usage, more: 'x'.repeat(size) },
    hasId: true,
  });
}
const segments = () => readdirSync(dir).filter((name) => name.endsWith('.log'));

test('usage waits on the disk while the service is away, is sent once it is back, and leaves no segment', async () => {
  receiver.failing = () => ({ status: 503 });
  const to = opened();
  for (let n = 0; n < 250; n += 1) report(to, `c${n}`);
  await to.flush();
  expect(segments()).toHaveLength(1);
  await until(() => receiver.paths.length > 0);
  receiver.failing = undefined;
  await until(() => receiver.stored.size === 250);
  await until(() => segments().length === 0);
  expect(to.stats()).toMatchObject({ stored: 250, lost: 0, waitingBytes: 0 });
  await to.close();
});

test('what a killed process has written is sent by the next one; a torn line is left out and counted', async () => {
  const program = `
    import { openMeterstone } from ${JSON.stringify(join(projectRoot(), 'packages/ai-client/src/index.ts'))};
    const to = openMeterstone({ url: 'http://127.0.0.1:9', key: 'k', dir: process.env.DIR });
    for (let n = 0; n < 100; n += 1)
      to.end(to.begin({}), { format: 'openai_chat', body: { id: 'k' + n, usage: {} }, hasId: true });
    setTimeout(() => process.send('written'), 200);
    setInterval(() => {}, 1000);`;
  const child = fork('--', [], {
    execArgv: ['--import', 'tsx', '--input-type=module', '-e', program],
    env: { ...process.env, DIR: dir },
    cwd: projectRoot(),
  });
  await once(child, 'message');
  child.kill('SIGKILL');
  await once(child, 'exit');
  const [segment] = segments();
  appendFileSync(join(dir, segment!), '0000ffff 12345678 {"usage":{"bo');
  const to = opened();
  await until(() => receiver.stored.size === 100);
  await until(() => segments().length === 0);
  expect(to.stats()).toMatchObject({ stored: 100, torn: 1 });
  await to.close();
});

test('an answer that is lost doubles nothing: the same is sent again and replayed', async () => {
  let lost = 0;
  receiver.failing = (_, sent) => {
    if (lost > 0) return undefined;
    lost += 1;
    for (const usage of JSON.parse(sent).ai_usages) receiver.stored.set(usage.body.id, usage);
    return { status: 504 };
  };
  const to = opened();
  report(to, 'a');
  report(to, 'b');
  await until(() => to.stats().replayed === 2);
  expect(receiver.stored.size).toBe(2);
  await to.close();
});

test('a refused call is kept beside the segments, and one that spoils its request is found by halves', async () => {
  receiver.failing = (_, sent) => {
    const usages = JSON.parse(sent).ai_usages as { body: { id: string } }[];
    if (usages.some(({ body }) => body.id === 'c5')) return { status: 413, body: { error: 'Payload Too Large' } };
    if (usages.some(({ body }) => body.id === 'c7'))
      return usages.length > 1
        ? { status: 422 }
        : { status: 200, body: { results: [{ status: 'rejected', error_details: { tier: ['value_is_invalid'] } }] } };
    return undefined;
  };
  const to = opened();
  for (let n = 0; n < 10; n += 1) report(to, `c${n}`);
  await until(() => to.stats().rejected === 2);
  await until(() => receiver.stored.size === 8);
  const rejected = readFileSync(join(dir, 'rejected.ndjson'), 'utf8').trim().split('\n');
  expect(rejected.map((line) => JSON.parse(line).record.usage.body.id)).toEqual(['c5', 'c7']);
  await to.close();
});

test('a page of a server between is no answer of the service, but one that says too large is taken at its word', async () => {
  let pages = 0;
  receiver.failing = (_, sent) => {
    const usages = JSON.parse(sent).ai_usages as unknown[];
    const page = `<html>${pages}</html>`;
    pages += 1;
    if (pages === 1) return { status: 404, page };
    if (pages === 2) return { status: 200, page };
    return usages.length > 2 ? { status: 413, page } : undefined;
  };
  const to = opened();
  for (let n = 0; n < 10; n += 1) report(to, `c${n}`);
  await until(() => receiver.stored.size === 10);
  expect(to.stats()).toMatchObject({ stored: 10, rejected: 0 });
  await to.close();
});

test('what a full disk cut off is written again behind what was whole', async () => {
  const program = `
    import { openMeterstone } from ${JSON.stringify(join(projectRoot(), 'packages/ai-client/src/index.ts'))};
    const onError = () => process.send('full');
    const to = openMeterstone({ url: 'http://127.0.0.1:9', key: 'k', dir: process.env.DIR, onError });
    for (let n = 0; n < 50; n += 1)
      to.end(to.begin({}), { format: 'openai_chat', body: { id: 'd' + n, more: 'x'.repeat(n ? 100 : 5000) }, hasId: true });
    process.on('message', () => to.flush().then(() => process.send('written')));
    setInterval(() => {}, 1000);`;
  const child = fork('--', [], {
    execArgv: ['--import', 'tsx', '--input-type=module', '-e', program],
    env: { ...process.env, DIR: dir },
    cwd: projectRoot(),
    // Of a file no more than these bytes are written.
    execPath: cappedNode(dir, 4096),
  });
  await once(child, 'message');
  execFileSync('prlimit', ['--pid', String(child.pid), '--fsize=unlimited']);
  const written = once(child, 'message');
  child.send('go on');
  await written;
  child.kill('SIGKILL');
  await once(child, 'exit');
  const to = opened();
  await until(() => segments().length === 0);
  expect(receiver.stored.size).toBe(50);
  expect(to.stats()).toMatchObject({ stored: 50, torn: 0 });
  await to.close();
});

/** A program that is Node where no file grows beyond so many bytes, until that is taken back. */
function cappedNode(folder: string, bytes: number): string {
  const program = join(folder, 'capped-node');
  writeFileSync(program, `#!/bin/sh\nexec prlimit --fsize=${bytes}:unlimited ${process.execPath} "$@"\n`, {
    mode: 0o755,
  });
  return program;
}

test('a call whose hold is gone is stored without it', async () => {
  receiver.failing = (_, sent) =>
    sent.includes('hold_key')
      ? { status: 200, body: { results: [{ status: 'rejected', error_details: { hold_key: ['value_is_invalid'] } }] } }
      : undefined;
  const to = opened();
  to.end(
    { subscription: 'ada-1', properties: {}, hold: { key: 'gone' } as never },
    {
      format: 'openai_chat',
      body: { id: 'a' },
      hasId: true,
    },
  );
  await until(() => receiver.stored.size === 1);
  expect(to.stats().rejected).toBe(0);
  await to.close();
});

test('beyond the bytes that may wait the newest are dropped and told, or calls are refused before they are made', async () => {
  receiver.failing = () => ({ status: 503 });
  const losses: number[] = [];
  const dropping = opened({ maxBytes: 10_000, onLoss: ({ lost }) => losses.push(lost) });
  for (let n = 0; n < 20; n += 1) report(dropping, `c${n}`, 1000);
  expect(losses.length).toBeGreaterThan(5);
  expect(dropping.stats()).toMatchObject({ lost: losses.length });
  dir = mkdtempSync(join(tmpdir(), 'ai-client-'));
  const throwing = opened({ maxBytes: 1000, onFull: 'throw' });
  report(throwing, 'a', 500);
  report(throwing, 'b', 100);
  expect(throwing.stats().waitingBytes).toBeLessThan(1000);
  for (let n = 0; n < 3; n += 1) report(throwing, `c${n}`, 0);
  const almost = openMeterstone({ url: receiver.url, key: 'k', dir, maxBytes: 1, onFull: 'throw' });
  await throwing.flush();
  const full = openMeterstone({ url: receiver.url, key: 'k', dir, maxBytes: 1, onFull: 'throw' });
  expect(() => full.begin({})).toThrow('fills its folder');
  receiver.failing = undefined;
  await Promise.all([dropping, throwing, almost, full].map((each) => each.close()));
});

test('a host whose own functions throw is not harmed', async () => {
  receiver.failing = () => ({ status: 401 });
  const to = opened({
    maxBytes: 1,
    onLoss: () => {
      throw new Error('of the host');
    },
    onError: () => {
      throw new Error('of the host');
    },
  });
  expect(() => report(to, 'a')).not.toThrow();
  await to.close();
});
