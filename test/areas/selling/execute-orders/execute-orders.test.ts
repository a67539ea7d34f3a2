import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { startService, type TestService } from '../../../support/service.ts';
import { addOnItem, type Deals, openDeals, planItem, type Shown, walletItem } from './deals.ts';

// Orders: quotes.md#execution.
let service: TestService;
let deals: Deals;

beforeAll(async () => {
  // 50 executions of one order wait for each other: a busy machine takes its time.
  service = await startService();
});
afterAll(() => service.stop());
beforeEach(async () => {
  deals = await openDeals(service);
});

const oneOff = () => ({ order_type: 'one_off', billing_items: { addOns: [addOnItem(deals.addOn)] } });
const execute = (order: Shown, body?: object) => deals.client.post(`/orders/${order.svc_id}/execute`, body);
const IN_SVC = { order: { execution_mode: 'execute_in_svc' } };

const NOTHING = {
  executed_at: null,
  execution_mode: null,
  invoice_id: null,
  subscription_ids: [],
  terminated_subscription_ids: [],
  applied_coupon_ids: [],
  wallet_ids: [],
  errors: [],
};

test('a one-off order becomes an invoice of its add-ons, with overrides first', async () => {
  const items = {
    addOns: [addOnItem(deals.addOn, {}, { overrides: { unitAmountCents: 2000, invoiceDisplayName: 'Set-up days' } })],
  };
  const order = await deals.order({ order_type: 'one_off', billing_items: items });
  expect(order).toMatchObject({
    number: 'OR-2026-0001',
    status: 'created',
    execution_mode: null,
    currency: 'USD',
    executed_at: null,
    execution_record: NOTHING,
    billing_snapshot: items,
  });
  const refused = await execute(order);
  expect(refused.status).toBe(422);
  expect(refused.body.error_details).toEqual({ execution_mode: ['value_is_mandatory'] });
  const { order: executed } = await deals.ok(execute(order, IN_SVC));
  expect(executed).toMatchObject({
    status: 'executed',
    execution_mode: 'execute_in_svc',
    executed_at: '2026-03-10T12:00:00Z',
    execution_record: { executed_at: '2026-03-10T12:00:00Z', execution_mode: 'execute_in_svc', errors: [] },
  });
  const [invoice] = await deals.invoices(1);
  expect(invoice).toMatchObject({
    svc_id: executed.execution_record.invoice_id,
    invoice_type: 'one_off',
    fees_amount_cents: 4000,
    fees: [{ units: '2.0', amount_cents: 4000, item: { invoice_display_name: 'Set-up days' } }],
  });
  expect((await execute(order, { order: { execution_mode: 'order_only' } })).body.order).toEqual(executed);
  await deals.invoices(1);
});

test('an order that is only recorded creates nothing', async () => {
  const order = await deals.order(oneOff(), { order_form: { execution_mode: 'order_only' } });
  const { order: executed } = await deals.ok(execute(order));
  expect(executed).toMatchObject({
    status: 'executed',
    execution_record: { ...NOTHING, executed_at: '2026-03-10T12:00:00Z', execution_mode: 'order_only' },
  });
  await deals.invoices(0);
});

test('50 executions of an order at the same time have one effect', async () => {
  const items = {
    plans: [planItem(deals.planShown)],
    walletCredits: [walletItem()],
  };
  const order = await deals.order({ order_type: 'subscription_creation', billing_items: items });
  const answers = await Promise.all(Array.from({ length: 50 }, () => execute(order, IN_SVC)));
  // Who waits too long for its turn is told so.
  const others = answers.filter(({ status }) => status !== 200);
  expect(others.every(({ body }) => body.code === 'lock_acquisition_failed')).toBe(true);
  const [first, ...rest] = answers.filter(({ status }) => status === 200).map(({ text }) => text);
  expect(rest.every((text) => text === first)).toBe(true);
  const { subscriptions } = await deals.ok(deals.client.get('/subscriptions?external_customer_id=acme'));
  expect(subscriptions).toMatchObject([{ external_id: 'main' }]);
  const { wallets } = await deals.ok(deals.client.get('/wallets?external_customer_id=acme'));
  expect(wallets).toHaveLength(1);
  const told = await service.sql`
    select id from activity_logs
    where organization_id = ${deals.organizationId} and activity_type = 'order.executed'`;
  expect(told).toHaveLength(1);
});

