import { afterAll, beforeAll, expect, test } from 'vitest';
import { startService, type TestService } from '../../support/service.ts';
import { openStory, type Story } from '../../support/story.ts';

// Usage that is paid in advance beside usage that is billed later: what lifetime usage and thresholds make of it, and
// when a period is invoiced. usage-reads.md#lifetime-usage, progressive-billing.md#trigger, event-verdicts.md#verdict.
let service: TestService;
let story: Story;

beforeAll(async () => {
  service = await startService();
  story = await openStory(service, '2024-03-01T00:00:00Z');
  await story.customer();
  const charges = [];
  for (const [code, pay_in_advance] of [
    ['calls', true],
    ['units', false],
  ] as const) {
    const metric = await story.metric(code, { aggregation_type: 'sum_agg', field_name: 'n' });
    const properties = { amount: '1' };
    charges.push({ billable_metric_id: metric.svc_id, code, charge_model: 'standard', pay_in_advance, properties });
  }
  await story.plan({ amount_cents: 0, usage_thresholds: [{ amount_cents: 10000 }], charges });
  await story.subscribe();
});
afterAll(() => service.stop());

const lifetime = async () => (await story.client.get('/subscriptions/sub/lifetime_usage')).body.lifetime_usage;

/** @returns what billing makes of it */
async function send(transaction_id: string, code: string, n: string, at: string) {
  const { status, body } = await story.client.post('/events?explain=true', {
    event: {
      transaction_id,
      external_subscription_id: 'sub',
      code,
      timestamp: Date.parse(at) / 1000,
      properties: { n },
    },
  });
  expect(status).toBe(200);
  return body.verdict;
}

test('what is paid in advance counts once, with its invoice', async () => {
  await story.advanceTo('2024-03-05T00:00:00Z');
  await send('first', 'calls', '60', '2024-03-05T00:00:00Z');
  await story.advanceTo('2024-03-05T01:00:00Z');
  expect(await story.invoices(1)).toMatchObject([{ invoice_type: 'subscription', total_amount_cents: 6000 }]);
  expect(await lifetime()).toMatchObject({
    invoiced_usage_amount_cents: 6000,
    current_usage_amount_cents: 0,
    usage_thresholds: [{ amount_cents: 10000, completion_ratio: 0.6, reached_at: null }],
  });
});

test('an invoice in advance closes no period', async () => {
  await story.advanceTo('2024-03-06T00:00:00Z');
  const verdict = await send('second', 'units', '50', '2024-03-06T00:00:00Z');
  expect(verdict).toMatchObject({ outcome: 'counted', warnings: [], period: { invoiced: false } });
});

test('with usage in arrears a threshold is reached, and that usage billed', async () => {
  await story.advanceTo('2024-03-06T01:00:00Z');
  const progressive = (await story.invoices(2))[1];
  expect(progressive).toMatchObject({ invoice_type: 'progressive_billing', total_amount_cents: 5000 });
  expect(await lifetime()).toMatchObject({
    invoiced_usage_amount_cents: 6000,
    current_usage_amount_cents: 5000,
    usage_thresholds: [{ completion_ratio: 1, reached_at: expect.stringMatching('2024-03-06T00:') }],
  });
});

test('nor does a progressive one; its last invoice does', async () => {
  const running = await send('third', 'units', '1', '2024-03-06T01:00:00Z');
  expect(running).toMatchObject({ warnings: [], period: { invoiced: false } });
  await story.advanceTo('2024-04-02T00:00:00Z');
  expect((await story.invoices(3))[2]).toMatchObject({ fees_amount_cents: 5100, total_amount_cents: 100 });
  expect(await lifetime()).toMatchObject({
    invoiced_usage_amount_cents: 11100,
    current_usage_amount_cents: 0,
    usage_thresholds: [{ completion_ratio: 1, reached_at: expect.stringMatching('2024-03-06T00:') }],
  });
  const late = await send('late', 'units', '1', '2024-03-07T00:00:00Z');
  expect(late).toMatchObject({ warnings: ['period_invoiced'], period: { invoiced: true } });
});
