import { afterAll, beforeAll, expect, test } from 'vitest';
import { startService, type TestService } from '../../support/service.ts';
import { until } from '../../support/until.ts';
import { openStory, type Story } from '../bill-subscriptions/story.ts';

// What the daily differences of a closed period add up to is what its invoice bills: usage-and-charges G.7.
let service: TestService;
beforeAll(async () => {
  service = await startService();
});
afterAll(() => service.stop());

async function open(fields: { customer?: object; charge?: object } = {}): Promise<Story> {
  const story = await openStory(service, '2025-01-01T00:00:00Z');
  await story.customer({ currency: 'USD', timezone: 'UTC', ...fields.customer });
  const { body } = await story.client.post('/billable_metrics', {
    billable_metric: { name: 'Ops', code: 'ops', aggregation_type: 'sum_agg', field_name: 'v' },
  });
  await story.plan({
    interval: 'weekly',
    amount_cents: 0,
    charges: [
      {
        billable_metric_id: body.billable_metric.svc_id,
        charge_model: 'standard',
        properties: { amount: '1' },
        ...fields.charge,
      },
    ],
  });
  await story.subscribe();
  return story;
}

let sent = 0;
const use = async (story: Story, v: number, timestamp: string) => {
  sent += 1;
  const { status } = await story.client.post('/events', {
    event: {
      transaction_id: `t${sent}`,
      external_subscription_id: 'sub',
      code: 'ops',
      timestamp: Date.parse(timestamp) / 1000,
      properties: { v },
    },
  });
  expect(status).toBe(200);
};

interface Told {
  start_of_period_dt: string;
  amount_cents: number;
  units: string;
}

async function told({ client }: Story): Promise<[string, number, string][]> {
  const { body } = await client.get('/analytics/usage?from_date=2025-01-01&to_date=2025-03-01&time_granularity=daily');
  return body.usages.map(({ start_of_period_dt, amount_cents, units }: Told) => [
    start_of_period_dt,
    Number(amount_cents),
    units,
  ]);
}

test.each([
  ['later in the next period', '2025-01-05T00:00:00Z', '2025-01-12T10:00:00Z', '2025-01-06'],
  ['on the next day, which opens a period', '2025-01-05T10:00:00Z', '2025-01-06T10:00:00Z', '2025-01-06'],
  ['two periods ahead', '2025-01-05T10:00:00Z', '2025-01-15T10:00:00Z', '2025-01-13'],
  ['later in the same period', '2025-01-02T10:00:00Z', '2025-01-04T10:00:00Z', '2025-01-02'],
])('an event received before it counts, %s, is told', async (_name, receivedAt, timestamp, day) => {
  const story = await open();
  await story.advance(receivedAt);
  await use(story, 51, timestamp);
  await story.advance('2025-01-28T00:00:00Z');
  await until(async () => ((await told(story)).length > 0 ? true : undefined));
  expect(await told(story)).toEqual([[day, 5100, '51.0']]);
});
