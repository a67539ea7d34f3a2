import { Temporal } from 'temporal-polyfill';
import type { Context } from '../../../src/platform/context.ts';
import { connectDatabase, type Sql } from '../../../src/platform/db/connect.ts';
import { newId } from '../../../src/platform/ids.ts';
import { startService, type TestService } from '../../support/service.ts';
import { ok } from '../../support/words.ts';

export type Org = Awaited<ReturnType<TestService['org']>>;

/** Short ways to metrics, plans and subscriptions of one organization. */
export async function openCatalog(service?: TestService) {
  const running = service ?? (await startService());
  const org = await running.org();
  const organizationId = org.organization.organization_id;
  let made = 0;

  return {
    service: running,
    org,
    organizationId,
    stop: () => running.stop(),
    async metric(fields: object = {}) {
      const metric = { name: 'Calls', code: `m${++made}`, aggregation_type: 'sum_agg', field_name: 'value', ...fields };
      return (await ok(org.post('/billable_metrics', { billable_metric: metric }))).billable_metric;
    },
    planBody: (fields: object = {}) => ({
      name: 'Plan',
      code: `p${++made}`,
      interval: 'monthly',
      amount_cents: 1000,
      amount_currency: 'EUR',
      pay_in_advance: false,
      ...fields,
    }),
    async plan(fields: object = {}) {
      return (await ok(org.post('/plans', { plan: this.planBody(fields) }))).plan;
    },
    async tax(fields: object = {}) {
      return (await ok(org.post('/taxes', { tax: { name: 'VAT', code: `t${++made}`, rate: 20, ...fields } }))).tax;
    },
    /** A subscription row on a plan, without its billing. */
    async subscribe(planId: string, fields: { status?: string; external_id?: string; previous?: string } = {}) {
      const id = newId();
      const externalId = fields.external_id ?? `s${++made}`;
      const [customer] = await running.sql<{ id: string }[]>`
        select id from customers where organization_id = ${organizationId} limit 1`;
      const customerId =
        customer?.id ?? (await ok(org.post('/customers', { customer: { external_id: 'acme' } }))).customer.svc_id;
      await running.sql`
        insert into subscriptions (id, organization_id, customer_id, plan_id, previous_subscription_id, switch_kind,
          external_id, status, subscription_at, started_at, created_at, updated_at)
        select ${id}, ${organizationId}, ${customerId}, ${planId}, ${fields.previous ?? null},
          ${fields.previous === undefined ? null : 'downgrade'}, ${externalId},
          ${fields.status ?? 'active'}, at, at, at, at from (select timestamptz '2026-01-01' as at) day`;
      return { id, externalId };
    },
    /** A draft invoice with a line of a subscription. */
    async draft(subscriptionId: string) {
      const id = newId();
      await running.sql`
        insert into invoices (id, organization_id, billing_entity_id, customer_id, invoice_type, status, currency,
          timezone,
          issuing_date, expected_finalization_date, payment_due_date, net_payment_term, created_at, updated_at)
        select ${id}, s.organization_id, c.billing_entity_id, s.customer_id, 'subscription', 'draft', 'EUR', 'UTC', day,
          day,
          day, 0, s.created_at, s.created_at
        from subscriptions s join customers c on c.id = s.customer_id, (select date '2026-02-01' as day) issued
        where s.id = ${subscriptionId}`;
      await running.sql`
        insert into invoice_subscriptions (id, organization_id, invoice_id, subscription_id, invoicing_reason,
          billed_at,
          billed_on, created_at)
        select ${newId()}, organization_id, ${id}, id, 'subscription_periodic', created_at, '2026-02-01', created_at
        from subscriptions where id = ${subscriptionId}`;
      return {
        id,
        async isFlagged() {
          const [row] = await running.sql`select ready_to_be_refreshed from invoices where id = ${id}`;
          return row!.ready_to_be_refreshed as boolean;
        },
      };
    },
    activities: (type: string) => running.sql`
      select activity_object, activity_object_changes, resource_id, resource_type from activity_logs
      where organization_id = ${organizationId} and activity_type = ${type} order by id`,
    webhooks: async (type: string) => {
      const rows = await running.sql<{ payload: string }[]>`
        select payload from webhook_events where organization_id = ${organizationId} and webhook_type = ${type}
        order by position`;
      return rows.map(({ payload }) => JSON.parse(payload));
    },
    /** Statements that a read sends. */
    async statementsOf(read: (ctx: Context) => Promise<unknown>) {
      let count = 0;
      const sql = connectDatabase(running.config.DATABASE_URL, { connections: 1, onStatement: () => (count += 1) });
      try {
        await sql`select 1`; // the driver's own first statements
        count = 0;
        await read({
          organizationId,
          db: sql as Sql,
          now: () => Temporal.Instant.from('2026-01-01T00:00:00Z'),
        } as Context);
        return count;
      } finally {
        await sql.end();
      }
    },
  };
}

export type Catalog = Awaited<ReturnType<typeof openCatalog>>;