test('orders of one customer can be executed in parallel', async () => {
  await deals.ok(
    deals.client.post('/coupons', {
      coupon: {
        name: 'Five',
        code: 'five',
        coupon_type: 'percentage',
        percentage_rate: 5,
        frequency: 'forever',
        expiration: 'no_expiration',
      },
    }),
  );
  const { coupon } = (await deals.client.get('/coupons/five')).body;
  const orders: Shown[] = [];
  for (const name of ['a', 'b', 'c']) {
    const items = {
      plans: [planItem(deals.planShown, {}, { localId: name, overrides: { amountCents: 100 } })],
      coupons: [{ id: coupon.svc_id, localId: 'c', type: 'coupon', payload: { code: 'five', type: 'percentage' } }],
    };
    orders.push(await deals.order({ order_type: 'subscription_creation', billing_items: items }));
  }
  const answers = await Promise.all(orders.flatMap((order) => [execute(order, IN_SVC), execute(order, IN_SVC)]));
  expect(answers.map(({ status, text }) => (status === 200 ? 200 : text))).toEqual(Array(6).fill(200));
  const { meta } = await deals.ok(deals.client.get('/subscriptions?external_customer_id=acme'));
  expect(meta.total_count).toBe(3);
  expect((await deals.client.get('/customers/acme/applied_coupons')).body.meta.total_count).toBe(3);
});

test('an order form is either signed or voided, whichever comes first', async () => {
  const form = await deals.approve(await deals.quote(oneOff()));
  const actions = Array.from({ length: 16 }, (_, index) => (index % 2 ? 'void' : 'mark_as_signed'));
  const answers = await Promise.all(
    actions.map((action) => deals.client.post(`/order_forms/${form.svc_id}/${action}`)),
  );
  expect(answers.filter(({ status }) => status === 200)).toHaveLength(1);
  const { status } = (await deals.client.get(`/order_forms/${form.svc_id}`)).body.order_form;
  const version = (await deals.client.get(`/quote_versions/${form.svc_quote_version_id}`)).body.quote_version;
  const orders = (await deals.client.get('/orders')).body.meta.total_count;
  expect([status, version.status, orders]).toEqual(
    status === 'signed' ? ['signed', 'approved', 1] : ['voided', 'voided', 0],
  );
});

