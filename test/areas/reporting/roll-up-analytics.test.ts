import { afterAll, beforeAll, expect, test } from 'vitest';
import { ANALYTICS_CHECKS } from '../../../src/areas/reporting/audit-books/analytics-checks.ts';
import { rollUpAnalytics } from '../../../src/areas/reporting/roll-up-analytics/roll-up.ts';
import { createOrganization } from '../../../src/areas/tenancy/organizations/commands.ts';
import type { Context } from '../../../src/platform/context.ts';
import { connectDatabase, type Sql } from '../../../src/platform/db/connect.ts';
import { createTestDatabase, type TestDatabase } from '../../support/database.ts';
import { Dice, type History, openHistory, readReport } from './analytics/history.ts';
import { grossRevenue, loadWorld, mrr } from './analytics/reference.ts';

const NOW = '2025-04-17T10:00:00Z';
const REPORTS = [
  'findAllGrossRevenues',
  'findAllInvoiceCollections',
  'findAllInvoicedUsages',
  'findAllMrrs',
  'findAllOverdueBalances',
];
const PERIOD_REPORTS = ['findAllUsages', 'findAllRevenueStreams', 'findAllPrepaidCredits', 'findAllMrrMovements'];
let database: TestDatabase;
let sql: Sql;

beforeAll(async () => {
  database = await createTestDatabase();
  sql = database.sql;
});
afterAll(() => database.drop());

const totals = (organizationId: string) => sql`
  select report, customer_id, day, subscription_id, billing_entity_id, currency, key, code, amount, units, entries_count
  from analytics_totals where organization_id = ${organizationId} and entries_count > 0
  order by 1, 2, 3, 4, 5, 6, 7, 8`;

const makeInvoices = async (history: History, count: number) => {
  for (let n = 0; n < count; n += 1) await history.changes.addInvoice!();
};

test('marking every source again and counting twice changes no analytics sum', async () => {
  const history = await openHistory(sql, new Dice(7));
  const { organizationId } = history;
  for (let n = 0; n < 40; n += 1) await history.change();
  await rollUpAnalytics({ db: sql, organizationId });
  const before = await totals(organizationId);
  expect(before.length).toBeGreaterThan(20);
  for (const [type, table] of [
    ['invoice', 'invoices'],
    ['fee', 'fees'],
    ['daily_usage', 'daily_usages'],
    ['wallet_transaction', 'wallet_transactions'],
  ] as const)
    await sql`
      insert into analytics_marks (organization_id, source_type, source_id)
      select organization_id, ${type}, id from ${sql(table)}, generate_series(1, 2)
      where organization_id = ${organizationId}`;
  await Promise.all([rollUpAnalytics({ db: sql, organizationId }), rollUpAnalytics({ db: sql, organizationId })]);
  await rollUpAnalytics({ db: sql, organizationId });
  expect(await totals(organizationId)).toEqual(before);
});

test('a fee finds its invoice by the key alone, however many its organization has and however new the table is', async () => {
  const history = await openHistory(sql, new Dice(9));
  await makeInvoices(history, 150);
  // Plans that a session made while the tables were empty are not what is looked at.
  const fresh = connectDatabase(database.url, { connections: 1 });
  const read = await fresh.begin(async (tx) => {
    await tx`
      insert into fees select (jsonb_populate_record(fee, jsonb_build_object('id', gen_random_uuid()))).* from fees fee
      where organization_id = ${history.organizationId} and invoice_id is not null limit 1`;
    const [row] = await tx<{ rows: number }[]>`
      select (coalesce(idx_tup_fetch, 0) + coalesce(seq_tup_read, 0))::int as rows from pg_stat_xact_user_tables
      where relname = 'invoices' and schemaname = current_schema()`;
    return row!.rows;
  });
  await fresh.end();
  expect(read).toBeLessThan(10);
});

