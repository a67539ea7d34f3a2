import { connect } from 'node:net';
import { text } from 'node:stream/consumers';
import { request } from 'undici';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startIngress } from '../../src/ingress/start-ingress.ts';
import { startService, type TestService } from '../support/service.ts';

const CONSOLES = ['/queues', '/queues/api/queues', '/metrics'];

let service: TestService;
beforeAll(async () => {
  service = await startService({ pools: [], operations: [] });
});
afterAll(() => service.stop());

const status = async (path: string, headers: Record<string, string>, url = service.url) => {
  const answer = await request(url + path, { headers });
  await answer.body.dump();
  return answer.statusCode;
};
const port = () => new URL(service.url).port;

describe.each(CONSOLES)('%s without a password', (path) => {
  test.each<[string, () => Record<string, string>]>([
    ['its own host', () => ({})],
    ['localhost', () => ({ host: `localhost:${port()}` })],
    ['the loopback of IPv6', () => ({ host: `[::1]:${port()}` })],
  ])('a console without a password answers callers of this machine by %s', async (_name, headers) => {
    expect(await status(path, headers())).toBe(200);
  });

  test.each<[string, Record<string, string>]>([
    ['a foreign host', { host: 'evil.example' }],
    ['a host that begins like loopback', { host: '127.0.0.1.evil.example' }],
    ['X-Forwarded-For', { 'x-forwarded-for': '8.8.8.8' }],
    ['X-Forwarded-Proto', { 'x-forwarded-proto': 'https' }],
    ['Forwarded', { forwarded: 'for=8.8.8.8' }],
    ['Via', { via: '1.1 proxy' }],
    ['X-Real-IP', { 'x-real-ip': '8.8.8.8' }],
    ['CF-Connecting-IP', { 'cf-connecting-ip': '8.8.8.8' }],
    ['True-Client-IP', { 'true-client-ip': '8.8.8.8' }],
    ['X-Client-IP', { 'x-client-ip': '8.8.8.8' }],
    ['Fastly-Client-IP', { 'fastly-client-ip': '8.8.8.8' }],
    ['a page of another site', { origin: 'https://evil.example' }],
    ['what another site makes a browser ask', { 'sec-fetch-site': 'cross-site' }],
  ])('a console without a password refuses %s', async (_name, headers) => {
    expect(await status(path, headers)).toBe(403);
  });
});

test('a console refuses a proxy that speaks HTTP/1.0 and hides itself', async () => {
  const socket = connect(Number(port()), '127.0.0.1');
  socket.end(`GET /metrics HTTP/1.0\r\nHost: 127.0.0.1:${port()}\r\n\r\n`);
  expect(await text(socket)).toMatch(/^HTTP\/1\.1 403 /);
});

test('consoles with a password open through a proxy for callers who know it', async () => {
  const guarded = await startIngress({ ...service.config, QUEUE_BOARD_PASSWORD: 'let me in' }, []);
  try {
    const foreign = { host: 'billing.example', 'x-forwarded-for': '8.8.8.8' };
    const authorization = `Basic ${Buffer.from('operator:let me in').toString('base64')}`;
    for (const path of CONSOLES) {
      expect(await status(path, foreign, guarded.url)).toBe(401);
      expect(await status(path, { ...foreign, authorization }, guarded.url)).toBe(200);
    }
  } finally {
    await guarded.close();
  }
});

/** Addresses of other machines that a page's markup makes a browser load from. */
const foreignIn = (html: string) => html.match(/(?:src|href)="(?:https?:)?\/\/[^"]*"/g) ?? [];

test.each(['/queues', '/docs', '/docs/try'])(
  '%s loads nothing from other hosts, and its policy forbids it',
  async (path) => {
    const answer = await request(service.url + path);
    const html = await answer.body.text();
    expect(answer.statusCode).toBe(200);
    expect(html).toContain('<script');
    expect(foreignIn(html)).toEqual([]);
    const policy = String(answer.headers['content-security-policy']);
    expect(policy).toContain("default-src 'none'");
    expect(policy).toContain("script-src 'self'");
    expect(policy).not.toMatch(/script-src[^;]*unsafe|https?:/);
    expect(html).not.toMatch(/<script>/);
  },
);

test('every file that the console pages name is served', async () => {
  for (const page of ['/queues', '/docs', '/docs/try']) {
    const html = await (await request(service.url + page)).body.text();
    const base = /<base href="([^"]*)"/.exec(html)?.[1] ?? page;
    const named = [...html.matchAll(/(?:src|href)="([^"]+\.(?:js|css|png|svg|ico))"/g)].map((match) => match[1]!);
    expect(named.length).toBeGreaterThan(1);
    for (const file of named)
      expect([file, await status(new URL(file, service.url + base).pathname, {})]).toEqual([file, 200]);
  }
});

test('the page for trying requests opens folded and with a search', async () => {
  const script = await (await request(`${service.url}/docs/try.js`)).body.text();
  expect(script).toContain("docExpansion: 'none'");
  expect(script).toContain('filter: true');
});