describe('orders of subscriptions', () => {
  test('an order creates subscriptions with their overrides, coupons and wallets', async () => {
    const { coupon } = await deals.ok(
      deals.client.post('/coupons', {
        coupon: {
          name: 'Ten',
          code: 'ten',
          coupon_type: 'fixed_amount',
          amount_cents: 1000,
          amount_currency: 'USD',
          frequency: 'once',
          expiration: 'no_expiration',
        },
      }),
    );
    const order = await deals.order({
      order_type: 'subscription_creation',
      billing_items: {
        plans: [
          planItem(
            deals.planShown,
            {
              subscriptionExternalId: 'deal',
              subscriptionName: 'The deal',
              startDate: '2026-03-10',
              endDate: '2027-03-10',
            },
            { overrides: { amountCents: 2500, name: 'Basic for Acme' } },
          ),
          planItem(deals.planShown, { startDate: '2026-04-01' }, { localId: 'later' }),
        ],
        coupons: [
          {
            id: coupon.svc_id,
            localId: 'c',
            type: 'coupon',
            payload: { code: 'ten', type: 'fixed_amount' },
            overrides: { amountCents: 700, amountCurrency: 'USD' },
          },
        ],
        walletCredits: [walletItem()],
      },
    });
    const { order: executed } = await deals.ok(execute(order, IN_SVC));
    const record = executed.execution_record;
    expect(record).toMatchObject({ terminated_subscription_ids: [], invoice_id: null, errors: [] });
    const { subscriptions } = await deals.ok(
      deals.client.get('/subscriptions?external_customer_id=acme&status[]=active&status[]=pending'),
    );
    expect(subscriptions.map(({ svc_id }: Shown) => svc_id).sort()).toEqual([...record.subscription_ids].sort());
    const deal = subscriptions.find(({ external_id }: Shown) => external_id === 'deal');
    expect(deal).toMatchObject({
      name: 'The deal',
      status: 'active',
      plan_amount_cents: 2500,
      subscription_at: '2026-03-10T00:00:00Z',
      ending_at: '2027-03-10T00:00:00Z',
    });
    expect(subscriptions.find(({ external_id }: Shown) => external_id === 'later')).toMatchObject({
      status: 'pending',
      plan_amount_cents: 3100,
    });
    const { applied_coupons: coupons } = await deals.ok(deals.client.get('/customers/acme/applied_coupons'));
    expect(coupons).toMatchObject([{ svc_id: record.applied_coupon_ids[0], amount_cents: 700 }]);
    const { wallets } = await deals.ok(deals.client.get('/wallets?external_customer_id=acme'));
    expect(wallets).toMatchObject([{ svc_id: record.wallet_ids[0], name: 'Welcome', currency: 'USD' }]);
    // 22 of 31 days from 10 March; the coupon takes 7.00 off.
    const [invoice] = await deals.invoices(1);
    expect(invoice).toMatchObject({ fees_amount_cents: 1774, coupons_amount_cents: 700 });
  });

  test('an order that raises a plan replaces it at once; one that reduces it waits for the end of the period', async () => {
    await deals.ok(deals.subscribe({ plan_code: 'basic' }) as never);
    const amendment = (amountCents: number) => ({
      order_type: 'subscription_amendment',
      external_subscription_id: 'sub',
      billing_items: { plans: [planItem(deals.planShown, {}, { overrides: { amountCents } })] },
    });
    const raise = await deals.order(amendment(4000));
    const reduction = await deals.quote(amendment(1000));
    const { order: raised } = await deals.ok(execute(raise, IN_SVC));
    const { subscription } = await deals.ok(deals.client.get('/subscriptions/sub'));
    expect(raised.execution_record).toMatchObject({ subscription_ids: [subscription.svc_id], errors: [] });
    expect(raised.execution_record.terminated_subscription_ids).toHaveLength(1);
    expect(subscription).toMatchObject({ plan_amount_cents: 4000, plan_code: 'basic' });

    // The subscription of the second quote has ended.
    const late = await deals.client.post(`/quote_versions/${reduction.svc_id}/approve`);
    expect(late.body.error_details).toEqual({ subscription: ['subscription_not_active'] });
    const lower = await deals.order(amendment(1000));
    const { order: lowered } = await deals.ok(execute(lower, IN_SVC));
    expect(lowered.execution_record.terminated_subscription_ids).toEqual([]);
    const { subscription: next } = await deals.ok(deals.client.get('/subscriptions/sub?status=pending'));
    expect(lowered.execution_record.subscription_ids).toEqual([next.svc_id]);
    expect(next).toMatchObject({ status: 'pending', plan_amount_cents: 1000 });
    expect((await deals.client.get('/subscriptions/sub')).body.subscription).toMatchObject({
      plan_amount_cents: 4000,
      downgrade_plan_date: '2026-04-01',
    });
  });
});

test('a refused order creates nothing at all and may be tried again by hand', async () => {
  const { coupon } = await deals.ok(
    deals.client.post('/coupons', {
      coupon: {
        name: 'Half',
        code: 'half',
        coupon_type: 'percentage',
        percentage_rate: 50,
        frequency: 'once',
        expiration: 'no_expiration',
        reusable: false,
      },
    }),
  );
  const order = await deals.order({
    order_type: 'subscription_creation',
    billing_items: {
      plans: [planItem(deals.planShown)],
      coupons: [{ id: coupon.svc_id, localId: 'c', type: 'coupon', payload: { code: 'half', type: 'percentage' } }],
    },
  });
  await deals.ok(
    deals.client.post('/applied_coupons', { applied_coupon: { external_customer_id: 'acme', coupon_code: 'half' } }),
  );
  const refused = await execute(order, IN_SVC);
  expect(refused.status).toBe(422);
  expect(refused.body).toEqual({
    status: 422,
    error: 'Unprocessable Entity',
    code: 'validation_errors',
    error_details: { coupon: ['coupon_is_not_reusable'] },
  });
  expect((await deals.client.get(`/orders/${order.svc_id}`)).body.order).toMatchObject({
    status: 'failed',
    executed_at: null,
    execution_record: {
      ...NOTHING,
      execution_mode: 'execute_in_svc',
      errors: ['coupon: coupon_is_not_reusable'],
    },
  });
  expect((await deals.client.get('/subscriptions')).body.meta.total_count).toBe(0);
  expect((await execute(order, { order: { execution_mode: 'order_only' } })).body.error_details).toEqual({
    status: ['not_editable'],
  });
  await deals.ok(deals.client.delete('/coupons/half'));
  const gone = await execute(order);
  expect(gone.status).toBe(404);
  expect(gone.body).toMatchObject({ code: 'object_not_found', resource: 'coupon' });
  expect((await deals.client.get(`/orders/${order.svc_id}`)).body.order.execution_record.errors).toEqual([
    'coupon_not_found',
  ]);
  await deals.invoices(0);
});

