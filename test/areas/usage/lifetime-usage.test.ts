import { afterAll, beforeAll, expect, test } from 'vitest';
import { countStatements } from '../../support/count-statements.ts';
import { startService, type TestService } from '../../support/service.ts';
import { openStory, type Story } from '../../support/story.ts';

// Lifetime usage: usage-reads.md#lifetime-usage.
let service: TestService;
let story: Story;

beforeAll(async () => {
  service = await startService();
  story = await openStory(service, '2022-12-01T00:30:00Z');
  await story.customer({ currency: 'EUR' });
  const metric = await story.metric('tokens', { aggregation_type: 'sum_agg', field_name: 'total' });
  const charges = [{ billable_metric_id: metric.svc_id, charge_model: 'standard', properties: { amount: '0.01' } }];
  await story.plan({ amount_cents: 3100, amount_currency: 'EUR', charges });
  await story.plan({ code: 'bigger', amount_cents: 6200, amount_currency: 'EUR', charges });
  await story.subscribe();
});
afterAll(() => service.stop());

const PATH = '/subscriptions/sub/lifetime_usage';
const lifetime = async () => (await story.client.get(PATH)).body.lifetime_usage;
const put = (cents: unknown) =>
  story.client.put(PATH, { lifetime_usage: { external_historical_usage_amount_cents: cents } });

let sent = 0;
const use = async (total: number, timestamp: string) => {
  sent += 1;
  await story.use('tokens', { total }, { at: timestamp, transaction_id: `t${sent}` });
};

test('an accepted event appears in lifetime usage at once', async () => {
  await use(1_000_000, '2022-12-01T00:10:00Z'); // before the subscription
  await story.advanceTo('2022-12-05T10:00:00Z');
  await use(1_000_000, '2022-12-05T10:00:00Z');
  expect(await lifetime()).toMatchObject({
    external_subscription_id: 'sub',
    external_historical_usage_amount_cents: 0,
    invoiced_usage_amount_cents: 0,
    current_usage_amount_cents: 1_000_000,
    from_datetime: '2022-12-01T00:30:00Z',
    to_datetime: '2022-12-05T10:00:00Z',
  });
});

test('imported lifetime usage can be set, and never below zero', async () => {
  const patched = await story.client.patch(PATH, {
    lifetime_usage: { external_historical_usage_amount_cents: 400_000 },
  });
  expect(patched.body.lifetime_usage.external_historical_usage_amount_cents).toBe(400_000);
  expect((await put(500_000)).body.lifetime_usage).toMatchObject({
    external_historical_usage_amount_cents: 500_000,
    current_usage_amount_cents: 1_000_000,
  });
  expect(await lifetime()).toMatchObject({ external_historical_usage_amount_cents: 500_000 });
  expect((await put(-1)).body).toMatchObject({
    status: 422,
    error_details: { historical_usage_amount_cents: ['value_is_out_of_range'] },
  });
  expect((await put(null)).body).toMatchObject({
    error_details: { external_historical_usage_amount_cents: ['value_is_mandatory'] },
  });
});

test('billed usage moves from current to invoiced lifetime usage, over plan changes too', async () => {
  const { svc_id } = await lifetime();
  await story.advanceTo('2023-01-01T02:30:00Z');
  expect(await lifetime()).toMatchObject({ invoiced_usage_amount_cents: 1_000_000, current_usage_amount_cents: 0 });
  await story.advanceTo('2023-01-10T00:00:00Z');
  await use(100, '2023-01-09T00:00:00Z');
  expect((await story.subscribe({ plan_code: 'bigger' })).status).toBe(200);
  await story.advanceTo('2023-01-12T00:00:00Z');
  await use(50, '2023-01-11T00:00:00Z');
  expect(await lifetime()).toMatchObject({
    svc_id,
    external_historical_usage_amount_cents: 500_000,
    invoiced_usage_amount_cents: 1_000_100,
    current_usage_amount_cents: 50,
    from_datetime: '2022-12-01T00:30:00Z',
  });
});

test('reading lifetime usage takes at most six statements', async () => {
  const { statements, body } = await countStatements(service, story.organizationId, 'getSubscriptionLifetimeUsage', {
    now: '2023-01-12T00:00:00Z',
    external_id: 'sub',
  });
  expect(body.lifetime_usage.current_usage_amount_cents).toBe(50);
  expect(statements.length).toBeLessThanOrEqual(6);
});

test('lifetime usage of an unknown subscription is refused with 404', async () => {
  expect((await story.client.get('/subscriptions/none/lifetime_usage')).body).toMatchObject({
    status: 404,
    resource: 'subscription',
  });
});
