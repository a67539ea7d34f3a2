import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { request } from 'undici';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { startIngress } from '../../../src/ingress/start-ingress.ts';
import type { ConsoleManifest } from '../../../src/platform/console-files.ts';
import { projectRoot } from '../../../src/platform/project-root.ts';
import { buildOnce } from '../../support/build-once.ts';
import { startService, type TestService } from '../../support/service.ts';

let service: TestService;
let manifest: ConsoleManifest;
beforeAll(async () => {
  await buildOnce();
  service = await startService({ pools: [], operations: [] });
  manifest = JSON.parse(readFileSync(join(projectRoot(), 'dist/console/manifest.json'), 'utf8'));
});
afterAll(() => service.stop());

async function get(path: string, headers: Record<string, string> = {}, url = service.url) {
  const answer = await request(url + path, { headers });
  return { status: answer.statusCode, headers: answer.headers, bytes: Buffer.from(await answer.body.arrayBuffer()) };
}

test('the front door leads browsers to the console, and everybody else gets the 404 of an unknown route (CO42)', async () => {
  const browser = { accept: 'text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8' };
  const led = await get('/', browser);
  expect([led.status, led.headers.location]).toEqual([302, '/console']);
  for (const accept of ['*/*', 'application/json', 'application/json, text/html;q=0.5']) {
    const { status, bytes } = await get('/', { accept });
    expect([status, JSON.parse(bytes.toString()).resource]).toEqual([404, 'route']);
  }
  expect((await get('/')).status).toBe(404);
  const without = await startIngress({ ...service.config, CONSOLE: false }, []);
  try {
    expect((await get('/', browser, without.url)).headers.location).toBe('/docs');
    for (const path of ['/console', '/console/o/x/home', `/console/assets/${manifest.script}`, '/console/session'])
      expect((await get(path, {}, without.url)).status, path).toBe(404);
  } finally {
    await without.close();
  }
});

test('every address of the console gets one small shell, which nothing from elsewhere may join', async () => {
  const shell = await get('/console');
  expect(shell.status).toBe(200);
  expect(shell.bytes.length).toBeLessThanOrEqual(2000);
  expect(shell.headers['cache-control']).toBe('no-cache');
  expect(shell.headers['content-security-policy']).toBe(
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; font-src 'self'; " +
      "connect-src 'self'; frame-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'",
  );
  expect(shell.headers['referrer-policy']).toBe('no-referrer');
  expect(shell.headers['x-content-type-options']).toBe('nosniff');
  const deep = await get('/console/o/acme-1/customers/a%2Fb/invoices?page=2');
  expect(deep.bytes.equals(shell.bytes)).toBe(true);
  const again = await get('/console', { 'if-none-match': String(shell.headers.etag) });
  expect([again.status, again.bytes.length]).toEqual([304, 0]);
  expect((await get('/console/nowhere')).status).toBe(404);
});

test('files of the console come packed as they were built, and are kept for ever', async () => {
  const path = `/console/assets/${manifest.script}`;
  const plain = await get(path);
  expect(plain.headers['content-encoding']).toBeUndefined();
  expect(plain.headers['cache-control']).toBe('public, max-age=31536000, immutable');
  const sizes = await Promise.all(
    ['gzip', 'br'].map(async (encoding) => {
      const answer = await get(path, { 'accept-encoding': encoding });
      expect(answer.headers['content-encoding']).toBe(encoding);
      return answer.bytes.length;
    }),
  );
  expect(Math.max(...sizes)).toBeLessThan(plain.bytes.length / 2);
  for (const wrong of ['../manifest.json', '..%2Fmanifest.json', `${manifest.script}.gz`, 'nothing.js'])
    expect((await get(`/console/assets/${wrong}`)).status, wrong).toBe(404);
});
