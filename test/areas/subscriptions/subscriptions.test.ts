import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Client } from '../../support/client.ts';
import { startService, type TestService } from '../../support/service.ts';

let service: TestService;
let org: Client;
beforeAll(async () => {
  service = await startService();
  org = await service.org();
  await createPlan();
  await createPlan({ code: 'advance', pay_in_advance: true });
});
afterAll(() => service.stop());

const createPlan = (fields: object = {}) =>
  org.post('/plans', {
    plan: {
      name: 'Basic',
      code: 'basic',
      interval: 'monthly',
      amount_cents: 1000,
      amount_currency: 'EUR',
      pay_in_advance: false,
      ...fields,
    },
  });
const create = (fields: object = {}, beside: object = {}) =>
  org.post('/subscriptions', { ...beside, subscription: { plan_code: 'basic', ...fields } });
const ids = (body: { subscriptions: { external_id: string }[] }) => body.subscriptions.map((row) => row.external_id);

describe('creating subscriptions', () => {
  test('a subscription creates its unknown customer, who takes the currency of the plan', async () => {
    const { status, body } = await create({ external_customer_id: 'new', external_id: ' spaced ', name: ' Name ' });
    expect(status).toBe(200);
    expect(body.subscription).toMatchObject({
      external_id: 'spaced',
      name: 'Name',
      external_customer_id: 'new',
      status: 'active',
      billing_time: 'calendar',
      plan: { code: 'basic', interval: 'monthly' },
      applicable_usage_thresholds: [],
      entitlements: [],
    });
    expect((await org.get('/customers/new')).body.customer.currency).toBe('EUR');
  });

  test.each([
    ['no ids', {}, { external_customer_id: ['value_is_mandatory'], external_id: ['value_is_mandatory'] }],
    ['a blank id', { external_customer_id: 'c', external_id: ' ' }, { external_id: ['value_is_mandatory'] }],
    [
      'a wrong billing time',
      { external_customer_id: 'c', external_id: 's', billing_time: 'yearly' },
      { billing_time: ['value_is_invalid'] },
    ],
    [
      'a wrong start',
      { external_customer_id: 'c', external_id: 's', subscription_at: 'soon' },
      { subscription_at: ['invalid_date'] },
    ],
    ['a wrong end', { external_customer_id: 'c', external_id: 's', ending_at: '32' }, { ending_at: ['invalid_date'] }],
    [
      'an end in the past',
      { external_customer_id: 'c', external_id: 's', ending_at: '2020-01-01T00:00:00Z' },
      { ending_at: ['invalid_date'] },
    ],
    [
      'a negative amount in overrides',
      { external_customer_id: 'c', external_id: 's', plan_overrides: { amount_cents: -1 } },
      { 'plan_overrides.amount_cents': ['value_is_out_of_range'] },
    ],
    [
      'rules that are no list',
      { external_customer_id: 'c', external_id: 's', activation_rules: { type: 'payment' } },
      { activation_rules: ['invalid_format'] },
    ],
    [
      'rules of an unknown type',
      { external_customer_id: 'c', external_id: 's', activation_rules: [{ type: 'approval' }] },
      { activation_rules: ['invalid_type'] },
    ],
    [
      'two rules of a type',
      { external_customer_id: 'c', external_id: 's', activation_rules: [{ type: 'payment' }, { type: 'payment' }] },
      { activation_rules: ['duplicated_type'] },
    ],
    [
      'a rule that runs backwards',
      { external_customer_id: 'c', external_id: 's', activation_rules: [{ type: 'payment', timeout_hours: -1 }] },
      { timeout_hours: ['value_must_be_positive_or_zero'] },
    ],
    [
      'an invalid payment method',
      { external_customer_id: 'c', external_id: 's', payment_method: { payment_method_id: 'x' } },
      { payment_method: ['invalid_payment_method'] },
    ],
    [
      'a long order number',
      { external_customer_id: 'c', external_id: 's', purchase_order_number: 'x'.repeat(256) },
      { purchase_order_number: ['value_is_too_long'] },
    ],
    [
      'objects of other types',
      {
        external_customer_id: 'c',
        external_id: 's',
        payment_method: 'x',
        invoice_custom_section: 7,
        consolidate_invoice: 'no way',
      },
      {
        payment_method: ['invalid_payment_method'],
        invoice_custom_section: ['value_is_invalid'],
        consolidate_invoice: ['value_is_invalid'],
      },
    ],
  ])('a subscription with a wrong field is refused: %s', async (_name, fields, details) => {
    const { status, body } = await create(fields);
    expect(status).toBe(422);
    expect(body.error_details).toEqual(details);
  });

  test('an amount is authorized before a subscription is created, or nothing is created', async () => {
    const sandbox = await service.org({ sandbox: true });
    await sandbox.post('/plans', {
      plan: {
        name: 'Plan',
        code: 'plan',
        interval: 'monthly',
        amount_cents: 0,
        amount_currency: 'EUR',
        pay_in_advance: false,
      },
    });
    await sandbox.post('/payment_providers', {
      payment_provider: { type: 'sandbox', code: 'cards', name: 'Cards', emulates: 'stripe' },
    });
    const billing_configuration = {
      payment_provider: 'stripe',
      payment_provider_code: 'cards',
      sync_with_provider: true,
      sync: true,
    };
    await sandbox.post('/customers', { customer: { external_id: 'payer', billing_configuration } });
    const method = async (card_number: string) =>
      (await sandbox.post('/customers/payer/payment_methods', { payment_method: { card_number } })).body.payment_method;
    const ask = (payment_method_id: string, amount_cents: number) =>
      sandbox.post('/subscriptions', {
        subscription: {
          external_customer_id: 'payer',
          external_id: 'authorized',
          plan_code: 'plan',
          payment_method: { payment_method_type: 'provider', payment_method_id },
        },
        authorization: { amount_cents, amount_currency: 'EUR' },
      });
    const [good, bad] = [await method('4242424242424242'), await method('4000000000000002')];
    expect((await ask(bad.svc_id, 100)).body).toEqual({
      status: 422,
      error: 'Unprocessable Entity',
      code: 'provider_error',
      provider: { code: 'cards' },
      error_details: {
        code: 'card_declined',
        message: 'Your card was declined.',
        request_id: null,
        http_status: 402,
        http_body: null,
      },
    });
    expect((await ask(good.svc_id, 49)).body.error_details.code).toBe('amount_too_small');
    expect((await ask(good.svc_id, 0)).body.error_details).toEqual({
      'authorization.amount_cents': ['value_is_out_of_range'],
    });
    expect((await sandbox.get('/subscriptions/authorized')).status).toBe(404);
    const { status, body } = await ask(good.svc_id, 100);
    expect(status).toBe(200);
    expect(body.subscription.external_id).toBe('authorized');
    expect(body.authorization).toEqual({
      id: expect.any(String),
      object: 'payment_intent',
      amount: 100,
      amount_capturable: 100,
      status: 'requires_capture',
    });
  });

  test('an authorization requires a Stripe customer with a payment method', async () => {
    const beside = { authorization: { amount_cents: 100, amount_currency: 'EUR' } };
    const ask = (id: string) => create({ external_customer_id: id, external_id: `sub of ${id}` }, beside);
    expect((await ask('nobody')).body).toEqual({
      status: 422,
      error: 'Unprocessable Entity',
      code: 'stripe_required',
      error_details: {},
    });
    await org.post('/customers', { customer: { external_id: 'striped' } });
    await service.sql`update customers set payment_provider = 'stripe' where external_id = 'striped'`;
    expect((await ask('striped')).body.error_details).toEqual({
      payment_method_id: ['customer_has_no_payment_method'],
    });
    expect((await org.get('/customers/nobody')).status).toBe(404);
    expect((await org.get('/subscriptions/sub of striped')).status).toBe(404);
  });

  test('a subscription without its root key is refused with 400, with an unknown plan or entity with 404', async () => {
    const beside = { authorization: { amount_cents: 100, amount_currency: 'EUR' } };
    expect((await org.post('/subscriptions', beside)).status).toBe(400);
    const plan = await create({ external_customer_id: 'c', external_id: 's', plan_code: 'none' });
    expect(plan.body).toMatchObject({ status: 404, resource: 'plan' });
    const entity = await create({ external_customer_id: 'c', external_id: 's', billing_entity_code: 'none' });
    expect(entity.body).toMatchObject({ status: 404, resource: 'billing_entity' });
    expect((await org.get('/customers/c')).status).toBe(404);
  });

  test('an external id in use belongs to one customer', async () => {
    await create({ external_customer_id: 'first', external_id: 'taken' });
    const { status, body } = await create({ external_customer_id: 'second', external_id: 'taken' });
    expect(status).toBe(422);
    expect(body.error_details).toEqual({ external_id: ['value_already_exist'] });
  });

  test('twenty identical creations at the same time make one subscription', async () => {
    const answers = await Promise.all(
      Array.from({ length: 20 }, () =>
        create({ external_customer_id: 'crowd', external_id: 'crowd', plan_code: 'advance' }),
      ),
    );
    expect(answers.map(({ status }) => status)).toEqual(Array(20).fill(200));
    expect(new Set(answers.map(({ body }) => body.subscription.svc_id)).size).toBe(1);
  });
});

