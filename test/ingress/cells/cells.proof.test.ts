import { afterAll, beforeAll, expect, test } from 'vitest';
import { digestOfKey } from '../../../src/areas/tenancy/organizations/commands.ts';
import { drainCell, resumeCell } from '../../../src/commands/cells/drain-cell.ts';
import { findPlace } from '../../../src/platform/cells/directory.ts';
import { type CellsService, startCells, type Tenant } from '../../support/cells.ts';
import { createTestDatabase, type TestDatabase } from '../../support/database.ts';
import { until } from '../../support/until.ts';
import { ok, wordsOf } from '../../support/words.ts';

const OPERATOR = { OPERATOR_TOKEN: 'operator-of-the-cells' };

// Two cells in one Postgres: `a` is what was a service without cells before, `b` has a schema of its own.
let database: TestDatabase;
let service: CellsService;
let a: Tenant;
let b: Tenant;

beforeAll(async () => {
  database = await createTestDatabase();
  service = await startCells({ DATABASE_URL: database.url, ...OPERATOR });
  await service.add({ name: 'a', schema: 'public' });
  await service.add({ name: 'b' });
  a = await service.org('a');
  b = await service.org('b');
});
afterAll(async () => {
  await service.stop();
  await database.drop();
});

/** The same customer, metric, plan and subscription, and a number of calls, at 0.05 each. */
async function sells(tenant: Tenant, calls: number): Promise<void> {
  const words = wordsOf(tenant);
  const { svc_id: metricId } = await words.metric('calls');
  await words.plan({
    amount_cents: 1000,
    charges: [{ billable_metric_id: metricId, charge_model: 'standard', properties: { amount: '0.05' } }],
  });
  await words.customer();
  await ok(words.subscribe());
  for (let call = 0; call < calls; call += 1) await words.use('calls', {}, { transaction_id: `t${call}` });
}

const usageOf = async (tenant: Tenant): Promise<number> =>
  (await ok(tenant.get('/customers/acme/current_usage?external_subscription_id=sub'))).customer_usage.amount_cents;

test('two cells with records of the same names each meter and price their own, and hold no row of the other', async () => {
  await Promise.all([sells(a, 2), sells(b, 3)]);
  await until(async () => (await usageOf(a)) === 10 && (await usageOf(b)) === 15);
  for (const [cell, tenant] of [
    ['a', a],
    ['b', b],
  ] as const) {
    const sql = await service.sqlOf(cell);
    const tables = await sql<{ name: string }[]>`
      select relname as name from pg_class
      where relnamespace = current_schema()::regnamespace and relkind in ('r', 'p')
        and exists (select from pg_attribute where attrelid = pg_class.oid and attname = 'organization_id')`;
    expect(tables.length).toBeGreaterThan(100);
    const seen = new Set<string>();
    for (const { name } of tables)
      for (const { id } of await sql.unsafe(
        `select distinct organization_id::text as id from ${name} where organization_id is not null`,
      ))
        seen.add(`${id}`);
    expect([...seen], cell).toEqual([tenant.organization.organization_id]);
  }
});

test('a one-off invoice of each cell has the first number of its own organization and its own amount', async () => {
  const invoices = await Promise.all([wordsOf(a).oneOff(1100), wordsOf(b).oneOff(2200)]);
  expect(invoices.map(({ total_amount_cents }) => total_amount_cents)).toEqual([1100, 2200]);
});

test('a key of one cell finds no record of another by its id: 404 (SC12)', async () => {
  const invoice = await wordsOf(b).oneOff(3300);
  expect((await b.get(`/invoices/${invoice.svc_id}`)).status).toBe(200);
  const answer = await a.get(`/invoices/${invoice.svc_id}`);
  expect(answer.status).toBe(404);
  expect(answer.body).toEqual({ status: 404, error: 'Not Found', code: 'object_not_found', resource: 'invoice' });
  expect((await a.post(`/invoices/${invoice.svc_id}/void`, {})).status).toBe(404);
});

test('answers name their cell in a header', async () => {
  for (const [cell, tenant] of [
    ['a', a],
    ['b', b],
  ] as const)
    expect((await tenant.get('/customers')).headers['x-svc-cell']).toBe(cell);
});

test('a key that the directory does not have is found by asking the cells, and noted', async () => {
  const fresh = await service.org('b', { isNoted: false });
  expect((await fresh.get('/customers')).headers['x-svc-cell']).toBe('b');
  const pointer = { kind: 'key', digest: digestOfKey(fresh.api_key) } as const;
  expect(await findPlace(service.directory.control, pointer)).toBe('b');
});

