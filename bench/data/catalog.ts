import type { ApiClient } from './client.ts';
import { METRICS, REGIONS, SUBSCRIPTIONS, subscriptionOf } from './event-source.ts';

const CUSTOMERS = 50;
export const PLAN = 'bench';

/** Metrics that count; the others add up the property `amount`. */
const COUNTED = new Set<string>(['requests', 'calls']);

/** How each metric is charged: by one price, by filters on `region`, or by groups of `tier`. */
const CHARGES: Record<(typeof METRICS)[number], object> = {
  requests: { properties: { amount: '0.01' } },
  bytes: {
    properties: { amount: '0.02' },
    filters: [
      { values: { region: REGIONS.slice(0, 2) }, properties: { amount: '0.03' } },
      { values: { region: REGIONS.slice(2, 3) }, properties: { amount: '0.04' } },
    ],
  },
  seconds: { properties: { amount: '0.05', pricing_group_keys: ['tier'] } },
  calls: { properties: { amount: '0.06' } },
  messages: { properties: { amount: '0.07' } },
};

/** Creates 5 metrics and a plan that charges all of them through the API, as a customer would. */
export async function createPlan(client: ApiClient): Promise<void> {
  const charges: object[] = [];
  for (const code of METRICS) {
    const { billable_metric: metric } = await client.make('/billable_metrics', {
      billable_metric: {
        name: code,
        code,
        ...(COUNTED.has(code)
          ? { aggregation_type: 'count_agg' }
          : { aggregation_type: 'sum_agg', field_name: 'amount' }),
        ...(code === 'bytes' ? { filters: [{ key: 'region', values: REGIONS }] } : {}),
      },
    });
    charges.push({ billable_metric_id: metric.svc_id, charge_model: 'standard', ...CHARGES[code] });
  }
  await client.make('/plans', {
    plan: {
      name: 'Bench',
      code: PLAN,
      interval: 'monthly',
      pay_in_advance: false,
      amount_cents: 0,
      amount_currency: 'EUR',
      charges,
    },
  });
}

export const READER = 'reader';

/**
 * A customer with one subscription since `since`, on a plan of 20 charges on the 5 metrics; one
 * charge of each is grouped over the 50 seats.
 */
export async function createReader(client: ApiClient, subscription: string, since: string): Promise<void> {
  const charges: object[] = [];
  for (const code of METRICS) {
    const { billable_metric: metric } = await client.make('/billable_metrics', {
      billable_metric: {
        name: code,
        code,
        ...(COUNTED.has(code)
          ? { aggregation_type: 'count_agg' }
          : { aggregation_type: 'sum_agg', field_name: 'amount' }),
      },
    });
    for (let n = 0; n < 4; n += 1)
      charges.push({
        billable_metric_id: metric.svc_id,
        code: `${code}-${n}`,
        charge_model: 'standard',
        properties: { amount: '0.01', ...(n === 0 ? { pricing_group_keys: ['seat'] } : {}) },
      });
  }
  await client.make('/plans', {
    plan: {
      name: 'Reader',
      code: READER,
      interval: 'monthly',
      pay_in_advance: false,
      amount_cents: 0,
      amount_currency: 'EUR',
      charges,
    },
  });
  await client.make('/customers', { customer: { external_id: READER, currency: 'EUR' } });
  await client.make('/subscriptions', {
    subscription: {
      external_customer_id: READER,
      plan_code: READER,
      external_id: subscription,
      subscription_at: since,
      billing_time: 'anniversary',
    },
  });
}

/** 1 000 subscriptions of 50 customers, active since the beginning of the year. */
export async function createSubscriptions(client: ApiClient, year: number): Promise<void> {
  const customers = Array.from({ length: CUSTOMERS }, (_, index) => `customer-${index}`);
  await Promise.all(
    customers.map((external_id) => client.make('/customers', { customer: { external_id, currency: 'EUR' } })),
  );
  const numbers = Array.from({ length: SUBSCRIPTIONS }, (_, index) => index);
  const subscribe = async (number: number) =>
    client.make('/subscriptions', {
      subscription: {
        external_customer_id: customers[number % CUSTOMERS],
        plan_code: PLAN,
        external_id: subscriptionOf(number),
        subscription_at: `${year}-01-01T00:00:00Z`,
      },
    });
  await Promise.all(numbers.map(subscribe));
}
