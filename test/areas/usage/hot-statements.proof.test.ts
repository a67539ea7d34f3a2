import { Temporal } from 'temporal-polyfill';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { billCustomer } from '../../../src/areas/billing/bill-subscriptions/bill.ts';
import { countEvents, getEvent, listEvents, listEventsById } from '../../../src/areas/usage/events/queries.ts';
import { finishBatches } from '../../../src/areas/usage/ingest-events/finish-batches.ts';
import { operationsByName } from '../../../src/operations.ts';
import { connectDatabase, type Sql } from '../../../src/platform/db/connect.ts';
import type { EventBatchId, EventId, OrganizationId } from '../../../src/platform/ids.ts';
import { createLog } from '../../../src/platform/log/log.ts';
import { createProducer } from '../../../src/platform/queue/producer.ts';
import { systemTransaction } from '../../../src/platform/records/system-transaction.ts';
import { reactions } from '../../../src/reactions.ts';
import { readingAt } from '../../support/count-statements.ts';
import { type Explained, explainStatement, PLAN_MODES, type Sent } from '../../support/explain-statements.ts';
import { startService, type TestService, UNSCHEDULED } from '../../support/service.ts';
import { HOT_TABLES, type HotStatement, hotStatements } from './hot-statements.ts';
import { incoming, storage } from './ingest-events/build.ts';

// What the statements of ingest, lists, usage and a month's end read, of an organization that has just loaded its first
// events, so that Postgres expects one row of it, and of the largest one, which it knows: storing-events.md#table.
const EVENTS = 60_000;
const BATCH = 1000;
const SUBSCRIPTIONS = 20;
const FEES = 10_000;
const START = Date.parse('2024-03-01T00:00:00Z') / 1000;
const MONTH_SECONDS = 31 * 86_400;
const TICK = Temporal.Instant.from('2024-04-01T00:10:00Z');
const KINDS = [
  { code: 'sums', aggregation_type: 'sum_agg', field_name: 'n' },
  { code: 'counts', aggregation_type: 'count_agg' },
  { code: 'seats', aggregation_type: 'unique_count_agg', field_name: 'seat' },
  { code: 'latest', aggregation_type: 'latest_agg', field_name: 'n' },
];

let service: TestService;
beforeAll(async () => {
  service = await startService({ pools: UNSCHEDULED });
  const tables = await service.sql<{ name: string }[]>`
    select class.relname as name from unnest(${HOT_TABLES}::text[]) as hot (name)
    cross join lateral pg_partition_tree(hot.name::regclass) as part
    join pg_class class on class.oid = part.relid
    where part.isleaf`;
  for (const { name } of tables) await service.sql.unsafe(`alter table ${name} set (autovacuum_enabled = false)`);
});
afterAll(() => service.stop());

/** An organization with a month of usage that was loaded just now. */
async function loaded(): Promise<OrganizationId> {
  const client = await service.org();
  const charges = [];
  for (const kind of KINDS) {
    const { body } = await client.post('/billable_metrics', { billable_metric: { name: kind.code, ...kind } });
    const id = body.billable_metric.svc_id;
    charges.push({ billable_metric_id: id, charge_model: 'standard', properties: { amount: '0.5' } });
  }
  const plan = { name: 'P', code: 'p', interval: 'monthly', amount_cents: 1000, amount_currency: 'USD' };
  expect((await client.post('/plans', { plan: { ...plan, pay_in_advance: false, charges } })).status).toBe(200);
  const started = '2024-02-01T00:00:00Z';
  for (let n = 0; n < SUBSCRIPTIONS; n += 1) {
    const subscription = {
      external_customer_id: `c${n}`,
      external_id: `s${n}`,
      plan_code: 'p',
      subscription_at: started,
    };
    expect((await client.post('/subscriptions', { subscription })).status).toBe(200);
  }
  const id = client.organization.organization_id as OrganizationId;
  await service.sql`
    update subscriptions set next_billing_at = '2024-04-01T00:00:00Z', created_at = ${started}
    where organization_id = ${id}`;
  const { store } = storage(service.sql);
  for (let first = 0; first < EVENTS; first += BATCH) await store(incoming(id, eventsFrom(first, BATCH)));
  await finishAll(service.sql, id);
  await loadFees(id);
  return id;
}

