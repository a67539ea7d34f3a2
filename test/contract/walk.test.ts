import { readFileSync } from 'node:fs';
import { isDeepStrictEqual } from 'node:util';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { z } from 'zod';
import { startIngress } from '../../src/ingress/start-ingress.ts';
import { operations } from '../../src/operations.ts';
import { createLog } from '../../src/platform/log/log.ts';
import type { Operation } from '../../src/platform/operation.ts';
import { type Client, type ClientAnswer, createClient } from '../support/client.ts';
import { countStatements } from '../support/count-statements.ts';
import { startService, type TestService } from '../support/service.ts';
import { BODIES, QUERIES } from './bodies.ts';
import { booksOf, everythingDone } from './books.ts';
import { watchAnswers } from './described-answers.ts';
import { buildWorld, paramsOf, pathOf, type World } from './world.ts';

// Every operation met by strangers: without a key, with a key that may do nothing, with another organization's key.
// Rules: api-keys.md#permissions, error-bodies.md#shapes, lists.md; subject of the walk is the table of operations
// itself, so a new one is met too.
type Sent = Awaited<ReturnType<TestService['org']>>;
const answers = watchAnswers();
let service: TestService;
let owner: Sent;
let stranger: Sent;
let world: World;

beforeAll(async () => {
  service = await startService();
  owner = await service.org({ sandbox: true, name: 'Owner' });
  stranger = await service.org({ sandbox: true, name: 'Stranger' });
  world = await buildWorld(owner, service.sql);
  await everythingDone(service.sql);
});
afterAll(() => service.stop());

const LINE = /^(GET|POST|PUT|PATCH|DELETE) (\S+)(?: (\w+))?$/;
const linesOf = (file: string) =>
  readFileSync(new URL(file, import.meta.url), 'utf8')
    .split('\n')
    .flatMap((line) => {
      const found = LINE.exec(line);
      return found ? [{ route: `${found[1]} ${shapeOf(found[2]!)}`, name: found[3] }] : [];
    });
const shapeOf = (path: string) => path.replaceAll(/\{\w+\}|:\w+/g, '{}');
const routeOf = ({ method, path }: Operation) => `${method.toUpperCase()} ${shapeOf(path)}`;

const identified = operations.filter(({ path }) => path.includes(':'));
const lists = operations.filter(({ method, path }) => method === 'get' && !path.includes(':'));
// The transaction of the world is a top-up that nothing funded.
const paged = operations.filter(
  ({ name, kind, query }) =>
    kind === 'read' &&
    query instanceof z.ZodObject &&
    'page' in query.shape &&
    name !== 'findAllWalletTransactionFundings',
);

test('the table of operations holds the 217 operations of the interface under their names', () => {
  const ours = new Map(operations.map((operation) => [routeOf(operation), operation.name]));
  const published = linesOf('operations.txt');
  expect(published).toHaveLength(217);
  const others = published.filter(({ route, name }) => ours.get(route) !== name);
  expect(others.map(({ route }) => route)).toEqual([]);
});

test('every other route is listed as outside the interface, and the list names no missing route', () => {
  const published = new Set(linesOf('operations.txt').map(({ route }) => route));
  const told = ['extra-routes.txt', 'client-routes.txt'].flatMap(linesOf).map(({ route }) => route);
  const ours = operations.map(routeOf).filter((route) => !published.has(route));
  expect(ours.filter((route) => !told.includes(route))).toEqual([]);
  expect(told.filter((route) => !ours.includes(route))).toEqual([]);
});

test('every operation without a known key is refused with 401', async () => {
  for (const key of ['', 'unknown'])
    for (const operation of operations) {
      const { status, body } = await call(service.client(key), operation);
      expect({ at: routeOf(operation), status, body }).toEqual({
        at: routeOf(operation),
        status: 401,
        body: operation.errorsAsOtlp ? { code: 16, message: 'Unauthorized' } : { status: 401, error: 'Unauthorized' },
      });
    }
});

