import { afterAll, beforeAll, expect, test } from 'vitest';
import { openStory, type Story } from '../flows/bill-subscriptions/story.ts';
import { countStatements } from '../support/count-statements.ts';
import { startService, type TestService } from '../support/service.ts';
import { until } from '../support/until.ts';

// The budget of reads (performance-design 5, usage-and-charges G): a customer with 20 charges of every kind, 5 of them
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
