import { afterAll, beforeAll, expect, test } from 'vitest';
import { makeOneTimeLink } from '../../../src/areas/tenancy/console-sessions/one-time-links.ts';
import { realNow } from '../../../src/platform/clock/real-clock.ts';
import { type CellsService, startCells, type Tenant } from '../../support/cells.ts';
import { createTestDatabase, type TestDatabase } from '../../support/database.ts';

// Browsers at the one door of two cells. Rule: cells.md#requests.
const OPERATOR = { OPERATOR_TOKEN: 'operator-of-the-cells' };
let database: TestDatabase;
let service: CellsService;
let a: Tenant;
let b: Tenant;

beforeAll(async () => {
  database = await createTestDatabase();
  service = await startCells({ DATABASE_URL: database.url, ...OPERATOR });
  await service.add({ name: 'a', schema: 'public' });
  await service.add({ name: 'b' });
  [a, b] = [await service.org('a'), await service.org('b', { isNoted: false })];
});
afterAll(async () => {
  await service.stop();
  await database.drop();
});

interface Browser {
  cell: string | null;
  organizations: string[];
  headers: Record<string, string>;
}

const enter = (session: object, headers: Record<string, string> = {}) =>
  fetch(`${service.url}/console/session`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body: JSON.stringify({ session }),
  });

async function signIn(session: object, headers: Record<string, string> = {}): Promise<Browser> {
  const answer = await enter(session, headers);
  expect(answer.status).toBe(200);
  const body = (await answer.json()) as { session: { csrf_token: string; organizations: { svc_id: string }[] } };
  return {
    cell: answer.headers.get('x-svc-cell'),
    organizations: body.session.organizations.map(({ svc_id }) => svc_id),
    headers: {
      cookie: answer.headers.get('set-cookie')!.split(';', 1)[0]!,
      'x-console-token': body.session.csrf_token,
    },
  };
}

const ask = (path: string, browser: Browser, organization?: string) =>
  fetch(`${service.url}${path}`, {
    headers: { ...browser.headers, ...(organization ? { 'x-console-organization': organization } : {}) },
  });

test('a key signs a browser in to its cell, and the cookie leads there from then on', async () => {
  for (const [cell, tenant] of [
    ['a', a],
    ['b', b],
  ] as const) {
    const id = tenant.organization.organization_id;
    await tenant.post('/customers', { customer: { external_id: `of-${cell}` } });
    const browser = await signIn({ api_key: tenant.api_key });
    expect([browser.cell, browser.organizations]).toEqual([cell, [id]]);
    const listed = await ask('/api/v1/customers', browser, id);
    expect([listed.status, listed.headers.get('x-svc-cell')]).toEqual([200, cell]);
    expect(((await listed.json()) as { customers: { external_id: string }[] }).customers).toMatchObject([
      { external_id: `of-${cell}` },
    ]);
    expect((await ask('/console/session', browser)).status).toBe(200);
  }
});

test('a code signs in once, in the cell that made it', async () => {
  const organization = b.organization.organization_id;
  const { path } = await makeOneTimeLink(await service.sqlOf('b'), { organization }, realNow());
  const code = path.split('=')[1]!;
  expect(await signIn({ code })).toMatchObject({ cell: 'b', organizations: [organization] });
  expect((await enter({ code })).status).toBe(401);
});

test('an organization of another cell begins a session there, and the former one goes on', async () => {
  const first = await signIn({ api_key: a.api_key });
  const second = await signIn({ api_key: b.api_key }, first.headers);
  expect([second.cell, second.organizations]).toEqual(['b', [b.organization.organization_id]]);
  expect((await ask('/api/v1/customers', first, a.organization.organization_id)).status).toBe(200);
  expect((await ask('/api/v1/customers', second, a.organization.organization_id)).status).toBe(401);
});

test('a session that was ended, an unknown cookie, an unknown key and a broken body are refused as without cells', async () => {
  const browser = await signIn({ api_key: b.api_key });
  const left = await fetch(`${service.url}/console/session`, { method: 'DELETE', headers: browser.headers });
  expect(left.status).toBe(200);
  const id = b.organization.organization_id;
  expect((await ask('/api/v1/customers', browser, id)).status).toBe(401);
  const stranger = { ...browser, headers: { ...browser.headers, cookie: 'meterstone=nobody' } };
  expect((await ask('/console/session', stranger)).status).toBe(401);
  expect((await enter({ api_key: 'e0fe1bdc-1111-4222-8333-944455556666' })).status).toBe(401);
  expect((await enter({})).status).toBe(422);
  const broken = await fetch(`${service.url}/console/session`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: '{"session":',
  });
  expect(broken.status).toBe(400);
});

test("the operator's pages show the cell of their session, or the one that is named", async () => {
  const browser = await signIn({ operator_token: OPERATOR.OPERATOR_TOKEN });
  const own = await ask('/api/v1/operations/jobs', browser, 'operator');
  expect([own.status, own.headers.get('x-svc-cell')]).toEqual([200, browser.cell]);
  const other = browser.cell === 'a' ? 'b' : 'a';
  expect((await ask(`/api/v1/operations/jobs?cell=${other}`, browser, 'operator')).status).toBe(401);
});
