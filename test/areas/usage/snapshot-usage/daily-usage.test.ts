import { afterAll, beforeAll, expect, test } from 'vitest';
import { startService, type TestService } from '../../../support/service.ts';
import { openStory, type Story } from '../../../support/story.ts';

// Daily snapshots of usage: usage-reads.md#daily-usage.
let service: TestService;
beforeAll(async () => {
  service = await startService();
});
afterAll(() => service.stop());

async function open(metric: object, zone = 'UTC'): Promise<Story> {
  const story = await openStory(service, '2025-01-01T00:30:00Z');
  await story.customer({ currency: 'USD', timezone: zone });
  const { body } = await story.client.post('/billable_metrics', {
    billable_metric: { name: 'Ops', code: 'ops', aggregation_type: 'sum_agg', field_name: 'n', ...metric },
  });
  await story.plan({
    amount_cents: 1000,
    charges: [
      { billable_metric_id: body.billable_metric.svc_id, charge_model: 'standard', properties: { amount: '5' } },
    ],
  });
  await story.subscribe();
  return story;
}

let sent = 0;
const use = async (story: Story, n: number, timestamp: string) => {
  sent += 1;
  await story.use('ops', { n }, { at: timestamp, transaction_id: `t${sent}` });
};

const snapshots = async ({ organizationId }: Story) =>
  (
    await service.sql`
      select usage_date::text, amount_cents, usage_diff -> 0 ->> 'units' as units,
        usage_diff -> 0 -> 'amount_cents' as added,
        usage_diff -> 0 ->> 'billable_metric_code' as code
      from daily_usages where organization_id = ${organizationId} order by usage_date`
  ).map((row) => ({ ...row }));

test('a late event counts on the day whose snapshot first contains it, and days without usage have no snapshot', async () => {
  const story = await open({});
  await story.advanceTo('2025-01-05T12:30:00Z');
  await use(story, 10, '2025-01-05T12:00:00Z');
  await story.advanceTo('2025-01-08T12:30:00Z');
  await use(story, 5, '2025-01-08T12:00:00Z');
  await story.advanceTo('2025-01-09T00:01:00Z');
  await use(story, 3, '2025-01-07T12:00:00Z');
  await story.advanceTo('2025-01-09T02:00:00Z');
  expect(await snapshots(story)).toEqual([
    { usage_date: '2025-01-05', amount_cents: 5000, units: '10.0', added: 5000, code: 'ops' },
    { usage_date: '2025-01-08', amount_cents: 9000, units: '8.0', added: 4000, code: 'ops' },
  ]);
});

test('the last day of a period holds what its invoice bills, and the next period starts from zero in the customer’s zone', async () => {
  const story = await open({}, 'America/New_York');
  await story.advanceTo('2025-01-31T20:00:00Z');
  await use(story, 2, '2025-01-31T19:00:00Z');
  await story.advanceTo('2025-02-01T06:30:00Z');
  await use(story, 1, '2025-02-01T06:00:00Z');
  await story.advanceTo('2025-02-02T06:30:00Z');
  expect(await snapshots(story)).toEqual([
    { usage_date: '2025-01-31', amount_cents: 1000, units: '2.0', added: 1000, code: 'ops' },
    { usage_date: '2025-02-01', amount_cents: 500, units: '1.0', added: 500, code: 'ops' },
  ]);
});

test('recurring usage is carried into the first day of the next period', async () => {
  const story = await open({ recurring: true });
  await story.advanceTo('2025-01-10T12:00:00Z');
  await use(story, 4, '2025-01-10T10:00:00Z');
  await story.advanceTo('2025-02-05T00:00:00Z');
  expect(await snapshots(story)).toEqual([
    { usage_date: '2025-01-10', amount_cents: 2000, units: '4.0', added: 2000, code: 'ops' },
    { usage_date: '2025-02-01', amount_cents: 2000, units: '4.0', added: 2000, code: 'ops' },
  ]);
});
