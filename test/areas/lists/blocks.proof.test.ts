import { afterAll, beforeAll, expect, test } from 'vitest';
import { operationsByName } from '../../../src/operations.ts';
import { connectDatabase } from '../../../src/platform/db/connect.ts';
import type { OrganizationId } from '../../../src/platform/ids.ts';
import { readingAt } from '../../support/count-statements.ts';
import { explainStatement, PLAN_MODES, type Sent } from '../../support/explain-statements.ts';
import { startService, type TestService } from '../../support/service.ts';
import { until } from '../../support/until.ts';
import { ok, wordsOf } from '../../support/words.ts';

// What a page of 20 reads where a list is long: of an organization that holds nine rows in ten of every table, and of
// one that has loaded its first records since the statistics were made (lists.md#pages).
const ROWS = { largest: 9_000, unknown: 1_000 };
const TABLES = [
  'customers',
  'subscriptions',
  'invoices',
  'fees',
  'payments',
  'payment_requests',
  'payment_receipts',
  'quotes',
  'quote_versions',
  'order_forms',
  'orders',
  'ledger_entries',
  'ledger_transactions',
  'mails',
  'credit_notes',
  'applied_coupons',
  'wallets',
  'wallet_transactions',
  'webhook_deliveries',
  'activity_logs',
  'api_logs',
];

let service: TestService;
beforeAll(async () => {
  service = await startService();
  const tables = await service.sql<{ name: string }[]>`
    select class.relname as name from unnest(${TABLES}::text[]) as listed (name)
    cross join lateral pg_partition_tree(listed.name::regclass) as part
    join pg_class class on class.oid = part.relid
    where part.isleaf`;
  for (const { name } of tables) await service.sql.unsafe(`alter table ${name} set (autovacuum_enabled = false)`);
});
afterAll(() => service.stop());

interface Loaded {
  id: OrganizationId;
  wallet: string;
  endpoint: string;
}

/** One record of each list by requests, and many more out of it. */
async function loaded(rows: number): Promise<Loaded> {
  const client = await service.org();
  const { addOn, plan, customer } = wordsOf(client);
  const webhook_endpoint = { webhook_url: 'https://hooks.example.com/a', signature_algo: 'hmac' };
  const endpoint = (await ok(client.post('/webhook_endpoints', { webhook_endpoint }))).webhook_endpoint.svc_id;
  await addOn('item', 1000);
  await plan({ amount_cents: 1000 });
  for (const external_id of ['acme', 'idle']) await customer({ external_id });
  const subscription = { external_customer_id: 'acme', external_id: 'sub', plan_code: 'plan' };
  await ok(client.post('/subscriptions', { subscription }));
  const coupon = {
    name: 'C',
    code: 'c',
    coupon_type: 'percentage',
    percentage_rate: 1,
    frequency: 'once',
    expiration: 'no_expiration',
  };
  await ok(client.post('/coupons', { coupon }));
  await ok(client.post('/applied_coupons', { applied_coupon: { external_customer_id: 'acme', coupon_code: 'c' } }));
  const fees = [{ add_on_code: 'item' }];
  const invoice = { external_customer_id: 'acme', currency: 'USD', fees };
  const { svc_id: invoice_id } = (await ok(client.post('/invoices', { invoice }))).invoice;
  await ok(client.post('/payments', { payment: { invoice_id, amount_cents: 900, reference: 'r' } }));
  const fee = (await ok(client.get(`/invoices/${invoice_id}`))).invoice.fees[0];
  const items = [{ fee_id: fee.svc_id, amount_cents: 10 }];
  await ok(
    client.post('/credit_notes', { credit_note: { invoice_id, reason: 'other', credit_amount_cents: 10, items } }),
  );
  const wallet = { external_customer_id: 'acme', name: 'W', rate_amount: '1', currency: 'USD', granted_credits: '5' };
  const { svc_id: walletId } = (await ok(client.post('/wallets', { wallet }))).wallet;
  const id = client.organization.organization_id as OrganizationId;
  await multiply(id, rows);
  return { id, wallet: walletId, endpoint };
}

/** Rows of a table out of one that is there, with these values as SQL of `n` and of `owner`, one of the customers. */
async function copies(organizationId: OrganizationId, table: string, rows: number, values: string): Promise<void> {
  const one = await until(
    async () =>
      (
        await service.sql`
        select id from ${service.sql(table)} where organization_id = ${organizationId} limit 1`
      )[0] as { id: string } | undefined,
  );
  await service.sql.unsafe(
    `with owners as materialized (
      select array_agg(id) as ids from (
        select id from customers where organization_id = '${organizationId}' and external_id <> 'idle' limit 900) chosen
    )
    insert into ${table}
    select (jsonb_populate_record(one, jsonb_build_object('id', gen_random_uuid(), ${values}))).*
    from ${table} one
    cross join generate_series(1, ${rows}) n
    cross join lateral (select owners.ids[1 + n % cardinality(owners.ids)] as id from owners) owner
    where one.id = '${one.id}'`,
  );
}

