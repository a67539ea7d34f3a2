import { request } from 'undici';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { startIngress } from '../../../src/ingress/start-ingress.ts';
import { operations } from '../../../src/operations.ts';
import { buildOnce } from '../../support/build-once.ts';
import { startService, type TestService } from '../../support/service.ts';

// The pages of the documentation. Rule: documentation.md#pages.
const SCRIPT_BYTES = 6_000;
let service: TestService;

beforeAll(async () => {
  await buildOnce();
  service = await startService({ pools: [], operations });
}, 120_000);
afterAll(() => service.stop());

const get = async (path: string, headers: Record<string, string> = {}, url = service.url) => {
  const answer = await request(url + path, { headers });
  return { status: answer.statusCode, headers: answer.headers, text: await answer.body.text() };
};

/** Every page that the documentation leads to, from its front page. */
async function walk(): Promise<Map<string, string>> {
  const pages = new Map<string, string>();
  const waiting = ['/docs'];
  for (let path = waiting.pop(); path !== undefined; path = waiting.pop()) {
    if (pages.has(path)) continue;
    const { status, headers, text } = await get(path);
    expect(status, path).toBe(200);
    pages.set(path, text);
    if (!String(headers['content-type']).startsWith('text/html') || path === '/docs/try') continue;
    for (const [, link] of text.matchAll(/href="(\/docs[^"#]*)/g)) if (!pages.has(link!)) waiting.push(link!);
  }
  return pages;
}

test('every page of the documentation is reached, every link leads to a place, and none asks another host', async () => {
  const pages = await walk();
  const ids = new Map(
    [...pages].map(([path, text]) => [path, new Set([...text.matchAll(/ id="([^"]+)"/g)].map(([, id]) => id))]),
  );
  const broken: string[] = [];
  for (const [path, text] of pages) {
    if (path === '/docs/try') continue;
    for (const [, to, anchor] of text.matchAll(/href="(\/docs[^"#]*)?#([^"]+)"/g))
      if (!ids.get(to ?? path)?.has(anchor!)) broken.push(`${path}: ${to ?? ''}#${anchor}`);
    expect(text.match(/(?:src|action)="(?:https?:)?\/\/|<link[^>]*href="(?:https?:)?\/\//g), path).toBeNull();
    expect(text, path).not.toMatch(/ style="| on\w+="|<script>/);
  }
  expect(broken).toEqual([]);
  const paths = [...pages.keys()];
  for (const tag of new Set(operations.filter(({ hidden }) => !hidden).map((each) => each.tag)))
    expect(paths).toContain(`/docs/api/${tag}`);
  expect(paths).toEqual(
    expect.arrayContaining(['/docs/guide', '/docs/guide/events', '/docs/operations', '/docs/errors']),
  );
});

test('a guide with examples says how they are run, and one without does not', async () => {
  const has = async (name: string) =>
    (await get(`/docs/guide/${name}`)).text.includes('To run the examples of this page');
  expect([await has('pricing'), await has('first-invoice')]).toEqual([true, false]);
});

test('an address that names no page is a page for a browser, and the usual answer for a program', async () => {
  for (const path of ['/docs/guide/nowhere', '/docs/api/nothing']) {
    const shown = await get(path, { accept: 'text/html,*/*;q=0.8' });
    expect([shown.status, shown.text.includes('There is no such page')]).toEqual([404, true]);
    const program = await get(path, { accept: '*/*' });
    expect([program.status, JSON.parse(program.text).code]).toEqual([404, 'object_not_found']);
  }
});

test('every operation stands at its own place with a curl line', async () => {
  const { text } = await get('/docs/api/coupons');
  for (const { name, tag } of operations.filter(({ hidden }) => !hidden))
    if (tag === 'coupons') expect(text).toContain(`<h2 id="${name}">`);
  expect(text).toContain(`curl -sS -X POST &#39;http://127.0.0.1:`);
  expect(text).toContain('Authorization: Bearer $KEY');
  expect((await get('/docs/api/unknown')).status).toBe(404);
  expect((await get('/docs/guide/unknown')).status).toBe(404);
});

test('each error code has a place of its own, where the reference leads', async () => {
  const { text } = await get('/docs/errors');
  for (const code of ['write_pending', 'value_is_frozen', 'test_clock_advancing'])
    expect(text).toContain(`<tr id="${code}">`);
  expect((await get('/docs/api/coupons')).text).toContain('href="/docs/errors#value_is_mandatory"');
});

test('pages are packed and kept, and asked again they answer 304', async () => {
  const first = await get('/docs/api/invoices', { 'accept-encoding': 'gzip' });
  expect(first.headers['content-encoding']).toBe('gzip');
  const policy = String(first.headers['content-security-policy']);
  expect(policy).toContain("default-src 'none'");
  expect(policy).not.toContain('unsafe');
  const again = await get('/docs/api/invoices', { 'if-none-match': String(first.headers.etag) });
  expect(again).toMatchObject({ status: 304, text: '' });
  const script = (await get('/docs')).text.match(/src="(\/docs\/docs-[\w-]+\.js)"/)![1]!;
  const { headers, text } = await get(script);
  expect(headers['cache-control']).toContain('immutable');
  expect(text.length).toBeLessThan(SCRIPT_BYTES);
});

test('the search names guides, operations and types of events', async () => {
  const entries: [string, string, string][] = JSON.parse((await get('/docs/search.json')).text);
  const addresses = entries.map(([, , address]) => address);
  expect(addresses).toEqual(
    expect.arrayContaining([
      '/docs/guide/events',
      '/docs/guide/events#many-events',
      '/docs/api/customers#createCustomer',
      '/docs/api/event_types#invoice.created',
    ]),
  );
  expect(new Set(addresses).size).toBe(addresses.length);
});

test('names of the documentation are those of the deployment', async () => {
  const other = await startIngress({ ...service.config, WIRE_PREFIX: 'lago' }, operations);
  try {
    const { text } = await get('/docs/api/customers', {}, other.url);
    expect(text).toContain('lago_id');
    expect(text).not.toContain('svc_id');
  } finally {
    await other.close();
  }
});

test('a deployment without documentation answers 404', async () => {
  const other = await startIngress({ ...service.config, DOCS: false }, operations);
  try {
    for (const path of ['/docs', '/docs/api/customers', '/openapi.json', '/docs/try'])
      expect([path, (await get(path, {}, other.url)).status]).toEqual([path, 404]);
  } finally {
    await other.close();
  }
});
