import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { startService, type TestService } from '../../../support/service.ts';
import { type Invoice, openStory, type Story } from '../../../support/story.ts';
import { until } from '../../../support/until.ts';
import { ok } from '../../../support/words.ts';

// Plan changes that wait for the payment of their first invoice: plan-changes.md#upgrade, plan-changes.md#downgrade,
// activation-rules.md.
let service: TestService;
let story: Story;

const PAYS = '4242424242424242';
const REFUSED = '4000000000000002';
const ASKS = '4000000000003220';
const RULES = [{ type: 'payment', timeout_hours: 96 }];

beforeAll(async () => {
  service = await startService();
});
afterAll(() => service.stop());

beforeEach(async () => {
  story = await openStory(service, '2024-05-01T10:00:00Z');
  await ok(
    story.client.post('/payment_providers', { payment_provider: { type: 'sandbox', code: 'test', name: 'Test' } }),
  );
  await ok(
    story.client.post('/billable_metrics', {
      billable_metric: { name: 'Calls', code: 'calls', aggregation_type: 'count_agg' },
    }),
  );
  await story.customer({
    email: 'billing@acme.test',
    billing_configuration: { payment_provider: 'stripe', sync_with_provider: true },
  });
  const { billable_metrics: metrics } = (await story.client.get('/billable_metrics')).body;
  const charges = [{ billable_metric_id: metrics[0].svc_id, charge_model: 'standard', properties: { amount: '1' } }];
  await story.plan({ amount_cents: 3100, pay_in_advance: true, charges });
  await story.plan({ code: 'more', amount_cents: 6200, pay_in_advance: true, charges });
});

/** The card comes after the first record, whose own invoice nobody collects. */
const begin = async (plan_code: string, card: string): Promise<void> => {
  await story.subscribe({ plan_code });
  await story.invoices(1);
  await ok(story.client.post('/customers/acme/payment_methods', { payment_method: { card_number: card } }));
};
const change = async (plan_code: string): Promise<Invoice> => {
  const { status, body } = await story.subscribe({ plan_code, activation_rules: RULES });
  expect(status, JSON.stringify(body)).toBe(200);
  return body.subscription;
};
const use = (id: string, timestamp: string) =>
  ok(
    story.client.post('/events', {
      event: {
        transaction_id: id,
        external_subscription_id: 'sub',
        code: 'calls',
        timestamp: Date.parse(timestamp) / 1000,
      },
    }),
  );
const records = () => service.sql<{ plan: string; status: string; reason: string | null }[]>`
  select plan.code as plan, s.status, s.cancellation_reason as reason from subscriptions s
  join plans plan on plan.id = s.plan_id
  where s.organization_id = ${story.organizationId} order by s.id`;
const inStatus = (plan: string, status: string) =>
  until(async () => (await records()).find((each) => each.plan === plan && each.status === status));
/** What the sandbox's provider says later has a time of its own. */
const settled = () =>
  until(async () => {
    const owed = await service.sql`
      select from after_steps where organization_id = ${story.organizationId} and due_at is null`;
    return owed.length === 0;
  });
/** Invoices oldest first: subscription fee and usage of each. */
const billed = async (): Promise<Invoice[]> => {
  await settled();
  return service.sql`
    select invoice.status,
      coalesce(sum(fee.amount_cents) filter (where fee.fee_type = 'subscription'), 0)::int as fee,
      coalesce(sum(fee.amount_cents) filter (where fee.fee_type = 'charge'), 0)::int as usage
    from invoices invoice
    left join fees fee on fee.organization_id = invoice.organization_id and fee.invoice_id = invoice.id
    where invoice.organization_id = ${story.organizationId}
    group by invoice.id order by invoice.id`;
};
const credited = async (): Promise<number[]> => {
  await settled();
  const notes = await service.sql<{ total_amount_cents: number }[]>`
    select total_amount_cents from credit_notes where organization_id = ${story.organizationId} order by id`;
  return notes.map(({ total_amount_cents }) => total_amount_cents);
};
/** The oldest payment that waits is the one that the change waits for. */
const confirm = async () => {
  const payment = await until(async () => {
    const [row] = await service.sql<{ id: string }[]>`
      select id from payments where organization_id = ${story.organizationId} and payment_status = 'processing'
      order by id`;
    return row;
  });
  await ok(story.client.post(`/sandbox/payments/${payment.id}/confirm`, { outcome: 'succeeded' }));
};