test('a change that commits while its invoice is counted is counted afterwards', async () => {
  const history = await openHistory(sql, new Dice(11));
  const { organizationId } = history;
  await makeInvoices(history, 12);
  const [invoice] = await sql<{ id: string }[]>`
    select id from invoices where organization_id = ${organizationId} and status = 'finalized' and not self_billed
      limit 1`;
  await sql.begin(async (tx) => {
    await tx`update invoices set payment_dispute_lost_at = ${NOW} where id = ${invoice!.id}`;
    await rollUpAnalytics({ db: sql, organizationId }); // another connection: sees neither the change nor its mark
  });
  await rollUpAnalytics({ db: sql, organizationId });
  const world = await loadWorld(history);
  expect((await history.read('findAllGrossRevenues', NOW)).gross_revenues).toEqual(grossRevenue(world, { now: NOW }));
});

test('changes and several countings at the same time end in the right analytics sums', async () => {
  const history = await openHistory(sql, new Dice(13));
  const { organizationId } = history;
  let isChanging = true;
  const counting = [0, 1].map(async () => {
    while (isChanging) await rollUpAnalytics({ db: sql, organizationId });
  });
  for (let n = 0; n < 40; n += 1) await history.change();
  isChanging = false;
  await Promise.all(counting);
  await rollUpAnalytics({ db: sql, organizationId });
  expect((await sql`select from analytics_marks where organization_id = ${organizationId}`).length).toBe(0);
  const world = await loadWorld(history);
  expect((await history.read('findAllMrrs', NOW)).mrrs).toEqual(mrr(world, { now: NOW }));
  const wrong = await sql`
    select from (
      select report, day, billing_entity_id, currency, key, code, sum(amount) as amount, count(*) as entries_count
      from analytics_entries where organization_id = ${organizationId} group by 1, 2, 3, 4, 5, 6) counted
    full join (
      select * from analytics_totals where organization_id = ${organizationId} and entries_count > 0
        and customer_id = '00000000-0000-0000-0000-000000000000') total
      using (report, day, billing_entity_id, currency, key, code)
    where counted.amount is distinct from total.amount or counted.entries_count is distinct from total.entries_count`;
  expect(wrong).toHaveLength(0);
});

test('an analytics sum can never count fewer than zero', async () => {
  const history = await openHistory(sql, new Dice(17));
  await makeInvoices(history, 10);
  await rollUpAnalytics({ db: sql, organizationId: history.organizationId });
  await expect(
    sql`update analytics_totals set entries_count = entries_count - 1000
      where organization_id = ${history.organizationId}`,
  ).rejects.toThrow('analytics_totals_entries_count_check');
});

test('the auditor finds an analytics sum that differs from what was billed', async () => {
  const history = await openHistory(sql, new Dice(29));
  const { organizationId } = history;
  await makeInvoices(history, 15);
  const [check] = ANALYTICS_CHECKS;
  const find = () => check!.find({ db: sql, organizationId } as unknown as Context);
  expect(await find()).toEqual([]);
  await rollUpAnalytics({ db: sql, organizationId });
  expect(await find()).toEqual([]);
  await sql`
    update analytics_totals set amount = amount + 1
    where organization_id = ${organizationId} and report = 'invoiced_usage' and entries_count > 0`;
  expect((await find()).length).toBeGreaterThan(0);
});

test('analytics sums are not visible to another organization', async () => {
  const history = await openHistory(sql, new Dice(19));
  await makeInvoices(history, 10);
  const stranger = await createOrganization(sql, { name: 'Stranger', sandbox: true });
  await sql`update organizations set created_at = ${NOW} where id = ${stranger.organization_id}`;
  for (const count of [false, true]) {
    if (count) await rollUpAnalytics({ db: sql, organizationId: history.organizationId });
    expect(await readReport(sql, stranger.organization_id, 'findAllGrossRevenues', NOW, { months: '24' })).toEqual({
      gross_revenues: [],
    });
    expect(
      await readReport(sql, stranger.organization_id, 'findAllGrossRevenues', NOW, { external_customer_id: 'c0' }),
    ).toEqual({ gross_revenues: [] });
    expect(
      await readReport(sql, stranger.organization_id, 'findAllRevenueStreams', NOW, {
        from_date: '2024-01-01',
        external_subscription_id: 'c0-1',
      }),
    ).toEqual({ revenue_streams: [] });
  }
});

