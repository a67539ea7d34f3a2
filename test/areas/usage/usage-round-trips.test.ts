import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { operations, operationsByName } from '../../../src/operations.ts';
import { countStatements } from '../../support/count-statements.ts';
import { startService, type TestService } from '../../support/service.ts';
import { openStory, type Story } from '../../support/story.ts';
import { until } from '../../support/until.ts';

// The budget of reads (rollups.md, usage-reads.md): a customer with 20 charges of every kind, 5 of them
// grouped over 50 groups.
let service: TestService;
let story: Story;
const NOW = '2024-03-10T12:00:00Z';
const KINDS = [
  { aggregation_type: 'sum_agg' },
  { aggregation_type: 'count_agg', field_name: null },
  { aggregation_type: 'max_agg' },
  { aggregation_type: 'latest_agg' },
  { aggregation_type: 'unique_count_agg' },
  { aggregation_type: 'weighted_sum_agg', weighted_interval: 'seconds', recurring: true },
  { aggregation_type: 'sum_agg', recurring: true, prorated: true },
  { aggregation_type: 'unique_count_agg', recurring: true, prorated: true },
];

beforeAll(async () => {
  service = await startService();
  story = await openStory(service, '2024-03-01T00:00:00Z');
  await story.customer();
  const charges = [];
  for (let n = 0; n < 20; n += 1) {
    const { prorated = false, ...kind } = n < 5 ? { aggregation_type: 'sum_agg' } : KINDS[n % KINDS.length]!;
    const { body } = await story.client.post('/billable_metrics', {
      billable_metric: { name: `Metric ${n}`, code: `m${n}`, field_name: 'value', ...kind },
    });
    charges.push({
      billable_metric_id: body.billable_metric.svc_id,
      charge_model: 'standard',
      prorated,
      properties: { amount: '1', ...(n < 5 ? { pricing_group_keys: ['team'] } : {}) },
    });
  }
  await story.plan({ amount_cents: 0, charges });
  await story.subscribe();
  const events = Array.from({ length: 20 }, (_, n) =>
    Array.from({ length: n < 5 ? 50 : 2 }, (_, team) => ({
      transaction_id: `${n}-${team}`,
      external_subscription_id: 'sub',
      code: `m${n}`,
      timestamp: Date.parse('2024-03-05T10:30:00Z') / 1000,
      properties: { value: 3, team: `t${team}` },
    })),
  ).flat();
  for (let first = 0; first < events.length; first += 100) {
    const { status, text } = await story.client.post('/events/batch', { events: events.slice(first, first + 100) });
    if (status !== 200) throw new Error(text);
  }
  await until(async () => (await service.sql`select from event_batches`).length === 0 || undefined);
});
afterAll(() => service.stop());

test.each(['findCustomerCurrentUsage', 'findCustomerProjectedUsage'])(
  '%s takes at most six round trips',
  async (operation) => {
    const { roundTrips, body } = await countStatements(service, story.organizationId, operation, {
      now: NOW,
      external_customer_id: 'acme',
      query: { external_subscription_id: 'sub' },
    });
    const usage = body.customer_usage ?? body.customer_projected_usage;
    expect(usage.charges_usage).toHaveLength(20);
    expect(
      usage.charges_usage.filter((each: { grouped_usage: unknown[] }) => each.grouped_usage.length === 50),
    ).toHaveLength(5);
    expect(roundTrips).toBeLessThanOrEqual(6);
  },
);