describe('an upgrade that waits for its payment', () => {
  test('a gated upgrade takes over once it is paid, and the unused advance payment of the old plan is credited', async () => {
    await begin('plan', PAYS);
    await story.advanceTo('2024-05-11T10:00:00Z');
    const made = await change('more');
    expect(made).toMatchObject({
      status: 'incomplete',
      previous_plan_code: 'plan',
      activation_rules: [{ status: 'pending', expires_at: '2024-05-15T10:00:00Z' }],
    });
    await inStatus('more', 'active');
    expect(await records()).toMatchObject([{ status: 'terminated' }, { status: 'active' }]);
    // 21 of 31 days of 62.00, and 31.00 for as many days back.
    expect(await billed()).toEqual([
      { status: 'finalized', fee: 3100, usage: 0 },
      { status: 'finalized', fee: 4200, usage: 0 },
      { status: 'finalized', fee: 0, usage: 0 },
    ]);
    expect(await credited()).toEqual([2100]);
    const { subscription } = (await story.client.get('/subscriptions/sub')).body;
    expect(subscription).toMatchObject({ svc_id: made.svc_id, activation_rules: [{ status: 'satisfied' }] });
  });

  test('a gated upgrade that is not paid leaves the old plan as it was', async () => {
    await begin('plan', REFUSED);
    await story.advanceTo('2024-05-11T10:00:00Z');
    await change('more');
    await inStatus('more', 'canceled');
    expect(await records()).toEqual([
      { plan: 'plan', status: 'active', reason: null },
      { plan: 'more', status: 'canceled', reason: 'payment_failed' },
    ]);
    expect(await credited()).toEqual([]);
    await story.advanceTo('2024-06-01T01:00:00Z');
    expect(await billed()).toEqual([
      { status: 'finalized', fee: 3100, usage: 0 },
      { status: 'closed', fee: 4200, usage: 0 },
      { status: 'finalized', fee: 3100, usage: 0 },
    ]);
  });

  test('usage counts for the old plan while a gated upgrade waits and for the new plan afterwards, never twice', async () => {
    await begin('plan', ASKS);
    await story.advanceTo('2024-05-11T10:00:00Z');
    await change('more');
    await story.advanceTo('2024-05-12T10:00:00Z');
    await use('waiting', '2024-05-12T09:00:00Z');
    await story.advanceTo('2024-05-15T09:00:00Z');
    await use('boundary', '2024-05-15T09:00:00Z');
    await confirm();
    await inStatus('more', 'active');
    await story.advanceTo('2024-05-16T10:00:00Z');
    await use('after', '2024-05-16T09:00:00Z');
    const usage = await story.client.get('/customers/acme/current_usage?external_subscription_id=sub');
    const shown = usage.body.customer_usage.amount_cents;
    await story.advanceTo('2024-06-01T01:00:00Z');
    const invoices = await billed();
    expect(invoices.map(({ fee }) => fee)).toEqual([3100, 4200, 0, 6200]);
    // Of the event at the very instant nothing but that it counts once is promised.
    expect(invoices[2].usage + invoices[3].usage).toBe(300);
    expect(invoices[3].usage).toBe(shown);
    expect(await credited()).toEqual([1700]);
  });

  test('the old plan can be neither ended nor changed again while a gated upgrade waits', async () => {
    await begin('plan', ASKS);
    await change('more');
    const ended = await story.client.delete('/subscriptions/sub');
    expect(ended.body).toMatchObject({ status: 422, error_details: { base: ['next_subscription_incomplete'] } });
    const again = await story.subscribe({ plan_code: 'more' });
    expect(again.body).toMatchObject({ error_details: { subscription: ['subscription_incomplete'] } });
    await story.advanceTo('2024-05-05T10:30:00Z');
    expect(await inStatus('more', 'canceled')).toMatchObject({ reason: 'timeout' });
    await ok(story.client.delete('/subscriptions/sub'));
  });

  test('a waiting upgrade keeps its activation rules when its plan becomes dearer', async () => {
    await begin('more', ASKS);
    await change('plan');
    await ok(story.client.put('/plans/plan', { plan: { amount_cents: 9300 } }));
    await inStatus('plan', 'incomplete');
    expect((await records()).map(({ plan, status }) => `${plan} ${status}`)).toEqual([
      'more active',
      'plan canceled',
      'plan incomplete',
    ]);
  });
});