test('no list of another organization shows anything of the owner', async () => {
  const secrets = [owner.organization.organization_id, ...Object.values(world).flatMap(uniqueIds)];
  for (const operation of lists) {
    const { status, text } = await call(stranger, operation);
    expect(status, `${routeOf(operation)}: ${text}`).toBeLessThan(500);
    expect(
      secrets.filter((id) => text.includes(id)),
      routeOf(operation),
    ).toEqual([]);
  }
});

test('a key without permissions is refused with 403 that names mode and resource', async () => {
  const weak = await service.org({ name: 'Weak' });
  await service.sql`update api_keys
    set permissions = '{}' where organization_id = ${weak.organization.organization_id}`;
  for (const operation of operations) {
    if (operation.permission === null) continue;
    const { status, body, headers } = await call(weak, operation);
    const mode = operation.mode ?? (operation.method === 'get' ? 'read' : 'write');
    const [resource] = [operation.permission].flat();
    const code = `${mode}_action_not_allowed_for_${resource}`;
    expect({ at: routeOf(operation), status, body }).toEqual({
      at: routeOf(operation),
      status: 403,
      body: operation.errorsAsOtlp
        ? { code: 7, message: `Forbidden; ${code}` }
        : { status: 403, error: 'Forbidden', code },
    });
    expect(headers).toHaveProperty('x-ratelimit-limit');
  }
});

test('only operations open to every key have no permission', () => {
  expect(operations.filter(({ permission }) => permission === null).map(routeOf)).toEqual([
    'GET /api_keys/current',
    'GET /attention',
    'GET /search',
  ]);
});

test('an identifier of a record is unknown to another organization, and nothing of the owner changes', async () => {
  const before = await booksOf(service.sql, owner.organization.organization_id);
  const odd: unknown[] = [];
  // By rule the past usage of an unknown customer is an empty list; names of templates are everybody's.
  const ofRecords = identified.filter(
    ({ name, path }) => name !== 'findAllCustomerPastUsage' && !path.startsWith('/mail_templates/'),
  );
  for (const operation of ofRecords) {
    const { status, body } = await call(stranger, operation);
    const expected = { status: 404, error: 'Not Found', code: 'object_not_found', resource: parentOf(operation) };
    if (!isDeepStrictEqual(body, expected)) odd.push({ at: routeOf(operation), status, body });
  }
  expect(odd).toEqual([]);
  await everythingDone(service.sql);
  expect(await booksOf(service.sql, owner.organization.organization_id)).toEqual(before);
});

test('the owner finds every record by its identifier', async () => {
  const odd: unknown[] = [];
  // The first has no check under way, the second is a top-up that nothing funded.
  const others: Record<string, number> = { findViesCheck: 404, findAllWalletTransactionFundings: 422 };
  for (const operation of identified.filter(({ method }) => method === 'get')) {
    const { status, text } = await call(owner, operation);
    if (status !== (others[operation.name] ?? 200)) odd.push({ at: routeOf(operation), status, text });
  }
  expect(odd).toEqual([]);
});

test('every list has pages of 20 and at most 1000, and a page beyond the last one is empty', async () => {
  const odd: unknown[] = [];
  for (const operation of paged) {
    const path = pathOf(operation, world);
    const page = async (query: string) => {
      const { body } = await owner.get(`${path}${path.includes('?') ? '&' : '?'}${query}`);
      const { meta, ...roots } = body;
      return { rows: (Object.values(roots).find(Array.isArray) ?? []).length, meta };
    };
    const { meta } = await page('per_page=1000');
    const total = meta.total_count;
    const only = { current_page: 1, next_page: null, prev_page: null, total_pages: 1, total_count: total };
    const behind = { current_page: 900, next_page: null, prev_page: 899, total_pages: total, total_count: total };
    const usual = { ...only, total_pages: Math.ceil(total / 20), next_page: total > 20 ? 2 : null };
    const expected = (shown: number, meta: object) =>
      total === 0 ? { rows: 0, meta: NOTHING } : { rows: Math.min(shown, total), meta };
    for (const [query, shown, whole] of [
      ['per_page=2000&page=abc', 1000, only],
      ['per_page=1&page=900', 0, behind],
      ...['', 'per_page=0', 'per_page=abc&page=0', 'per_page=-1&page=-1', 'per_page=&page='].map(
        (each) => [each, 20, usual] as const,
      ),
    ] as const) {
      const answer = await page(query);
      if (!isDeepStrictEqual(answer, expected(shown, whole))) odd.push({ at: routeOf(operation), query, answer });
    }
  }
  expect(odd).toEqual([]);
});

