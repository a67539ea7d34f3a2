import { afterAll, beforeAll, expect, test } from 'vitest';
import { startService, type TestService } from '../../../support/service.ts';
import { openStory, type Story } from '../../../support/story.ts';

// Where the letter of in-advance.md#units-of-one-event bills more than the period's usage costs: decision 0031.
let service: TestService;

beforeAll(async () => {
  service = await startService();
});
afterAll(() => service.stop());

async function march(charge: object): Promise<Story> {
  const story = await openStory(service, '2024-03-01T00:00:00Z');
  await story.customer();
  const metric = await story.metric('units', { aggregation_type: 'sum_agg', field_name: 'n' });
  const terms = { billable_metric_id: metric.svc_id, code: 'units', pay_in_advance: true, ...charge };
  await story.plan({ amount_cents: 0, charges: [terms] });
  await story.subscribe();
  await story.advanceTo('2024-03-10T00:00:00Z');
  return story;
}

async function send(story: Story, n: string, at: string) {
  const event = { transaction_id: `${n} at ${at}`, external_subscription_id: 'sub', code: 'units', properties: { n } };
  expect((await story.client.post('/events', { event: { ...event, timestamp: Date.parse(at) / 1000 } })).status).toBe(
    200,
  );
}

const amounts = async (story: Story, count: number) =>
  (await story.invoices(count)).map(({ fees_amount_cents }) => fees_amount_cents);

test('a package is paid again by an event of an earlier time', async () => {
  const story = await march({ charge_model: 'package', properties: { amount: '1', free_units: 0, package_size: 10 } });
  await send(story, '5', '2024-03-09T00:00:00Z');
  expect(await amounts(story, 1)).toEqual([100]);
  await send(story, '4', '2024-03-05T00:00:00Z');
  expect(await amounts(story, 2)).toEqual([100, 100]);
});

test('an override of the charge restarts the running maximum', async () => {
  const story = await march({ charge_model: 'standard', properties: { amount: '1' } });
  await send(story, '10', '2024-03-02T00:00:00Z');
  expect(await amounts(story, 1)).toEqual([1000]);
  await send(story, '-4', '2024-03-03T00:00:00Z');
  expect(await amounts(story, 2)).toEqual([1000, 0]);
  const override = { charge: { invoice_display_name: 'Units of this customer' } };
  expect((await story.client.put('/subscriptions/sub/charges/units', override)).status).toBe(200);
  await send(story, '4', '2024-03-04T00:00:00Z');
  expect(await amounts(story, 3)).toEqual([1000, 0, 400]);
});