describe('a downgrade that waits for its payment', () => {
  test('a gated downgrade that is paid on its day ends the old plan without billing it again', async () => {
    await begin('more', PAYS);
    expect(await change('plan')).toMatchObject({ status: 'active', next_plan_code: 'plan', activation_rules: [] });
    const pending = (await story.client.get('/subscriptions/sub?status=pending')).body.subscription;
    expect(pending.activation_rules).toMatchObject([{ status: 'inactive' }]);
    await use('may', '2024-05-01T10:00:00Z');
    await story.advanceTo('2024-06-01T00:30:00Z');
    await inStatus('plan', 'active');
    expect(await billed()).toEqual([
      { status: 'finalized', fee: 6200, usage: 0 },
      { status: 'finalized', fee: 3100, usage: 0 },
      { status: 'finalized', fee: 0, usage: 100 },
    ]);
    expect(await credited()).toEqual([]);
  });

  test('a gated downgrade that is paid late credits the rest of the period that the old plan was billed for', async () => {
    await begin('more', ASKS);
    await change('plan');
    await use('may', '2024-05-01T10:00:00Z');
    await story.advanceTo('2024-06-01T23:30:00Z');
    expect((await billed()).map(({ status, fee }) => [status, fee])).toEqual([
      ['finalized', 6200],
      ['open', 3100],
    ]);
    await story.advanceTo('2024-06-02T01:00:00Z');
    await story.advanceTo('2024-06-03T10:00:00Z');
    await confirm();
    await inStatus('plan', 'active');
    await use('june', '2024-06-03T10:00:00Z');
    await story.advanceTo('2024-07-01T01:00:00Z');
    expect((await billed()).map(({ fee, usage }) => [fee, usage])).toEqual([
      [6200, 0],
      [3100, 0],
      [6200, 100],
      [0, 0],
      [3100, 100],
    ]);
    // 3 to 30 June are 28 of 30 days of 62.00.
    expect(await credited()).toEqual([5787]);
  });

  test('a gated downgrade that is not paid leaves the old plan to be billed as before', async () => {
    await begin('more', REFUSED);
    await change('plan');
    await story.advanceTo('2024-06-01T00:30:00Z');
    expect(await inStatus('plan', 'canceled')).toMatchObject({ reason: 'payment_failed' });
    await story.advanceTo('2024-06-01T02:00:00Z');
    expect((await billed()).map(({ status, fee }) => [status, fee])).toEqual([
      ['finalized', 6200],
      ['closed', 3100],
      ['finalized', 6200],
    ]);
  });

  test('the activation rules of a downgrade may be replaced until its day', async () => {
    await begin('more', PAYS);
    await change('plan');
    const put = (rules: object[]) =>
      story.client.put('/subscriptions/sub?status=pending', { subscription: { activation_rules: rules } });
    const longer = await ok(put([{ type: 'payment', timeout_hours: 1 }]));
    expect(longer.subscription.activation_rules).toMatchObject([{ timeout_hours: 1, status: 'inactive' }]);
    await ok(put([]));
    await story.advanceTo('2024-06-01T00:30:00Z');
    await inStatus('plan', 'active');
    expect((await billed()).map(({ fee }) => fee)).toEqual([6200, 3100]);
  });
});

test('a plan change of a subscription that has not started may bring activation rules', async () => {
  await begin('plan', PAYS);
  const later = { external_id: 'later', subscription_at: '2024-05-20T00:00:00Z' };
  await story.subscribe(later);
  const made = await story.subscribe({ ...later, plan_code: 'more', activation_rules: RULES });
  expect(made.body.subscription).toMatchObject({ status: 'pending', activation_rules: [{ status: 'inactive' }] });
});

test('a waiting plan change is canceled when its customer is deleted', async () => {
  await begin('plan', ASKS);
  await change('more');
  await until(async () => (await billed()).some(({ status }) => status === 'open'));
  await ok(story.client.delete('/customers/acme'));
  expect(await inStatus('more', 'canceled')).toMatchObject({ reason: null });
  await inStatus('plan', 'terminated');
  const rules = await service.sql`
    select status from subscription_activation_rules where organization_id = ${story.organizationId}`;
  expect(rules).toMatchObject([{ status: 'declined' }]);
  const closed = await service.sql`
    select from invoices where organization_id = ${story.organizationId} and status = 'closed'`;
  expect(closed).toHaveLength(1);
});