test('an empty list has an empty page of zeros', async () => {
  const empty = await service.org({ name: 'Empty' });
  for (const operation of paged.filter(({ path }) => !path.includes(':') && path !== '/api_keys')) {
    const { body } = await call(empty, operation);
    if (body.status === undefined) expect({ at: routeOf(operation), meta: body.meta }).toMatchObject({ meta: NOTHING });
  }
});

test('a GET that a replica may answer writes nothing', async () => {
  const address = new URL(service.config.DATABASE_URL);
  address.searchParams.set('default_transaction_read_only', 'on');
  const log = createLog({ level: 'silent', process: 'test' });
  const writing: Operation = {
    name: 'writing',
    method: 'get',
    path: '/writing',
    permission: null,
    summary: 'Probe',
    tag: 'probes',
    answer: z.object({}),
    kind: 'read',
    run: async ({ db }) => db`insert into replication_heartbeats (beaten_at) values ('2024-01-01T00:00:00Z')`,
  };
  const config = { ...service.config, DATABASE_URL: address.href };
  const ingress = await startIngress(config, [...operations, writing], log);
  const failed: string[] = [];
  try {
    const reader = createClient(ingress.url, owner.organization.api_key);
    expect((await reader.get('/writing')).status).toBe(503);
    for (const operation of operations.filter(({ method, kind }) => method === 'get' && kind === 'read')) {
      const { status } = await call(reader, operation);
      if (status >= 500 && !operation.fresh) failed.push(routeOf(operation));
    }
  } finally {
    await ingress.close();
  }
  expect(failed).toEqual([]);
});

test('a list takes at most six round trips to the database, with the question up to where a replica has come', async () => {
  const odd: unknown[] = [];
  for (const operation of paged) {
    const query = Object.fromEntries(new URLSearchParams(QUERIES[operation.name] ?? ''));
    const input = { ...paramsOf(operation, world), query, now: '2024-01-03T00:00:00Z' };
    const { roundTrips } = await countStatements(service, owner.organization.organization_id, operation.name, input);
    const asked = operation.fresh ? 0 : 1;
    if (roundTrips + asked > 6) odd.push({ at: routeOf(operation), roundTrips });
  }
  expect(odd).toEqual([]);
});

const NOT_UTF8 = Buffer.from('{"a":"\xff"}', 'latin1');

test('a body without its root key is refused with 400, one of another type with 415, broken JSON with 400', async () => {
  const written = operations.filter(({ root, bodyOptional }) => root !== undefined && !bodyOptional);
  for (const operation of written) {
    const at = routeOf(operation);
    const path = pathOf(operation, world);
    const method = operation.method as 'post' | 'put' | 'patch';
    const missing = `BadRequest: param is missing or the value is empty or invalid: ${operation.root}`;
    for (const body of [{}, { [operation.root!]: {} }, { [operation.root!]: null }]) {
      const answer = await owner[method](path, body);
      if (answer.status === 422 && Object.keys(body).length > 0) continue;
      expect({ at, body: answer.body }).toEqual({ at, body: { status: 400, error: missing } });
    }
    for (const raw of ['{"', NOT_UTF8]) {
      const broken = await owner[method](path, undefined, { raw, headers: { 'content-type': 'application/json' } });
      expect({ at, body: broken.body }).toEqual({ at, body: { status: 400, error: 'BadRequest: invalid JSON' } });
    }
    const foreign = await owner[method](path, undefined, { raw: 'a,b', headers: { 'content-type': 'text/csv' } });
    expect({ at, code: foreign.body.code }).toEqual({ at, code: 'unsupported_media_type' });
  }
});