test('an order of a deleted customer does not create a new one', async () => {
  const order = await deals.order({
    order_type: 'subscription_creation',
    billing_items: { plans: [planItem(deals.planShown)] },
  });
  await deals.ok(deals.client.delete('/customers/acme'));
  const refused = await execute(order, IN_SVC);
  expect(refused.body).toMatchObject({ status: 404, resource: 'customer' });
  expect((await deals.client.get('/customers')).body.meta.total_count).toBe(0);
});

describe('scheduled orders and expiring forms', () => {
  test('a scheduled order is executed at its time, once', async () => {
    const order = await deals.order(oneOff(), {
      order_form: { execution_mode: 'execute_in_svc', execute_at: '2026-03-12T08:30:00Z' },
    });
    await deals.advanceTo('2026-03-12T08:00:00Z');
    await deals.invoices(0);
    await deals.advanceTo('2026-03-13T08:00:00Z');
    const { order: executed } = await deals.ok(deals.client.get(`/orders/${order.svc_id}`));
    expect(executed).toMatchObject({ status: 'executed', executed_at: '2026-03-12T08:45:00Z' });
    const [invoice] = await deals.invoices(1);
    expect(invoice).toMatchObject({
      svc_id: executed.execution_record.invoice_id,
      issuing_date: '2026-03-12',
      fees_amount_cents: 3000,
    });
  });

  test('a scheduled order that is refused fails and is not tried again', async () => {
    const order = await deals.order(oneOff(), {
      order_form: { execution_mode: 'execute_in_svc', execute_at: '2026-03-12T08:30:00Z' },
    });
    await deals.ok(deals.client.delete('/add_ons/setup'));
    await deals.advanceTo('2026-03-13T08:00:00Z');
    expect((await deals.client.get(`/orders/${order.svc_id}`)).body.order).toMatchObject({
      status: 'failed',
      execution_record: { errors: ['add_on_not_found'] },
    });
  });

  test('an order form expires with the local day, and its quote version with it', async () => {
    await deals.customer({ timezone: 'America/New_York' });
    const version = await deals.quote(oneOff());
    const form = await deals.approve(version, { expires_at: '2026-03-14T12:00:00Z' });
    await deals.advanceTo('2026-03-14T04:39:00Z');
    expect((await deals.client.get(`/order_forms/${form.svc_id}`)).body.order_form.status).toBe('generated');
    await deals.advanceTo('2026-03-14T04:40:00Z');
    expect((await deals.client.get(`/order_forms/${form.svc_id}`)).body.order_form).toMatchObject({
      status: 'expired',
      void_reason: 'expired',
      voided_at: '2026-03-14T04:40:00Z',
    });
    expect((await deals.client.get(`/quote_versions/${version.svc_id}`)).body.quote_version).toMatchObject({
      status: 'voided',
      void_reason: 'cascade_of_expired',
    });
    const late = await deals.client.post(`/order_forms/${form.svc_id}/mark_as_signed`);
    expect(late.body.error_details).toEqual({ status: ['not_signable'] });
    // What expired may be offered again.
    const { quote_version: copy } = await deals.ok(deals.client.post(`/quote_versions/${version.svc_id}/clone`));
    expect(copy).toMatchObject({ version: 2, status: 'draft', void_reason: null, approved_at: null });
  });
});