/** Invoices of one fee each, as many as years of billing leave. */
async function loadFees(organizationId: OrganizationId): Promise<void> {
  await service.sql`
    with invoice as (
      insert into invoices (id, organization_id, customer_id, billing_entity_id, invoice_type, status, currency,
        timezone, issuing_date, expected_finalization_date, payment_due_date, net_payment_term, created_at, updated_at)
      select gen_random_uuid(), s.organization_id, s.customer_id, c.billing_entity_id, 'subscription', 'finalized',
        'USD', 'UTC', '2024-02-01', '2024-02-01', '2024-02-01', 0, s.created_at, s.created_at
      from subscriptions s join customers c on c.id = s.customer_id
      cross join generate_series(1, ${FEES / SUBSCRIPTIONS}::int)
      where s.organization_id = ${organizationId}
      returning id, organization_id, customer_id, billing_entity_id, created_at
    )
    insert into fees (id, organization_id, billing_entity_id, customer_id, invoice_id, subscription_id, fee_type,
      item_id, item_code, item_name, amount_cents, amount_currency, precise_amount_cents, unit_amount_cents,
      precise_unit_amount, units, total_aggregated_units, created_at, updated_at)
    select gen_random_uuid(), invoice.organization_id, invoice.billing_entity_id, invoice.customer_id, invoice.id, s.id,
      'subscription', s.id, 'p', 'P', 1000, 'USD', 1000, 1000, 10, 1, 1, invoice.created_at, invoice.created_at
    from invoice join subscriptions s using (organization_id, customer_id)`;
}

const eventsFrom = (first: number, count: number) =>
  Array.from({ length: count }, (_, index) => {
    const n = first + index;
    return {
      transaction_id: `event-${n}`,
      external_subscription_id: `s${n % SUBSCRIPTIONS}`,
      code: KINDS[Math.floor(n / SUBSCRIPTIONS) % KINDS.length]!.code,
      timestamp: START + ((n * 7919) % MONTH_SECONDS),
      properties: { n: n % 100, seat: `seat-${n % 500}` },
    };
  });

class Undone extends Error {}

/** Finishes all open batches; if that is undone their rows stay, to be read once more. */
async function finishAll(sql: Sql, organizationId: OrganizationId, isUndone = false): Promise<void> {
  const batches = await service.sql<{ id: EventBatchId }[]>`
    select id from event_batches where organization_ids @> array[${organizationId}::uuid] order by id`;
  for (const { id } of batches) {
    const finished = sql.begin(async (tx) => {
      await finishBatches(tx, [id]);
      if (isUndone) throw new Undone();
    });
    await finished.catch((error: unknown) => {
      if (!(error instanceof Undone)) throw error;
    });
  }
}

/** All statements of the hot paths, as the service sends them. */
async function statementsOf(organizationId: OrganizationId): Promise<Sent[]> {
  const sent: Sent[] = [];
  const sql = connectDatabase(service.config.DATABASE_URL, {
    connections: 4,
    onStatement: (text, parameters) => sent.push({ text, parameters }),
  });
  const scope = { db: sql, organizationId };
  const fresh = incoming(organizationId, eventsFrom(EVENTS, 100));
  const { store } = storage(sql);
  expect((await store(fresh)).flat().every((verdict) => verdict === 0)).toBe(true);
  await finishAll(sql, organizationId, true);
  const again = await store(incoming(organizationId, eventsFrom(0, 100)));
  expect(again.flat().every((verdict) => typeof verdict === 'object' && 'r' in verdict)).toBe(true);

  const none = {
    code: undefined,
    external_subscription_id: undefined,
    transaction_id: undefined,
    timestamp_from: undefined,
    timestamp_to: undefined,
  };
  const subscription = { external_subscription_id: 's1' };
  for (const own of [
    {},
    { code: 'sums' },
    subscription,
    { ...subscription, code: 'sums' },
    { transaction_id: 'event-7' },
  ]) {
    const filters = { ...none, ...own };
    expect((await listEvents(scope, filters, { page: 1, per_page: 20, after: null })).length).toBeGreaterThan(0);
    expect((await countEvents(scope, filters)).count).toBeGreaterThan(0);
  }
  await getEvent(scope, 'event-7');
  expect(
    await listEventsById(
      scope,
      fresh.events.map(({ id }) => id as EventId),
    ),
  ).toHaveLength(100);

  const read = (operation: string, params: object, now: string, query: object = subscription) =>
    operationsByName.get(operation)!.run(readingAt(service, sql, organizationId, now), {
      ...params,
      query: operationsByName.get(operation)!.query?.parse(query),
    } as never);
  await read('findCustomerCurrentUsage', { external_customer_id: 'c1' }, '2024-03-20T10:20:30Z');
  const [fee] = await service.sql<{ id: string; invoice_id: string }[]>`
    select id, invoice_id from fees where organization_id = ${organizationId} order by id limit 1`;
  await read('findInvoice', { svc_id: fee!.invoice_id }, '2024-03-20T10:20:30Z');
  await read('findFee', { svc_id: fee!.id }, '2024-03-20T10:20:30Z');
  await read('findAllFees', {}, '2024-03-20T10:20:30Z');
  await read('findAllFees', {}, '2024-03-20T10:20:30Z', {});
  await billAll(sql, organizationId);
  await sql.end();
  return sent;
}