async function multiply(id: OrganizationId, rows: number): Promise<void> {
  const moment = (column: string) => `'${column}', one.${column} - n * interval '1 second'`;
  const owned = `'customer_id', owner.id`;
  await copies(id, 'customers', rows, `'external_id', 'c' || n, 'sequential_id', 10 + n, ${moment('created_at')}`);
  await copies(id, 'subscriptions', rows, `'external_id', 's' || n, ${owned}, ${moment('subscription_at')}`);
  await copies(
    id,
    'invoices',
    rows,
    `${owned}, 'number', 'N' || n, 'sequential_id', null, 'billing_entity_sequential_id', null, 'issuing_date',
      one.issuing_date - n % 700, ${moment('created_at')}`,
  );
  await service.sql`
    insert into fees
    select (jsonb_populate_record(one, jsonb_build_object('id', gen_random_uuid(), 'customer_id', invoice.customer_id,
      'invoice_id', invoice.id, 'subscription_id', s.id, 'external_subscription_id', s.external_id, 'created_at',
      invoice.created_at))).*
    from fees one
    cross join (select *, row_number() over (order by id) as n from invoices where organization_id = ${id}) invoice
    join (select *, row_number() over (order by id) as n from subscriptions where organization_id = ${id}) s using (n)
    where one.id = (select id from fees where organization_id = ${id} limit 1)`;
  await copies(id, 'payments', rows, `${owned}, ${moment('created_at')}`);
  await loadDocuments(id);
  await copies(id, 'credit_notes', rows, `${owned}, 'sequential_id', 10 + n, ${moment('created_at')}`);
  await copies(id, 'applied_coupons', rows, `${owned}, ${moment('created_at')}`);
  await copies(id, 'wallets', rows, `'code', 'w' || n, ${owned}, ${moment('created_at')}`);
  await copies(id, 'wallet_transactions', rows, moment('created_at'));
  // Not owed, since the service would send them all, and each attempt changes a row.
  await copies(id, 'webhook_deliveries', rows, `'status', 'succeeded', ${moment('updated_at')}`);
  for (const table of ['activity_logs', 'api_logs']) await copies(id, table, rows, moment('logged_at'));
}

/** A payment request, a signed quote, a mail and a booking for each invoice, a receipt for each payment. */
async function loadDocuments(id: OrganizationId): Promise<void> {
  await service.sql`
    insert into payment_requests (id, organization_id, customer_id, billing_entity_id, amount_cents, amount_currency,
      created_at, updated_at)
    select gen_random_uuid(), organization_id, customer_id, billing_entity_id, 100, 'USD', created_at, created_at
    from invoices where organization_id = ${id}`;
  await service.sql`
    insert into quotes (id, organization_id, customer_id, number, order_type, created_at, updated_at)
    select gen_random_uuid(), organization_id, customer_id, 'Q' || row_number() over (), 'one_off', created_at,
      created_at
    from invoices where organization_id = ${id}`;
  await service.sql`
    with version as (
      insert into quote_versions (id, organization_id, quote_id, version, created_at, updated_at)
      select gen_random_uuid(), organization_id, id, 1, created_at, created_at
      from quotes where organization_id = ${id}
      returning id, quote_id
    ), form as (
      insert into order_forms (id, organization_id, customer_id, quote_id, quote_version_id, number, created_at,
        updated_at)
      select gen_random_uuid(), organization_id, customer_id, quote.id, version.id, number, created_at, created_at
      from quotes quote join version on version.quote_id = quote.id
      returning *
    )
    insert into orders (id, organization_id, customer_id, order_form_id, number, order_type, execution_record,
      created_at, updated_at)
    select gen_random_uuid(), organization_id, customer_id, id, number, 'one_off', '{}', created_at, created_at
    from form`;
  await service.sql`
    with booked as (
      insert into ledger_transactions (id, organization_id, rule, source_type, source_id, currency, booked_at,
        booked_on, document_date, created_at)
      select gen_random_uuid(), organization_id, 'L1', 'loaded', id, 'USD', created_at, created_at::date,
        created_at::date, created_at
      from invoices where organization_id = ${id}
      returning *
    )
    insert into ledger_entries (id, organization_id, transaction_id, billing_entity_id, account_code, currency, side,
      amount_cents, booked_on, customer_id)
    select gen_random_uuid(), booked.organization_id, booked.id, invoice.billing_entity_id, side, 'USD', side, 100,
      booked_on, invoice.customer_id
    from booked join invoices invoice on invoice.id = booked.source_id
    cross join unnest('{debit,credit}'::text[]) as side`;
  await service.sql`
    insert into mails (id, organization_id, is_automatic, recipients, cc, bcc, subject, body, status, created_at)
    select gen_random_uuid(), organization_id, false, '{a@example.com}', '{}', '{}', 'S', 'B', 'sent', created_at
    from invoices where organization_id = ${id}`;
  await service.sql`
    insert into payment_receipts (id, organization_id, payment_id, customer_id, billing_entity_id, number, created_at)
    select gen_random_uuid(), payment.organization_id, payment.id, payment.customer_id, customer.billing_entity_id,
      'T' || row_number() over (), payment.created_at
    from payments payment join customers customer on customer.id = payment.customer_id
    where payment.organization_id = ${id}
    on conflict do nothing`;
}