describe('updating subscriptions', () => {
  test('editable fields of a subscription change, and frozen ones may be sent unchanged', async () => {
    await create({ external_customer_id: 'upd', external_id: 'upd' });
    const { status, body } = await org.put('/subscriptions/upd', {
      subscription: {
        name: 'Renamed',
        ending_at: '2099-01-01T00:00:00Z',
        purchase_order_number: ' PO ',
        plan_code: 'basic',
        billing_time: 'calendar',
        on_termination_credit_note: 'refund',
        on_termination_invoice: 'skip',
      },
    });
    expect(status).toBe(200);
    expect(body.subscription).toMatchObject({
      name: 'Renamed',
      ending_at: '2099-01-01T00:00:00Z',
      purchase_order_number: 'PO',
      on_termination_credit_note: null,
      on_termination_invoice: 'skip',
    });
    const cleared = await org.put('/subscriptions/upd', { subscription: { ending_at: null, name: null } });
    expect(cleared.body.subscription).toMatchObject({ ending_at: null, name: null });
  });

  test.each([
    [{ plan_code: 'advance' }, { plan_code: ['value_is_frozen'] }],
    [{ billing_time: 'anniversary' }, { billing_time: ['value_is_frozen'] }],
    [{ subscription_at: '2020-01-01T00:00:00Z' }, { subscription_at: ['value_is_frozen'] }],
    [{ on_termination_invoice: 'maybe' }, { on_termination_invoice: ['invalid_value'] }],
  ])('a subscription update with %o is refused', async (fields, details) => {
    await create({ external_customer_id: 'frozen', external_id: 'frozen' });
    const { status, body } = await org.put('/subscriptions/frozen', { subscription: fields });
    expect(status).toBe(422);
    expect(body.error_details).toEqual(details);
  });

  test('a start moved to today starts the subscription and bills a plan in advance; an unknown one is refused with 404', async () => {
    await create({
      external_customer_id: 'moved',
      external_id: 'moved',
      plan_code: 'advance',
      subscription_at: '2090-01-01T00:00:00Z',
    });
    const { body } = await org.put('/subscriptions/moved?status=pending', {
      subscription: { subscription_at: new Date().toISOString() },
    });
    expect(body.subscription.status).toBe('active');
    expect((await org.put('/subscriptions/none', { subscription: { name: 'x' } })).body.resource).toBe('subscription');
  });
});