/** Rows that a report touches; tables are as small here as no table is in service, hence no reading of whole ones. */
const rowsRead = (organizationId: string, report: string, query: Record<string, unknown>): Promise<number> =>
  sql.begin(async (tx) => {
    await tx`set local enable_seqscan = off`;
    await tx`set local max_parallel_workers_per_gather = 0`;
    // What this connection touched and has not reported yet, which it does between transactions only.
    const touched = async () => {
      const [row] = await tx<{ rows: number }[]>`
        select sum(pg_stat_get_xact_tuples_returned(oid))::bigint as rows from pg_class
        where relkind in ('r', 'i') and relnamespace = current_schema()::regnamespace`;
      return row!.rows;
    };
    const before = await touched();
    await readReport(tx, organizationId, report, NOW, query);
    return (await touched()) - before;
  });

test('the rows that a report reads do not grow with what was billed', async () => {
  const history = await openHistory(sql, new Dice(23));
  const { organizationId } = history;
  const settle = async () => {
    await rollUpAnalytics({ db: sql, organizationId });
    await sql`update invoices set payment_overdue = false where organization_id = ${organizationId}`;
    await sql`vacuum analyze analytics_totals, analytics_entries, analytics_marks, invoices`;
  };
  const readAll = async () => {
    const rows: Record<string, number> = {};
    for (const report of REPORTS) rows[report] = await rowsRead(organizationId, report, { months: '6' });
    for (const report of PERIOD_REPORTS)
      rows[report] = await rowsRead(organizationId, report, { from_date: '2024-01-01', time_granularity: 'monthly' });
    return rows;
  };
  await makeInvoices(history, 40);
  for (let n = 0; n < 40; n += 1) await history.change();
  await settle();
  const first = await readAll();
  // The same months again, and years before them.
  const copied = await copyInvoices(organizationId, 40);
  expect(copied).toBeGreaterThan(800);
  await settle();
  const second = await readAll();
  for (const [report, rows] of Object.entries(second))
    expect(rows, report).toBeLessThanOrEqual(2 * first[report]! + 50);
}, 120_000);

/** Each finalized invoice with its fees `times` more: half of them in its own month, half of them years before. */
async function copyInvoices(organizationId: string, times: number): Promise<number> {
  const columns = async (table: string, except: string[]) =>
    (
      await sql<{ name: string }[]>`
        select quote_ident(column_name) as name from information_schema.columns
        where table_name = ${table} and table_schema = current_schema() and not column_name = any (${except})
        order by ordinal_position`
    )
      .map(({ name }) => name)
      .join(', ');
  const ofInvoices = await columns('invoices', ['id', 'issuing_date']);
  const ofFees = await columns('fees', ['id', 'invoice_id']);
  const qualified = (list: string, table: string) =>
    list
      .split(', ')
      .map((name) => `${table}.${name}`)
      .join(', ');
  return sql.begin(async (tx) => {
    await tx`create temporary table copy on commit drop as
      select invoice.id as source, gen_random_uuid() as id, n % 2 * 1000 as days
      from invoices invoice, generate_series(1, ${times}) n
      where invoice.organization_id = ${organizationId} and invoice.status = 'finalized'`;
    const made = await tx.unsafe(`
      insert into invoices (id, issuing_date, ${ofInvoices})
      select copy.id, invoice.issuing_date - copy.days, ${qualified(ofInvoices, 'invoice')}
      from copy join invoices invoice on invoice.id = copy.source`);
    await tx.unsafe(`
      insert into fees (id, invoice_id, ${ofFees})
      select gen_random_uuid(), copy.id, ${qualified(ofFees, 'fee')}
      from copy join fees fee on fee.invoice_id = copy.source`);
    return made.count;
  });
}
