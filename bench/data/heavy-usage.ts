import type { Environment } from '../harness/environment.ts';
import type { ApiClient } from './client.ts';
import { withoutIndexes } from './preload.ts';

const STARTED = '2024-02-01T00:00:00Z';
const SECONDS_OF_MONTH = 29 * 24 * 3600;
/** Prime to the seconds of the month, so that events spread over all of it. */
const STEP = 1_000_003;

/** Metrics with their charges, and how many of each 240 events are theirs. */
const METRICS = [
  { code: 'calls', share: 100, type: 'sum_agg', model: 'graduated' },
  { code: 'regions', share: 40, type: 'sum_agg', model: 'filters' },
  { code: 'teams', share: 39, type: 'count_agg', model: 'groups' },
  { code: 'users', share: 24, type: 'unique_count_agg', model: 'standard' },
  { code: 'disk', share: 12, type: 'weighted_sum_agg', model: 'standard' },
  { code: 'packs', share: 20, type: 'sum_agg', model: 'package' },
  { code: 'fees', share: 5, type: 'sum_agg', model: 'percentage' },
] as const;

const GRADUATED = [
  { from_value: 0, to_value: 1000, per_unit_amount: '0.01', flat_amount: '0' },
  { from_value: 1001, to_value: null, per_unit_amount: '0.005', flat_amount: '1' },
];

const CHARGES = {
  standard: { charge_model: 'standard', properties: { amount: '0.01' } },
  graduated: { charge_model: 'graduated', properties: { graduated_ranges: GRADUATED } },
  filters: {
    charge_model: 'standard',
    properties: { amount: '0.02' },
    filters: [{ values: { region: ['r1', 'r2'] }, properties: { amount: '0.03' } }],
  },
  groups: { charge_model: 'standard', properties: { amount: '0.01', pricing_group_keys: ['team'] } },
  package: { charge_model: 'package', properties: { amount: '1', package_size: 100, free_units: 10 } },
  percentage: { charge_model: 'percentage', properties: { rate: '1', fixed_amount: '0.1' } },
} as const;

/** Events of a subscription over all hours of February 2024; every value of the unique count comes once. */
export const fillHeavy = (environment: Environment, organizationId: string, name: string, rows: number) =>
  withoutIndexes(
    environment,
    METRICS.map(
      ({ code, share }, number) => `
        insert into events (id, organization_id, external_subscription_id, transaction_id, code, timestamp, properties,
          digest, created_at)
        select gen_random_uuid(), '${organizationId}', '${name}', '${name}-${number}-' || n, '${code}',
          timestamptz '${STARTED}' + (n::bigint * ${STEP} % ${SECONDS_OF_MONTH}) * interval '1 second',
          jsonb_build_object('value', n, 'region', 'r' || n % 3, 'team', 't' || n % 10), '\\x00', '${STARTED}'
        from generate_series(1, ${(rows / 240) * share}) n`,
    ),
  );

/** A customer with one subscription a name, on a plan that charges all metrics. */
export async function createHeavyPlan(client: ApiClient, names: readonly string[]): Promise<void> {
  const charges: object[] = [];
  for (const { code, type, model } of METRICS) {
    const { billable_metric: metric } = await client.make('/billable_metrics', {
      billable_metric: {
        name: code,
        code,
        aggregation_type: type,
        ...(type === 'count_agg' ? {} : { field_name: 'value' }),
        ...(type === 'weighted_sum_agg' ? { recurring: true, weighted_interval: 'seconds' } : {}),
        ...(model === 'filters' ? { filters: [{ key: 'region', values: ['r0', 'r1', 'r2'] }] } : {}),
      },
    });
    charges.push({ billable_metric_id: metric.svc_id, code, ...CHARGES[model] });
  }
  await client.make('/plans', {
    plan: {
      name: 'Heavy',
      code: 'heavy',
      interval: 'monthly',
      pay_in_advance: false,
      amount_cents: 0,
      amount_currency: 'EUR',
      charges,
    },
  });
  for (const name of names) {
    await client.make('/customers', { customer: { external_id: name, currency: 'EUR' } });
    await client.make('/subscriptions', {
      subscription: {
        external_customer_id: name,
        plan_code: 'heavy',
        external_id: name,
        subscription_at: STARTED,
      },
    });
  }
}
