import { afterAll, beforeAll, expect, test } from 'vitest';
import { startService, type TestService } from '../../support/service.ts';
import { openStory, type Story } from '../../support/story.ts';
import { until } from '../../support/until.ts';

// Rules of usage-fees.md#endpoints.
let service: TestService;
let story: Story;
// biome-ignore lint/suspicious/noExplicitAny: tests look into bodies of every shape
let standalone: any;
// biome-ignore lint/suspicious/noExplicitAny: as above
let invoiced: any;

beforeAll(async () => {
  service = await startService();
  story = await openStory(service, '2024-06-01T00:00:00Z');
  await story.customer();
  const metrics = await Promise.all(
    ['loose', 'billed'].map((code) =>
      story.client.post('/billable_metrics', {
        billable_metric: { name: code, code, aggregation_type: 'count_agg' },
      }),
    ),
  );
  await story.plan({
    amount_cents: 0,
    charges: metrics.map(({ body }, index) => ({
      billable_metric_id: body.billable_metric.svc_id,
      charge_model: 'standard',
      properties: { amount: '10' },
      pay_in_advance: true,
      invoiceable: index === 1,
    })),
  });
  await story.subscribe();
  const events = ['loose', 'billed'].map((code) => ({ transaction_id: code, external_subscription_id: 'sub', code }));
  await story.client.post('/events/batch', { events });
  const fees = await until(async () => {
    const { body } = await story.client.get('/fees');
    return body.fees.length === 2 ? body.fees : undefined;
  });
  standalone = fees.find((fee: typeof standalone) => !fee.invoiceable);
  invoiced = fees.find((fee: typeof standalone) => fee.invoiceable);
});
afterAll(() => service.stop());

const setStatus = (id: string, payment_status: unknown) => story.client.put(`/fees/${id}`, { fee: { payment_status } });

test('a standalone fee is paid, failed and refunded, and each state sets only its own time', async () => {
  const now = '2024-06-01T00:00:00Z';
  for (const status of ['succeeded', 'failed', 'refunded', 'pending']) {
    const { body } = await setStatus(standalone.svc_id, status);
    expect(body.fee).toMatchObject({
      payment_status: status,
      succeeded_at: status === 'succeeded' ? now : null,
      failed_at: status === 'failed' ? now : null,
      refunded_at: status === 'refunded' ? now : null,
    });
  }
});

test.each([['paid'], [null], ['']])('a fee with the status %j is refused', async (status) => {
  const answer = await setStatus(standalone.svc_id, status);
  expect([answer.status, answer.body.error_details]).toEqual([422, { payment_status: ['value_is_invalid'] }]);
});

test('a fee on an invoice can be neither changed nor deleted', async () => {
  const answers = await Promise.all([
    setStatus(invoiced.svc_id, 'succeeded'),
    story.client.delete(`/fees/${invoiced.svc_id}`),
  ]);
  expect(answers.map(({ status, body }) => [status, body.code])).toEqual([
    [405, 'invoiced_fee'],
    [405, 'invoiced_fee'],
  ]);
});

test.each([['x'], ['01a1fede-6df5-7010-840b-a47ce8f9aa36']])(
  'a fee with the unknown id %s is not found',
  async (id) => {
    const answers = await Promise.all([setStatus(id, 'failed'), story.client.delete(`/fees/${id}`)]);
    expect(answers.map(({ status, body }) => [status, body.resource])).toEqual([
      [404, 'fee'],
      [404, 'fee'],
    ]);
  },
);

test.each([
  ['event_transaction_id=loose', ['loose']],
  ['billable_metric_code=billed', ['billed']],
  ['currency=usd', ['loose', 'billed']],
  ['payment_status=failed', []],
  ['external_customer_id=acme&fee_type=charge', ['loose', 'billed']],
])('fees are found by %s', async (query, ids) => {
  const { body } = await story.client.get(`/fees?${query}`);
  const found = body.fees.map((fee: typeof standalone) => fee.event_transaction_id);
  expect(found.sort()).toEqual([...ids].sort());
});

test('a deleted fee is not found', async () => {
  const { status, body } = await story.client.delete(`/fees/${standalone.svc_id}`);
  expect([status, body.fee.svc_id]).toEqual([200, standalone.svc_id]);
  expect((await story.client.get(`/fees/${standalone.svc_id}`)).status).toBe(404);
});
