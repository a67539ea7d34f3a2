import { Temporal } from 'temporal-polyfill';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { billCustomer } from '../../../../src/areas/billing/bill-subscriptions/bill.ts';
import { connectDatabase, type Db } from '../../../../src/platform/db/connect.ts';
import { createLog } from '../../../../src/platform/log/log.ts';
import { createProducer } from '../../../../src/platform/queue/producer.ts';
import { systemTransaction } from '../../../../src/platform/records/system-transaction.ts';
import { reactions } from '../../../../src/reactions.ts';
import { startService, type TestService, UNSCHEDULED } from '../../../support/service.ts';

// The first month's end of a new installation: customers and subscriptions stand for a while, but Postgres has never
// analyzed what billing stores, and plans that a connection made while those tables were empty serve until it does.
// Every index that begins with the organization looks equally good then.
const CUSTOMERS = 200;
/** Rows of one of the tables. */
const MOST = 20;
const TICK = Temporal.Instant.from('2024-04-01T00:10:00Z');
const TABLES = ['invoices', 'fees', 'invoice_subscriptions'];

let service: TestService;
beforeAll(async () => {
  service = await startService({ pools: UNSCHEDULED });
  for (const name of TABLES) await service.sql.unsafe(`alter table ${name} set (autovacuum_enabled = false)`);
});
afterAll(() => service.stop());

/** Customers with a subscription each that are due at the tick. */
async function dueCustomers() {
  const client = await service.org();
  const plan = { name: 'P', code: 'p', interval: 'monthly', amount_cents: 1000, amount_currency: 'USD' };
  expect((await client.post('/plans', { plan: { ...plan, pay_in_advance: false } })).status).toBe(200);
  const subscription = { external_customer_id: 'first', external_id: 'first', plan_code: 'p' };
  const started = '2024-03-01T00:00:00Z';
  expect(
    (await client.post('/subscriptions', { subscription: { ...subscription, subscription_at: started } })).status,
  ).toBe(200);
  const { organization_id: id } = client.organization;
  await service.sql`
    with customer as (
      insert into customers
      select (jsonb_populate_record(first, jsonb_build_object('id', gen_random_uuid(), 'external_id', 'customer-' || n,
        'sequential_id', n + 1, 'slug', 'slug-' || n))).*
      from customers first cross join generate_series(1, ${CUSTOMERS}::int) n
      where organization_id = ${id}
      returning id, external_id
    )
    insert into subscriptions
    select (jsonb_populate_record(first, jsonb_build_object('id', gen_random_uuid(), 'external_id',
      customer.external_id, 'customer_id', customer.id, 'created_at', ${started}::text, 'next_billing_at',
      '2024-04-01T00:00:00Z'))).*
    from subscriptions first cross join customer where organization_id = ${id}`;
  await service.sql`analyze customers, subscriptions`;
  const customers = await service.sql<{ id: string }[]>`
    select id from customers where organization_id = ${id} and external_id <> 'first' order by sequential_id`;
  return { id, customers };
}

/** Rows of each table that this session has read and not reported yet. */
const rowsRead = async (db: Db): Promise<number[]> => {
  const read = await db<{ rows: number }[]>`
    select coalesce(idx_tup_fetch, 0) + coalesce(seq_tup_read, 0) as rows
    from unnest(${TABLES}::text[]) with ordinality as hot (name, place)
    join pg_stat_xact_user_tables on relid = hot.name::regclass order by place`;
  return read.map(({ rows }) => Number(rows));
};

test('an invoice reads its own records, however many its organization has and however new the tables are', async () => {
  const { id, customers } = await dueCustomers();
  const sql = connectDatabase(service.config.DATABASE_URL, { connections: 1 });
  const producer = createProducer(service.redis, service.config.REDIS_PREFIX);
  const log = createLog({ level: 'silent', process: 'test' });
  const deps = { sql, producer, config: service.config, reactions, log };
  const readOf: number[][] = [];
  for (const customer of customers)
    await systemTransaction(
      deps,
      { id, sandbox: false },
      async () => TICK,
      async (ctx) => {
        const before = await rowsRead(ctx.db);
        await billCustomer(ctx, customer.id, TICK);
        readOf.push((await rowsRead(ctx.db)).map((rows, table) => rows - before[table]!));
      },
    );
  await Promise.all([sql.end(), producer.close()]);
  const [{ count }] = (await service.sql`
    select count(*)::int as count from invoices where organization_id = ${id}`) as unknown as [{ count: number }];
  expect(count).toBe(CUSTOMERS);
  const many = TABLES.map((name, table) => [name, readOf.at(-1)![table]!]).filter(([, rows]) => Number(rows) > MOST);
  expect(many).toEqual([]);
}, 120_000);
