// A client's program, written against the generated types alone: `tsc --strict` compiles it, Node runs it.
import createClient from 'openapi-fetch';
import type { paths } from './schema.js';

const [baseUrl, key] = process.argv.slice(2) as [string, string];
const api = createClient<paths>({ baseUrl: `${baseUrl}/api/v1`, headers: { authorization: `Bearer ${key}` } });

const metric = await api.POST('/billable_metrics', {
  body: { billable_metric: { name: 'Calls', code: 'calls', aggregation_type: 'count_agg' } },
});
const metricId: string = metric.data!.billable_metric.svc_id;

await api.POST('/customers', { body: { customer: { external_id: 'ada', currency: 'EUR' } } });
const plan = await api.POST('/plans', {
  body: {
    plan: {
      name: 'Starter',
      code: 'starter',
      interval: 'monthly',
      amount_cents: 1000,
      amount_currency: 'EUR',
      pay_in_advance: false,
      charges: [{ billable_metric_id: metricId, charge_model: 'standard', properties: { amount: '0.05' } }],
    },
  },
});
const interval: 'weekly' | 'monthly' | 'quarterly' | 'semiannual' | 'yearly' = plan.data!.plan.interval;

await api.POST('/subscriptions', {
  body: { subscription: { external_customer_id: 'ada', external_id: 'ada-1', plan_code: 'starter' } },
});
await api.POST('/events', {
  body: { event: { transaction_id: 't1', external_subscription_id: 'ada-1', code: 'calls' } },
});

const usage = await api.GET('/customers/{external_customer_id}/current_usage', {
  params: { path: { external_customer_id: 'ada' }, query: { external_subscription_id: 'ada-1' } },
});
const amountCents: number = usage.data!.customer_usage.amount_cents;

// Two values of an array: `status[]=active&status[]=terminated`.
const list = await api.GET('/subscriptions', {
  params: { query: { 'status[]': ['active', 'terminated'], per_page: 5 } },
});
const found: string[] = list.data!.subscriptions.map(({ external_id }) => external_id);
const none = await api.GET('/subscriptions', { params: { query: { 'status[]': ['terminated', 'canceled'] } } });

const refused = await api.POST('/plans', {
  body: {
    plan: {
      name: 'S',
      code: 's',
      interval: 'month' as 'monthly',
      amount_cents: 0,
      amount_currency: 'EUR',
      pay_in_advance: false,
    },
  },
});
const places: { path: string; code: string; allowed?: (string | number | boolean)[] }[] = refused.error!.error_places!;

// @ts-expect-error a word that the filter does not know
await api.GET('/invoices', { params: { query: { status: 'lost' } } });
// @ts-expect-error a customer needs an external id
await api.POST('/customers', { body: { customer: { name: 'Nobody' } } });

console.log(
  JSON.stringify({
    interval,
    amountCents,
    found,
    none: none.data!.subscriptions.length,
    status: refused.response.status,
    place: places[0],
  }),
);