const NOTHING = { current_page: 0, next_page: null, prev_page: null, total_pages: 0, total_count: 0 };

test('metadata of texts accepts no number, however long it is', async () => {
  const sent: [method: 'post' | 'put' | 'patch', path: string, body: string, field: string, code: string][] = [
    ...operations
      .filter(({ root }) => root === 'metadata')
      .map((each) => [each.method, pathOf(each, world), '{"metadata":{"k":N}}', 'value', 'value_is_invalid'] as never),
    ['put', '/plans/plan', '{"plan":{"metadata":{"k":N}}}', 'value', 'value_is_invalid'],
    ['put', `/wallets/${world.wallets!.svc_id}`, '{"wallet":{"metadata":{"k":N}}}', 'value', 'value_is_invalid'],
    [
      'post',
      '/wallet_transactions',
      `{"wallet_transaction":{"wallet_id":"${world.wallets!.svc_id}","granted_credits":"1","metadata":[{"key":"k","value":N}]}}`,
      'metadata',
      'invalid_key_value_pair',
    ],
    [
      'put',
      `/credit_notes/${world.credit_notes!.svc_id}`,
      '{"credit_note":{"metadata":{"k":N}}}',
      'value',
      'value_is_invalid',
    ],
  ];
  expect(sent.length).toBeGreaterThan(9);
  for (const [method, path, body, field, code] of sent)
    for (const number of ['7', '9007199254740993', '0.12345678901234567']) {
      const headers = { 'content-type': 'application/json' };
      const { status, body: answer } = await owner[method](path, undefined, {
        raw: body.replace('N', number),
        headers,
      });
      expect({ method, path, number, status, details: answer.error_details }).toEqual({
        method,
        path,
        number,
        status: 422,
        details: { [field]: [code] },
      });
    }
});

test('every answer of the walk has the form of the API description', () => {
  expect([...answers.differences]).toEqual([]);
  expect(answers.succeeded.size).toBeGreaterThan(0);
});

// An empty root is a missing one; fields that nobody knows are ignored.
const UNKNOWN = { nobody_knows: 'this' };

/** Calls an operation with identifiers of the owner's records and a body that its schema accepts. */
function call(client: Client, operation: Operation): Promise<ClientAnswer> {
  const path = pathOf(operation, world);
  if (operation.method === 'get') return client.get(path);
  const content = BODIES[operation.name] ?? UNKNOWN;
  const body = operation.root === undefined ? content : { [operation.root]: content };
  return client[operation.method](path, body);
}

// What the first parameter of a path names, where it is not the singular of the first segment.
const PARENTS: Readonly<Record<string, string>> = {
  'ai/margin/customers': 'customer',
  'ai/usage': 'event',
  'audits/findings': 'audit_finding',
  'events/corrections': 'event_correction',
  'events/unmatched/heal': 'run',
  'ingestion/connectors': 'connector',
  'ingestion/dead_letters': 'dead_letter',
  'invoices/runs': 'run',
  'ledger/transactions': 'ledger_transaction',
  'price_book/entries': 'price_entry',
  'price_book/rerate': 'run',
  'sandbox/checkouts': 'checkout',
  'sandbox/payments': 'payment',
};

/** A parent is looked for before its child (error-bodies.md#resources-of-a-404). */
function parentOf({ path }: Operation): string {
  const plural = path.split('/:')[0]!.slice(1);
  return (
    PARENTS[plural] ??
    plural
      .replace(/ies$/, 'y')
      .replace(/(x)es$/, '$1')
      .replace(/s$/, '')
  );
}

const UUID = /^[\da-f]{8}-/;
const uniqueIds = (values: Record<string, string>) => Object.values(values).filter((value) => UUID.test(value));
