import { afterAll, beforeAll, expect, test } from 'vitest';
import { type HookReceiver, openHookReceiver } from '../support/hook-receiver.ts';
import { startService, type TestService } from '../support/service.ts';
import { openStory, type Story } from '../support/story.ts';
import { until } from '../support/until.ts';
import { ok } from '../support/words.ts';
import { CONTRACT_TYPES, violationsOf } from './check-webhook.ts';

let service: TestService;
let story: Story;
let receiver: HookReceiver;

beforeAll(async () => {
  receiver = await openHookReceiver();
  service = await startService();
  story = await openStory(service, '2024-05-01T10:00:00Z');
});
afterAll(async () => {
  await service.stop();
  await receiver.close();
});

type Body = Record<string, never> & { webhook_type: string };

const told = async (): Promise<Body[]> => {
  const rows = await service.sql<{ payload: string }[]>`
    select payload from webhook_events where organization_id = ${story.organizationId} order by position`;
  return rows.map(({ payload }) => JSON.parse(payload));
};
/** What arrived where the organization is listened to. */
const arrived = () => new Set(receiver.hooks.map(({ body }) => (JSON.parse(body) as Body).webhook_type));
const isTold = (type: string) => until(async () => (await told()).some((body) => body.webhook_type === type));

const EXPECTED = [
  'alert.triggered',
  'billable_metric.created',
  'billable_metric.updated',
  'billable_metric.deleted',
  'credit_note.created',
  'customer.created',
  'customer.updated',
  'customer.payment_provider_created',
  'event.error',
  'events.errors',
  'fee.created',
  'invoice.created',
  'invoice.one_off_created',
  'invoice.payment_status_updated',
  'invoice.payment_failure',
  'invoice.payment_dispute_lost',
  'payment.requires_action',
  'payment_receipt.created',
  'payment_receipt.generated',
  'plan.created',
  'plan.updated',
  'plan.deleted',
  'subscription.started',
  'subscription.updated',
  'subscription.terminated',
  'wallet.created',
  'wallet.updated',
  'wallet.terminated',
  'wallet_transaction.created',
];

test('webhooks of a busy organization have the shapes of the contract', async () => {
  const { client } = story;
  await ok(client.post('/webhook_endpoints', { webhook_endpoint: { webhook_url: receiver.url } }));
  await ok(client.post('/payment_providers', { payment_provider: { type: 'sandbox', code: 'test', name: 'Test' } }));
  await story.customer({
    email: 'billing@acme.test',
    billing_configuration: { payment_provider: 'stripe', sync_with_provider: true },
  });
  await story.customer({ name: 'Acme' });
  await isTold('customer.payment_provider_created');

  const metric = { name: 'Calls', code: 'calls', aggregation_type: 'count_agg' };
  const { billable_metric } = await ok(client.post('/billable_metrics', { billable_metric: metric }));
  await ok(client.put('/billable_metrics/calls', { billable_metric: { name: 'API calls' } }));
  await ok(client.post('/billable_metrics', { billable_metric: { ...metric, code: 'unused' } }));
  await ok(client.delete('/billable_metrics/unused'));

  const charges = [
    {
      billable_metric_id: billable_metric.svc_id,
      charge_model: 'standard',
      properties: { amount: '1' },
      accepts_target_wallet: true,
    },
    {
      billable_metric_id: billable_metric.svc_id,
      charge_model: 'standard',
      pay_in_advance: true,
      invoiceable: false,
      properties: { amount: '2' },
    },
  ];
  await story.plan({ amount_cents: 1000, charges });
  await ok(client.put('/plans/plan', { plan: { name: 'Renamed' } }));
  await story.plan({ code: 'short', amount_cents: 0 });
  await ok(client.delete('/plans/short'));

  const add_on = { name: 'Setup', code: 'setup', amount_cents: 1200, amount_currency: 'USD' };
  await ok(client.post('/add_ons', { add_on }));
  const oneOff = async () =>
    (
      await ok(
        client.post('/invoices', {
          invoice: { external_customer_id: 'acme', currency: 'USD', fees: [{ add_on_code: 'setup' }] },
        }),
      )
    ).invoice;
  const card = (card_number: string) =>
    ok(client.post('/customers/acme/payment_methods', { payment_method: { card_number } }));
  await oneOff();
  await card('4000000000009995');
  await oneOff();
  await isTold('invoice.payment_failure');
  await card('4000000000003220');
  await oneOff();
  await isTold('payment.requires_action');
  await card('4242424242424242');
  const paid = await oneOff();
  await isTold('payment_receipt.created');
  const { payment_receipts } = await ok(client.get('/payment_receipts'));
  await ok(client.post(`/payment_receipts/${payment_receipts[0].svc_id}/download`));
  await ok(
    client.post('/credit_notes', {
      credit_note: {
        invoice_id: paid.svc_id,
        reason: 'other',
        credit_amount_cents: 100,
        items: [
          { fee_id: (await ok(client.get(`/invoices/${paid.svc_id}`))).invoice.fees[0].svc_id, amount_cents: 100 },
        ],
      },
    }),
  );
  await ok(client.post(`/invoices/${paid.svc_id}/lose_dispute`));

  const wallet = {
    external_customer_id: 'acme',
    name: 'Prepaid',
    rate_amount: '1',
    currency: 'USD',
    granted_credits: '10',
  };
  const made = (await ok(client.post('/wallets', { wallet }))).wallet;
  await isTold('wallet_transaction.created');
  await ok(client.put(`/wallets/${made.svc_id}`, { wallet: { name: 'Renamed' } }));
  await ok(client.delete(`/wallets/${made.svc_id}`));

  expect((await story.subscribe()).status).toBe(200);
  await ok(client.put('/subscriptions/sub', { subscription: { name: 'Main' } }));
  const alert = { alert_type: 'current_usage_amount', code: 'much', thresholds: [{ code: 'one', value: '1' }] };
  await ok(client.post('/subscriptions/sub/alerts', { alert }));
  const send = (event: object) => ok(client.post('/events', { event: { external_subscription_id: 'sub', ...event } }));
  await send({ transaction_id: 't', code: 'calls' });
  await isTold('fee.created');
  await send({ transaction_id: 'u', code: 'calls', properties: { target_wallet_code: 'none' } });
  await isTold('event.error');
  await send({ transaction_id: 'v', code: 'unknown' });
  await story.advanceTo('2024-06-02T10:00:00Z');
  await isTold('alert.triggered');
  await ok(client.delete('/subscriptions/sub'));
  await isTold('subscription.terminated');

  await until(async () => EXPECTED.every((type) => arrived().has(type)));

  const bodies = await told();
  expect(bodies.flatMap(violationsOf)).toEqual([]);
  const types = new Set(bodies.map((body) => body.webhook_type));
  expect([...types].filter((type) => !CONTRACT_TYPES.includes(type))).toEqual([]);
  expect(EXPECTED.filter((type) => !types.has(type))).toEqual([]);
});

test('a webhook body that departs from its shape is detected', () => {
  const body = {
    webhook_type: 'customer.created',
    object_type: 'customer',
    organization_id: '1a901a90-1a90-1a90-1a90-1a901a901a90',
    customer: { svc_id: 'x' },
  };
  const found = violationsOf(body);
  expect(found).toContain('customer.created.customer.svc_id: "x" is no uuid');
  expect(found).toContain('customer.created.customer: misses external_id');
  expect(CONTRACT_TYPES).toHaveLength(76);
});