/** Every list that grows with the business of an organization; those of the customer `idle` have nothing to show. */
const lists = ({ wallet, endpoint }: Loaded): [operation: string, query: object, params?: object][] => [
  ['findAllCustomers', {}],
  ['findAllSubscriptions', {}],
  ['findAllSubscriptions', { external_customer_id: 'c7' }],
  ['findAllInvoices', {}],
  ['findAllInvoices', { external_customer_id: 'c7' }],
  ['findAllFees', {}],
  ['findAllFees', { external_subscription_id: 's7' }],
  ['findAllPayments', {}],
  ['findAllPaymentRequests', {}],
  ['findAllPaymentRequests', { external_customer_id: 'c7' }],
  ['findAllPaymentReceipts', {}],
  ['findAllQuotes', {}],
  ['findAllQuotes', { external_customer_id: ['c7'] }],
  ['findAllOrderForms', {}],
  ['findAllOrders', {}],
  ['findAllLedgerEntries', {}],
  ['findAllLedgerEntries', { page: 40 }],
  ['findAllLedgerEntries', { external_customer_id: 'c7' }],
  ['findAllMails', {}],
  ['findAllCreditNotes', {}],
  ['findAllAppliedCoupons', {}],
  ['findAllWallets', {}],
  ['findAllWalletTransactions', {}, { svc_id: wallet }],
  ['findAllWebhooks', {}, { svc_id: endpoint }],
  ['findAllActivityLogs', {}],
  ['findAllApiLogs', {}],
  ...[
    'findAllSubscriptions',
    'findAllInvoices',
    'findAllFees',
    'findAllPayments',
    'findAllPaymentRequests',
    'findAllCreditNotes',
    'findAllAppliedCoupons',
    'findAllWallets',
    'findAllLedgerEntries',
  ].map((name): [string, object] => [name, { external_customer_id: 'idle' }]),
];

/**
 * What a page may read, and what a count of everything that matches may, by its rows. The thousand rows of an
 * organization that the statistics do not know may be sorted.
 */
const MOST_OF_PAGE = 1200;
const MOST_OF_COUNT = (rows: number) => 6 * Math.min(rows, 20_000);

async function examine(organization: Loaded, rows: number): Promise<string[]> {
  let sent: Sent[] = [];
  const sql = connectDatabase(service.config.DATABASE_URL, {
    connections: 4,
    onStatement: (text, parameters) => sent.push({ text, parameters }),
  });
  const faults: string[] = [];
  const context = readingAt(service, sql, organization.id, new Date().toISOString());
  for (const [name, query, params = {}] of lists(organization)) {
    sent = [];
    const operation = operationsByName.get(name)!;
    await operation.run(context, { ...params, query: operation.query?.parse(query) } as never);
    const said = `${name} ${JSON.stringify(query)}`;
    for (const each of sent.filter(({ text }) => !/^\s*explain/.test(text))) {
      const isCount = /^\s*select\s+count\(/.test(each.text);
      if (isCount && !/\slimit\s/.test(each.text)) faults.push(`${said}: counts without an end`);
      for (const mode of PLAN_MODES) {
        const { scans, blocks } = await explainStatement(service.sql, each, { mode, tables: TABLES });
        const most = isCount && !('external_customer_id' in query) ? MOST_OF_COUNT(rows) : MOST_OF_PAGE;
        // A plan for pages of any length may sort the list; Postgres takes it only where that costs no more.
        if (blocks > most) faults.push(`${said} ${mode} ${isCount ? 'count' : 'page'}: ${blocks} ${scans.join(', ')}`);
      }
    }
  }
  await sql.end();
  return faults;
}

test('pages of long lists read what they show, whether the statistics know their organization or not', async () => {
  const largest = await loaded(ROWS.largest);
  await service.sql`analyze`;
  const unknown = await loaded(ROWS.unknown);
  expect(await examine(unknown, ROWS.unknown)).toEqual([]);
  expect(await examine(largest, ROWS.largest)).toEqual([]);
}, 240_000);
