import type { Environment } from '../harness/environment.ts';
import type { ApiClient } from './client.ts';

export const DUE_ON = '2024-03-01T00:00:00Z';
export const TICK = '2024-03-01T00:10:00Z';
const STARTED = '2024-02-01T00:00:00Z';
const USED = Date.parse('2024-02-10T00:00:00Z') / 1000;
export const CODES = ['burst_a', 'burst_b', 'burst_c'];
const EVENTS_A_BATCH = 99;
const TEMPLATE = 'burst-template';

/** Creates a plan with a fee and three charges and one subscription on it, from which the others are copied. */
export async function createTemplate(client: ApiClient): Promise<void> {
  const charges: object[] = [];
  for (const code of CODES) {
    const { billable_metric: metric } = await client.make('/billable_metrics', {
      billable_metric: { name: code, code, aggregation_type: 'sum_agg', field_name: 'n' },
    });
    charges.push({ billable_metric_id: metric.svc_id, charge_model: 'standard', properties: { amount: '0.5' } });
  }
  await client.make('/plans', {
    plan: {
      name: 'Burst',
      code: 'burst',
      interval: 'monthly',
      pay_in_advance: false,
      amount_cents: 1000,
      amount_currency: 'EUR',
      charges,
    },
  });
  await client.make('/subscriptions', {
    subscription: {
      external_customer_id: TEMPLATE,
      plan_code: 'burst',
      external_id: TEMPLATE,
      subscription_at: STARTED,
    },
  });
}

/** Copies of the template's customer and subscription; nothing of them is due yet. */
export async function copyTemplate(
  { sql }: Environment,
  organizationId: string,
  prefix: string,
  count: number,
): Promise<void> {
  await sql`
    insert into customers
    select (jsonb_populate_record(null::customers, to_jsonb(template) || jsonb_build_object('id', gen_random_uuid(),
      'external_id', ${prefix} || n, 'sequential_id', last.id + n, 'slug', ${prefix} || n))).*
    from customers template
    cross join (select max(sequential_id) as id from customers where organization_id = ${organizationId}) last
    cross join generate_series(1, ${count}::int) n
    where template.organization_id = ${organizationId} and template.external_id = ${TEMPLATE}`;
  await sql`
    insert into subscriptions
    select (jsonb_populate_record(null::subscriptions, to_jsonb(template) || jsonb_build_object('id', gen_random_uuid(),
      'external_id', customer.external_id, 'customer_id', customer.id, 'created_at', ${STARTED}::text,
      'next_billing_at', null))).*
    from subscriptions template
    join customers customer on customer.organization_id = template.organization_id
      and customer.external_id ~ ${`^${prefix}[0-9]+$`}
    where template.organization_id = ${organizationId} and template.external_id = ${TEMPLATE}`;
  await sql.unsafe('analyze customers, subscriptions');
}

/** One event a charge and subscription. */
export async function sendUsage(client: ApiClient, prefix: string, count: number): Promise<void> {
  const events = Array.from({ length: count }, (_, n) => `${prefix}${n + 1}`).flatMap((name) =>
    CODES.map((code) => ({
      transaction_id: `${name}-${code}`,
      external_subscription_id: name,
      code,
      timestamp: USED,
      properties: { n: 4 },
    })),
  );
  for (let from = 0; from < events.length; from += EVENTS_A_BATCH)
    await client.make('/events/batch', { events: events.slice(from, from + EVENTS_A_BATCH) });
}

export const makeDue = ({ sql }: Environment, organizationId: string, prefix: string) => sql`
  update subscriptions set next_billing_at = ${DUE_ON}
  where organization_id = ${organizationId} and external_id ~ ${`^${prefix}[0-9]+$`}`;