describe('reading subscriptions', () => {
  test('subscriptions are listed with filters, in order and in pages', async () => {
    const other = await service.org();
    await other.post('/plans', {
      plan: {
        name: 'P',
        code: 'p',
        interval: 'monthly',
        amount_cents: 1,
        amount_currency: 'USD',
        pay_in_advance: false,
      },
    });
    for (const [index, external_id] of ['a', 'b', 'c'].entries()) {
      await other.post('/subscriptions', {
        subscription: {
          external_customer_id: `customer-${external_id}`,
          external_id,
          plan_code: 'p',
          subscription_at: `2024-01-0${index + 1}T00:00:00Z`,
        },
      });
    }
    await other.delete('/subscriptions/a');
    expect(ids((await other.get('/subscriptions')).body)).toEqual(['c', 'b']);
    expect(ids((await other.get('/subscriptions?status[]=terminated')).body)).toEqual(['a']);
    expect(ids((await other.get('/subscriptions?status[]=strange')).body)).toEqual(['c', 'b', 'a']);
    expect(ids((await other.get('/subscriptions?external_customer_id=customer-b')).body)).toEqual(['b']);
    expect(
      ids((await other.get('/subscriptions?plan_code=p&currency=USD&overridden=false&external_id=c')).body),
    ).toEqual(['c']);
    expect(ids((await other.get('/subscriptions?overridden=true')).body)).toEqual([]);
    expect(ids((await other.get('/customers/customer-c/subscriptions')).body)).toEqual(['c']);
    const page = (await other.get('/subscriptions?per_page=1&page=2')).body;
    expect(page.meta).toEqual({ current_page: 2, next_page: null, prev_page: 1, total_pages: 2, total_count: 2 });
    expect((await other.get('/customers/none/subscriptions')).body.resource).toBe('customer');
    expect((await other.get('/subscriptions?billing_entity_codes[]=none')).body.resource).toBe('billing_entity');
  });

  test('a subscription is read by its external id and status', async () => {
    await create({ external_customer_id: 'lineage', external_id: 'lineage' });
    await org.delete('/subscriptions/lineage');
    expect((await org.get('/subscriptions/lineage')).body).toMatchObject({ status: 404, resource: 'subscription' });
    expect((await org.get('/subscriptions/lineage?status=terminated')).body.subscription.status).toBe('terminated');
  });
});