async function billAll(sql: Sql, organizationId: OrganizationId): Promise<void> {
  const producer = createProducer(service.redis, service.config.REDIS_PREFIX);
  const log = createLog({ level: 'silent', process: 'test' });
  const deps = { sql, producer, config: service.config, reactions, log };
  const customers = await service.sql<{ id: string }[]>`
    select id from customers where organization_id = ${organizationId} order by external_id`;
  for (const { id } of customers)
    await systemTransaction(
      deps,
      { id: organizationId, sandbox: false },
      async () => TICK,
      (ctx) => billCustomer(ctx, id, TICK),
    );
  await producer.close();
}

const plain = (text: string): string => text.replace(/\s+/g, ' ').trim();
const listedAs = (text: string): HotStatement[] => hotStatements.filter(({ phrase }) => plain(text).includes(phrase));
const isHot = (text: string): boolean =>
  new RegExp(`\\b(?:from|join|update|into) (?:${HOT_TABLES.join('|')})\\b`).test(plain(text)) &&
  !/^explain/.test(plain(text));

/** What is wrong with how a statement was carried out; empty if nothing is. */
function faultsOf({ text }: Sent, { scans, blocks }: Explained): string[] {
  const [listed, ...others] = listedAs(text);
  const name = listed?.phrase ?? plain(text).slice(0, 300);
  if (listed === undefined || others.length > 0)
    return [`${others.length > 0 ? 'listed twice' : 'not listed'}: ${name} | ${scans.join(', ')} | ${blocks}`];
  const foreign = scans.filter((scan) => !listed.indexes.includes(scan));
  return [
    ...foreign.map((scan) => `${name}: reads ${scan}`),
    ...(blocks > listed.mostBlocks ? [`${name}: ${blocks} blocks instead of ${listed.mostBlocks}`] : []),
  ];
}

/** One of each statement that was sent, the last one, since the first ones may have had nothing to read. */
const distinct = (sent: readonly Sent[]): Sent[] => [
  ...new Map(sent.filter(({ text }) => isHot(text)).map((each) => [plain(each.text), each])).values(),
];

async function examine(organizationId: OrganizationId): Promise<{ faults: string[]; found: Set<HotStatement> }> {
  const sent = distinct(await statementsOf(organizationId));
  const faults: string[] = [];
  for (const each of sent)
    for (const mode of PLAN_MODES)
      faults.push(...faultsOf(each, await explainStatement(service.sql, each, { mode, tables: HOT_TABLES })));
  return { faults: [...new Set(faults)], found: new Set(sent.flatMap(({ text }) => listedAs(text))) };
}

describe('hot statements read what is listed', () => {
  test('of an organization that the statistics know and of one that they do not', async () => {
    const largest = await loaded();
    await service.sql`analyze`;
    const unknown = await loaded();
    expect(await examine(unknown)).toEqual({ faults: [], found: new Set(hotStatements) });
    expect((await examine(largest)).faults).toEqual([]);
  }, 240_000);
});