describe('round trips of all other reads of events, metrics, plans, subscriptions, fees and usage', () => {
  const IN_APRIL = '2024-04-10T12:00:00Z';
  const ESTIMATED = { code: 'paid', external_subscription_id: 'sub2', properties: { value: 2, region: 'eu' } };
  const params: Record<string, Record<string, string>> = {};

  beforeAll(async () => {
    const { client } = story;
    await client.post('/pricing_units', { pricing_unit: { name: 'Credit', code: 'credit', short_name: 'CR' } });
    await client.post('/add_ons', {
      add_on: { name: 'Seat', code: 'seat', amount_cents: 1000, amount_currency: 'USD' },
    });
    const { body } = await client.post('/billable_metrics', {
      billable_metric: {
        name: 'Paid',
        code: 'paid',
        aggregation_type: 'sum_agg',
        field_name: 'value',
        filters: [{ key: 'region', values: ['eu', 'us'] }],
      },
    });
    const charge = {
      billable_metric_id: body.billable_metric.svc_id,
      code: 'paid',
      charge_model: 'standard',
      pay_in_advance: true,
      invoiceable: false,
      properties: { amount: '1' },
      filters: [{ values: { region: ['eu'] }, properties: { amount: '2' } }],
    };
    await story.plan({
      code: 'plan2',
      amount_cents: 100,
      charges: [charge],
      fixed_charges: [{ add_on_code: 'seat', code: 'seats', charge_model: 'standard', units: 3 }],
      usage_thresholds: [{ amount_cents: 100_000 }],
    });
    await story.subscribe({ external_id: 'sub2', plan_code: 'plan2' });
    await client.post('/subscriptions/sub2/alerts', {
      alert: { alert_type: 'current_usage_amount', code: 'alert', thresholds: [{ value: '1000' }] },
    });
    const event = { transaction_id: 'paid-1', ...ESTIMATED, timestamp: Date.parse('2024-03-01T10:00:00Z') / 1000 };
    await client.post('/events', { event });
    await story.advanceTo('2024-04-01T06:00:00Z');
    const { body: corrected } = await client.post('/events/corrections', {
      correction: {
        kind: 'retract',
        reason: 'test',
        policy: 'ignore',
        external_subscription_id: 'sub',
        transaction_id: '0-0',
      },
    });
    await client.post('/features', {
      feature: { code: 'seats', privileges: [{ code: 'max', value_type: 'integer' }] },
    });
    await client.post('/plans/plan2/entitlements', { entitlements: { seats: { max: 10 } } });
    const [invoice] = await story.invoices(1);
    const filters = await client.get('/plans/plan2/charges/paid/filters');
    const { body: healing } = await client.post('/events/unmatched/heal');
    params.events = {
      transaction_id: 'paid-1',
      svc_id: corrected.correction.svc_id,
      heal_id: healing.heal.svc_id,
    };
    params.billable_metrics = { code: 'paid' };
    params.pricing_units = { code: 'credit' };
    params.plans = {
      code: 'plan2',
      charge_code: 'paid',
      fixed_charge_code: 'seats',
      filter_id: filters.body.filters[0].svc_id,
      feature_code: 'seats',
    };
    params.subscriptions = { ...params.plans, external_id: 'sub2', code: 'alert' };
    params.fees = { svc_id: invoice.fees.find((fee: { item: { type: string } }) => fee.item.type === 'charge').svc_id };
    params.customers = { external_customer_id: 'acme' };
  });

  const reads = operations.filter(
    ({ kind, path }) =>
      kind === 'read' &&
      /^\/(events|billable_metrics|plans|subscriptions|fees|pricing_units)(\/|$)|_usage$/.test(path) &&
      !path.startsWith('/analytics'),
  );

  test.each(reads.map(({ name, path }) => [name, path]))('%s: %s', async (name, path) => {
    const bodies: Record<string, object> = {
      eventEstimateFees: ESTIMATED,
      eventEstimateInstantFees: ESTIMATED,
      eventBatchEstimateInstantFees: { events: Array.from({ length: 20 }, () => ({ event: ESTIMATED })) },
      evaluateBillableMetricExpression: {
        expression: 'event.properties.value * 2',
        event: { code: 'paid', timestamp: 1, properties: { value: 2 } },
      },
    };
    const schema = operationsByName.get(name)!.body;
    const { roundTrips } = await countStatements(service, story.organizationId, name, {
      now: IN_APRIL,
      ...params[path.split('/')[1]!],
      query: { external_subscription_id: 'sub2' },
      ...(bodies[name] && schema ? { body: schema.parse(bodies[name]) } : {}),
    });
    expect(roundTrips).toBeLessThanOrEqual(6);
  });
});