test('a key that was made over the API works at once, and one that was taken away ends within seconds', async () => {
  const { api_key: made } = await ok(b.post('/api_keys', { api_key: { name: 'second' } }));
  const second = service.client(made.value);
  expect((await second.get('/customers')).status).toBe(200);
  await ok(b.delete(`/api_keys/${made.svc_id}`));
  await until(async () => (await second.get('/customers')).status === 401, 5000);
});

test('a key of no cell is 401, and no cell is asked again for a while', async () => {
  const stranger = service.client('e0fe1bdc-1111-4222-8333-944455556666');
  for (let call = 0; call < 3; call += 1) {
    const answer = await stranger.get('/customers');
    expect([answer.status, answer.body]).toEqual([401, { status: 401, error: 'Unauthorized' }]);
  }
  expect((await service.client('').get('/customers')).status).toBe(401);
});

test('links of browsers and addresses of providers lead to the cell of their record', async () => {
  for (const [cell, tenant] of [
    ['a', a],
    ['b', b],
  ] as const) {
    const { customer } = await ok(tenant.get('/customers/acme/portal_url'));
    const page = await fetch(service.url + new URL(customer.portal_url).pathname);
    expect([page.status, page.headers.get('x-svc-cell')]).toEqual([200, cell]);
    const hook = await fetch(`${service.url}/webhooks/stripe/${tenant.organization.organization_id}`, {
      method: 'POST',
      body: '{}',
    });
    expect([hook.status, hook.headers.get('x-svc-cell')]).toEqual([400, cell]);
  }
});

test('unknown paths, odd tokens and paths that do not decode are answered as without cells', async () => {
  const get = async (path: string) => (await fetch(service.url + path)).status;
  expect(await get('/api/v1/nothing')).toBe(404);
  expect(await get('/nothing')).toBe(404);
  expect(await get('/%E0%A4%A')).toBe(404);
  expect(await get('/customer-portal/%E0%A4%A')).toBe(404);
  expect(await get('/documents/0198f6f2-0000-7000-8000-000000000000')).toBe(403);
  expect(await get('/health')).toBe(200);
});

test('/ready lists the cells, and one of them as it shows itself', async () => {
  const ready = await fetch(`${service.url}/ready`);
  expect([ready.status, await ready.json()]).toEqual([
    200,
    {
      status: 'ready',
      cells: [
        { name: 'a', state: 'serving', reachable: true },
        { name: 'b', state: 'serving', reachable: true },
      ],
    },
  ]);
  const own = await fetch(`${service.url}/ready?cell=b`);
  expect(await own.json()).toMatchObject({ postgres: true, schema: 'current', redis: true });
  expect((await fetch(`${service.url}/ready?cell=c`)).status).toBe(404);
});

test('the jobs of the operator are those of the cell that is named', async () => {
  const operator = service.client(OPERATOR.OPERATOR_TOKEN);
  const nameless = await operator.get('/operations/jobs');
  expect([nameless.status, nameless.body.error_details]).toEqual([422, { cell: ['value_is_mandatory'] }]);
  const sql = await service.sqlOf('b');
  await ok(operator.post('/operations/jobs/bill/run?cell=b'));
  expect(await sql`select job from schedule_ticks where job = 'bill'`).toHaveLength(1);
  expect(await (await service.sqlOf('a'))`select job from schedule_ticks where job = 'bill'`).toHaveLength(0);
  const { jobs } = await ok(operator.get('/operations/jobs?cell=b'));
  expect(jobs.find(({ name }: { name: string }) => name === 'bill')).toBeDefined();
  expect((await service.client('guess').get('/operations/jobs?cell=b')).status).toBe(401);
});

test('a cell that is drained refuses writes with the seconds to wait, then everything, and serves again', async () => {
  await service.add({ name: 'c' });
  const c = await service.org('c');
  await wordsOf(c).customer();
  await drainCell(service.directory, 'c', { retryAfterSeconds: 77, withinSeconds: 60 }, async (line) => {
    if (!line.startsWith('writes')) return;
    const refused = await until(async () => {
      const answer = await c.post('/customers', { customer: { external_id: 'late' } });
      return answer.status === 503 ? answer : undefined;
    });
    expect(refused.body).toEqual({ status: 503, error: 'Service Unavailable', code: 'cell_draining', cell: 'c' });
    expect(refused.headers['retry-after']).toBe('77');
    expect((await c.get('/customers')).status).toBe(200);
  });
  await until(async () => (await c.get('/customers')).status === 503);
  // No process says any more that it works there.
  expect(await service.redis.hlen(`${service.config.REDIS_PREFIX}-c:processes`)).toBe(0);
  expect((await a.get('/customers')).status).toBe(200);
  await resumeCell(service.directory, 'c', {});
  await until(async () => (await c.post('/customers', { customer: { external_id: 'again' } })).status === 200);
});
