import type { Sql } from '../../../src/platform/db/connect.ts';
import type { Client } from '../../support/client.ts';
import { ok, wordsOf } from '../../support/words.ts';

/** How much a report of margins sums. */
interface MarginSize {
  customers: number;
  models: number;
  /** Before the first of the month after which the report ends. */
  days: number;
  /** Calls of one customer, model and day. */
  calls: number;
}

/** 10 million calls of 1 000 customers in 30 days. */
export const WHOLE_MONTH: MarginSize = { customers: 1000, models: 10, days: 30, calls: 34 };

interface MarginSpeed {
  calls: number;
  dayRows: number;
  /** Of a page by customer and model, in milliseconds, the median of some. */
  tookMs: number;
}

const FROM = '2026-03-01';
const REPEATS = 5;
const MARKUP = '20';

/**
 * How long the margin by customer and model takes. The calls are written as the sums of their days, which is what a
 * report reads; a plan sells them with a markup.
 */
export async function measureMargins(
  { sql, client, organizationId }: { sql: Sql; client: Client; organizationId: string },
  size: MarginSize,
): Promise<MarginSpeed> {
  await fillMargins({ sql, client, organizationId }, size);
  const to = `2026-03-${String(size.days).padStart(2, '0')}`;
  const path = `/ai/margin?from=${FROM}&to=${to}&group_by[]=customer&group_by[]=model&per_page=100`;
  const took: number[] = [];
  for (let turn = 0; turn < REPEATS; turn += 1) {
    const started = performance.now();
    const { totals, meta } = await ok(client.get(path));
    took.push(performance.now() - started);
    if (meta.total_count !== size.customers * size.models || totals.events !== callsOf(size))
      throw new Error(`margins of other calls: ${JSON.stringify({ totals, meta })}`);
  }
  took.sort((a, b) => a - b);
  return {
    calls: callsOf(size),
    dayRows: size.customers * size.models * size.days,
    tookMs: took[Math.floor(REPEATS / 2)]!,
  };
}

/** Customers of a plan, and the sums of their calls. */
async function fillMargins(
  { sql, client, organizationId }: { sql: Sql; client: Client; organizationId: string },
  size: MarginSize,
): Promise<void> {
  await sellCalls(client);
  await makeCustomers(sql, organizationId, size.customers);
  await makeSums(sql, organizationId, size);
  await sql`analyze`;
}

const callsOf = ({ customers, models, days, calls }: MarginSize): number => customers * models * days * calls;

/** A plan that bills calls with a markup, and one customer who has subscribed to it. */
async function sellCalls(client: Client): Promise<void> {
  const words = wordsOf(client);
  const { setup } = await ok(client.post('/ai/setup', { setup: {} }));
  await words.plan({
    code: 'margins',
    amount_cents: 0,
    charges: [
      {
        billable_metric_id: setup.billable_metrics[0].svc_id,
        charge_model: 'dynamic',
        properties: { markup_rate: MARKUP },
      },
    ],
  });
  await ok(client.post('/customers', { customer: { external_id: 'margins-0', currency: 'EUR' } }));
  await ok(
    client.post('/subscriptions', {
      subscription: {
        external_customer_id: 'margins-0',
        plan_code: 'margins',
        external_id: 'margins-0',
        subscription_at: '2026-02-01T00:00:00Z',
      },
    }),
  );
}

/** Further customers and subscriptions like the first ones. */
async function makeCustomers(sql: Sql, organizationId: string, customers: number): Promise<void> {
  await sql`
    insert into customers
    select (jsonb_populate_record(null::customers, to_jsonb(c) || jsonb_build_object('id', gen_random_uuid(),
      'external_id', 'margins-' || n, 'sequential_id', 1000000 + n, 'slug', 'margins-' || n))).*
    from customers c, generate_series(1, ${customers - 1}::int) n
    where c.organization_id = ${organizationId} and c.external_id = 'margins-0'`;
  await sql`
    insert into subscriptions
    select (jsonb_populate_record(null::subscriptions, to_jsonb(s) || jsonb_build_object('id', gen_random_uuid(),
      'external_id', c.external_id, 'customer_id', c.id))).*
    from subscriptions s
    join customers c on c.organization_id = s.organization_id and c.external_id like 'margins-%'
      and c.external_id <> 'margins-0'
    where s.organization_id = ${organizationId} and s.external_id = 'margins-0'`;
}

async function makeSums(sql: Sql, organizationId: string, { customers, models, days, calls }: MarginSize) {
  await sql`
    insert into ai_groups (organization_id, group_hash, provider, model, tier, code, dimensions)
    select ${organizationId}, ${hashOf(sql)}, 'openai', 'model-' || model, 'standard', 'ai_usage', '{}'
    from generate_series(1, ${models}::int) model`;
  await sql`
    insert into ai_usage_days (organization_id, day, external_subscription_id, group_hash, events, unpriced,
      input_tokens, output_tokens, cache_read_tokens, cost, amount)
    select ${organizationId}, ${FROM}::date + day, 'margins-' || customer, ${hashOf(sql)}, ${calls}::int, 0,
      3000 * model, 500 * model, 100, 12.3456789 * model, 15.987654321 * model
    from generate_series(0, ${days - 1}::int) day, generate_series(0, ${customers - 1}::int) customer,
      generate_series(1, ${models}::int) model`;
}

const hashOf = (sql: Sql) => sql`substring(sha256(convert_to(model::text, 'UTF8')) for 16)`;
