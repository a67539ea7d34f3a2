import { afterAll, beforeAll, beforeEach, describe, expect, onTestFinished, test } from 'vitest';
import { violationsOf } from '../../contract/check-webhook.ts';
import { countStatements } from '../../support/count-statements.ts';
import { openHookReceiver } from '../../support/hook-receiver.ts';
import { startService, type TestService } from '../../support/service.ts';
import { addOnItem, type Deals, openDeals, planItem, type Shown, walletItem } from './execute-orders/deals.ts';

// Quotes, order forms and orders: quotes.md.
const NOW = '2026-03-10T12:00:00Z';
const NOBODY = '018f0000-0000-7000-8000-000000000000';
let service: TestService;
let deals: Deals;

beforeAll(async () => {
  // Commands on one quote wait for each other: a busy machine takes its time.
  service = await startService();
});
afterAll(() => service.stop());
beforeEach(async () => {
  deals = await openDeals(service, NOW);
});

const oneOff = (fields: object = {}) => ({
  order_type: 'one_off',
  billing_items: { addOns: [addOnItem(deals.addOn)] },
  ...fields,
});
const plans = (...items: object[]) => ({ order_type: 'subscription_creation', billing_items: { plans: items } });
const detailsOf = async (answer: Promise<{ body: Shown }>) => (await answer).body.error_details;
const createFaults = (quote: object) =>
  detailsOf(deals.client.post('/quotes', { quote: { external_customer_id: 'acme', ...quote } }));
const approve = (version: Shown, body?: object) => deals.client.post(`/quote_versions/${version.svc_id}/approve`, body);

describe('quotes', () => {
  test('a quote has a number and owners and shows its current version', async () => {
    const { body } = await deals.client.post('/quotes', {
      quote: {
        external_customer_id: 'acme',
        ...oneOff(),
        content: '<p>Hello</p>',
        owners: ['Ann@acme.test', { email: 'bob@acme.test' }, 'ann@acme.test'],
      },
    });
    const { quote } = body;
    expect(quote).toMatchObject({
      number: 'QT-2026-0001',
      order_type: 'one_off',
      svc_subscription_id: null,
      created_at: NOW,
      current_version: { version: 1, status: 'draft', currency: 'USD', void_reason: null, approved_at: null },
      owners: [{ email: 'ann@acme.test' }, { email: 'bob@acme.test' }],
    });
    expect((await deals.client.get(`/quotes/${quote.svc_id}`)).body.quote).toEqual(quote);
    const { quotes, meta } = (await deals.client.get(`/quotes?owner_id[]=${quote.owners[1].svc_id}`)).body;
    const { owners: _owners, ...listed } = quote;
    expect(quotes).toEqual([listed]);
    expect(meta.total_count).toBe(1);
    const { quote_version: version } = (await deals.client.get(`/quote_versions/${quote.current_version.svc_id}`)).body;
    expect(version).toEqual({
      ...quote.current_version,
      content: '<p>Hello</p>',
      billing_items: { addOns: [addOnItem(deals.addOn)] },
    });
    const again = await deals.client.post('/quotes', {
      quote: { external_customer_id: 'acme', order_type: 'one_off', owners: [{ svc_id: quote.owners[0].svc_id }] },
    });
    expect(again.body.quote).toMatchObject({ number: 'QT-2026-0002', owners: [quote.owners[0]] });
  });

  test('a quote takes its currency from the customer, else from the billing entity', async () => {
    await deals.ok(deals.client.post('/customers', { customer: { external_id: 'new' } }));
    const { quote } = await deals.ok(
      deals.client.post('/quotes', { quote: { external_customer_id: 'new', order_type: 'one_off' } }),
    );
    const entity = (await deals.client.get('/billing_entities')).body.billing_entities[0];
    expect(quote.current_version).toMatchObject({
      currency: entity.default_currency,
      billing_entity_code: entity.code,
    });
  });

  test('a quote with wrong input is refused with its reason', async () => {
    expect(await createFaults({ order_type: 'gift' })).toEqual({ order_type: ['value_is_invalid'] });
    expect(await createFaults({ order_type: 'one_off', currency: 'XXX' })).toEqual({ currency: ['value_is_invalid'] });
    expect(await createFaults({ order_type: 'one_off', owners: ['nobody'] })).toEqual({
      owners: ['invalid_email_format'],
    });
    expect(await createFaults({ order_type: 'one_off', owners: [NOBODY] })).toEqual({ owners: ['value_is_invalid'] });
    expect(await createFaults({ order_type: 'one_off', owners: [{}] })).toEqual({ owners: ['value_is_mandatory'] });
    expect(await createFaults({ order_type: 'one_off', external_subscription_id: 'sub' })).toEqual({
      external_subscription_id: ['not_supported_for_order_type'],
    });
    const missing = async (quote: object) => (await deals.client.post('/quotes', { quote })).body.resource;
    expect(await missing({ external_customer_id: 'nobody', order_type: 'one_off' })).toBe('customer');
    const amendment = { external_customer_id: 'acme', order_type: 'subscription_amendment' };
    expect(await missing(amendment)).toBe('subscription');
    expect(await missing({ ...amendment, external_subscription_id: 'nothing' })).toBe('subscription');
    expect(await missing({ external_customer_id: 'acme', order_type: 'one_off', billing_entity_code: 'x' })).toBe(
      'billing_entity',
    );
    expect((await deals.client.post('/quotes', { quote: {} })).status).toBe(400);
    expect((await deals.client.get('/quotes')).body.meta.total_count).toBe(0);
  });

  test('a quote that amends a subscription names neither currency nor billing entity', async () => {
    await deals.subscribe({ plan_code: 'basic' });
    const amendment = { order_type: 'subscription_amendment', external_subscription_id: 'sub' };
    const entity = (await deals.client.get('/billing_entities')).body.billing_entities[0];
    expect(await createFaults({ ...amendment, currency: 'EUR', billing_entity_code: entity.code })).toEqual({
      currency: ['not_supported_for_order_type'],
      billing_entity_code: ['not_supported_for_order_type'],
    });
    const two = { plans: [planItem(deals.planShown), planItem(deals.planShown)] };
    expect(await createFaults({ ...amendment, billing_items: two })).toEqual({
      'billing_items.plans': ['single_plan_expected'],
    });
    expect(await deals.quote({ ...amendment, currency: 'USD' })).toMatchObject({ currency: 'USD' });
  });
});

describe('billing items of a draft quote', () => {
  test.each([
    ['one_off', 'text', { billing_items: ['invalid_type'] }],
    ['one_off', { plans: [] }, { 'billing_items.plans': ['unsupported_key'] }],
    ['subscription_creation', { addOns: [] }, { 'billing_items.addOns': ['unsupported_key'] }],
    ['one_off', { addOns: {} }, { 'billing_items.addOns': ['invalid_type'] }],
    ['one_off', { addOns: [7] }, { 'billing_items.addOns.0': ['invalid_type'] }],
    ['one_off', { addOns: Array(101).fill({}) }, { 'billing_items.addOns': ['invalid_count'] }],
    [
      'one_off',
      { addOns: [{ id: 'x', type: 'plan', payload: { units: 0, unitAmountCents: -1, fromDatetime: 'soon' } }] },
      {
        'billing_items.addOns.0.id': ['invalid_format'],
        'billing_items.addOns.0.localId': ['value_is_mandatory'],
        'billing_items.addOns.0.type': ['is_invalid'],
        'billing_items.addOns.0.payload.units': ['invalid_value'],
        'billing_items.addOns.0.payload.unitAmountCents': ['invalid_value'],
        'billing_items.addOns.0.payload.fromDatetime': ['invalid_date'],
      },
    ],
    [
      'subscription_creation',
      {
        plans: [
          {
            id: NOBODY,
            type: 'plan',
            payload: { billingTime: 'lunar', startDate: '2026-02-30', charges: 3 },
            overrides: { amountCurrency: 'EUROS', charges: [{}], usageThresholds: [{ amountCents: 1.5 }] },
          },
        ],
        coupons: [{ id: NOBODY, localId: 'c', type: 'coupon' }],
        walletCredits: [{ localId: 'w', type: 'wallet_credit', payload: { rateAmount: 'much', appliesTo: [] } }],
      },
      {
        'billing_items.plans.0.payload.billingTime': ['invalid_value'],
        'billing_items.plans.0.payload.startDate': ['invalid_date'],
        'billing_items.plans.0.payload.charges': ['invalid_type'],
        'billing_items.plans.0.overrides.amountCurrency': ['invalid_currency'],
        'billing_items.plans.0.overrides.charges.0.billableMetricCode': ['value_is_mandatory'],
        'billing_items.plans.0.overrides.usageThresholds.0.amountCents': ['invalid_value'],
        'billing_items.coupons.0.payload': ['value_is_mandatory'],
        'billing_items.walletCredits.0.payload.rateAmount': ['invalid_type'],
        'billing_items.walletCredits.0.payload.appliesTo': ['invalid_type'],
      },
    ],
  ])(
    'a wrong billing item is refused by its form: example %# of a quote of type %s',
    async (orderType, billingItems, faults) => {
      expect(await createFaults({ order_type: orderType, billing_items: billingItems })).toEqual(faults);
    },
  );

  test('a draft quote may leave out what only the approval needs, and follows the currency of the deal', async () => {
    const version = await deals.quote({
      order_type: 'subscription_creation',
      billing_items: {
        plans: [planItem(deals.planShown, { unheard: 1 }, { overrides: { amountCents: 900, amountCurrency: 'USD' } })],
        walletCredits: [walletItem({ currency: 'USD' }), { localId: 'w', type: 'wallet_credit', payload: {} }],
        unheard: [],
      },
    });
    const { body } = await deals.client.put(`/quote_versions/${version.svc_id}`, {
      quote_version: { currency: 'EUR', content: 'In euros' },
    });
    expect(body.quote_version).toMatchObject({ currency: 'EUR', content: 'In euros' });
    expect(body.quote_version.billing_items).toEqual({
      plans: [planItem(deals.planShown, {}, { overrides: { amountCents: 900, amountCurrency: 'EUR' } })],
      walletCredits: [walletItem({ currency: 'EUR' }), { localId: 'w', type: 'wallet_credit', payload: {} }],
    });
    const back = await deals.client.put(`/quote_versions/${version.svc_id}`, {
      quote_version: { currency: null, billing_items: null },
    });
    expect(back.body.quote_version).toMatchObject({ currency: 'USD', content: 'In euros', billing_items: null });
  });
});

describe('approving a quote', () => {
  const faultsOf = async (quote: object, body?: object) => detailsOf(approve(await deals.quote(quote), body));

  test('an approval requires all that the order needs', async () => {
    expect(await faultsOf({ order_type: 'one_off' })).toEqual({ 'billing_items.addOns': ['value_is_mandatory'] });
    expect(await faultsOf(plans())).toEqual({ 'billing_items.plans': ['value_is_mandatory'] });
    expect(
      await faultsOf({
        order_type: 'one_off',
        billing_items: { addOns: [{ id: deals.addOn.svc_id, localId: 'a', type: 'add_on', payload: {} }] },
      }),
    ).toEqual(
      Object.fromEntries(
        ['code', 'units', 'unitAmountCents', 'totalAmountCents'].map((field) => [
          `billing_items.addOns.0.payload.${field}`,
          ['value_is_mandatory'],
        ]),
      ),
    );
    const rule = { trigger: 'interval', interval: 'monthly' };
    expect(
      await faultsOf({
        order_type: 'subscription_creation',
        billing_items: {
          plans: [planItem(deals.planShown)],
          walletCredits: [
            { localId: 'w', type: 'wallet_credit', payload: { recurringTransactionRules: [rule, rule] } },
          ],
        },
      }),
    ).toEqual({
      'billing_items.walletCredits.0.payload.paidCredits': ['value_is_mandatory'],
      'billing_items.walletCredits.0.payload.grantedCredits': ['value_is_mandatory'],
      'billing_items.walletCredits.0.payload.rateAmount': ['value_is_mandatory'],
      'billing_items.walletCredits.0.payload.recurringTransactionRules': ['invalid_count'],
    });
  });

  test('an approval checks add-ons and their terms', async () => {
    const items = [
      addOnItem(deals.addOn, { totalAmountCents: 2999 }),
      addOnItem(deals.addOn, { code: 'other', fromDatetime: '2026-04-02' }),
      addOnItem({ svc_id: NOBODY, code: 'gone' }, { fromDatetime: '2026-04-02', toDatetime: '2026-04-01' }),
    ];
    expect(await faultsOf({ order_type: 'one_off', billing_items: { addOns: items } })).toEqual({
      'billing_items.addOns.0.payload.totalAmountCents': ['invalid_value'],
      'billing_items.addOns.1.payload.code': ['add_on_not_found'],
      'billing_items.addOns.1.payload.toDatetime': ['value_is_mandatory'],
      'billing_items.addOns.2.id': ['add_on_not_found'],
      'billing_items.addOns.2.payload.toDatetime': ['invalid_date_range'],
    });
  });

  test('an approval checks plans, their charges and their dates', async () => {
    const { billable_metric: metric } = await deals.ok(
      deals.client.post('/billable_metrics', {
        billable_metric: { name: 'Calls', code: 'calls', aggregation_type: 'count_agg' },
      }),
    );
    const charge = { billable_metric_id: metric.svc_id, charge_model: 'standard', properties: { amount: '1' } };
    await deals.plan({
      code: 'metered',
      amount_cents: 100,
      charges: [
        { ...charge, pay_in_advance: true, code: 'one' },
        {
          ...charge,
          code: 'two',
          charge_model: 'package',
          properties: { amount: '1', package_size: 10, free_units: 0 },
        },
        {
          ...charge,
          code: 'three',
          charge_model: 'package',
          properties: { amount: '2', package_size: 5, free_units: 0 },
        },
      ],
    });
    const { plan } = await deals.ok(deals.client.get('/plans/metered'));
    const change = { billableMetricCode: 'calls' };
    const two = plan.charges.find(({ code }: Shown) => code === 'two');
    expect(
      await faultsOf(
        plans(
          planItem(
            plan,
            {
              endDate: '2026-03-10',
              startDate: '2026-03-11',
              paymentMethodId: NOBODY,
              charges: [
                { id: NOBODY, chargeModel: 'standard' },
                { id: two.svc_id, chargeModel: 'volume' },
              ],
            },
            {
              overrides: {
                charges: [
                  { billableMetricCode: 'other' },
                  { ...change, chargeModel: 'graduated' },
                  { ...change, chargeModel: 'standard', minAmountCents: 5, properties: { amount: 'x' } },
                ],
                fixedCharges: [{ addOnCode: 'setup', units: '2' }],
              },
            },
          ),
          planItem({ svc_id: NOBODY, code: 'gone' }, {}, { localId: 'gone' }),
          planItem(deals.planShown, { subscriptionExternalId: 'main' }, { localId: 'third' }),
        ),
      ),
    ).toEqual({
      'billing_items.plans.0.payload.endDate': ['invalid_date', 'invalid_date_range'],
      'billing_items.plans.0.payload.paymentMethodId': ['payment_method_not_found'],
      'billing_items.plans.0.payload.charges.0.id': ['charge_not_found'],
      'billing_items.plans.0.payload.charges.1.chargeModel': ['charge_model_changed'],
      'billing_items.plans.0.overrides.charges.0.billableMetricCode': ['charge_not_found'],
      'billing_items.plans.0.overrides.charges.1.chargeModel': ['cannot_override_charge_model'],
      'billing_items.plans.0.overrides.charges.2.minAmountCents': ['not_compatible_with_pay_in_advance'],
      'billing_items.plans.0.overrides.charges.2.properties': ['invalid_value'],
      'billing_items.plans.0.overrides.fixedCharges.0.addOnCode': ['fixed_charge_not_found'],
      'billing_items.plans.1.id': ['plan_not_found'],
      'billing_items.plans.2.payload.subscriptionExternalId': ['invalid_value'],
    });
    const ambiguous = { overrides: { charges: [{ ...change, chargeModel: 'package', minAmountCents: 5 }] } };
    expect(await faultsOf(plans(planItem(plan, {}, ambiguous)))).toEqual({
      'billing_items.plans.0.overrides.charges.0.billableMetricCode': ['ambiguous_charge_override'],
    });
    // The payload says which one is meant.
    const named = await approve(await deals.quote(plans(planItem(plan, { charges: [{ id: two.svc_id }] }, ambiguous))));
    expect(named.status, named.text).toBe(200);
  });

  test('an approval checks fixed charges: changes made since, and which of two is meant', async () => {
    const fixed = { add_on_code: 'setup', charge_model: 'standard', units: 1, properties: { amount: '5' } };
    await deals.plan({ code: 'fixed', amount_cents: 100, fixed_charges: [{ ...fixed, code: 'a' }] });
    await deals.plan({
      code: 'twice',
      amount_cents: 100,
      fixed_charges: [
        { ...fixed, code: 'a' },
        { ...fixed, code: 'b' },
      ],
    });
    const [one, twice] = await Promise.all(
      ['fixed', 'twice'].map(async (code) => (await deals.ok(deals.client.get(`/plans/${code}`))).plan),
    );
    const overrides = { overrides: { fixedCharges: [{ addOnCode: 'setup', units: '2' }] } };
    expect(
      await faultsOf(
        plans(
          planItem(one, { fixedCharges: [{ id: one.fixed_charges[0].svc_id, chargeModel: 'volume' }, { id: NOBODY }] }),
          planItem(twice, {}, { localId: 'twice', ...overrides }),
        ),
      ),
    ).toEqual({
      'billing_items.plans.0.payload.fixedCharges.0.chargeModel': ['fixed_charge_model_changed'],
      'billing_items.plans.0.payload.fixedCharges.1.id': ['fixed_charge_not_found'],
      'billing_items.plans.1.overrides.fixedCharges.0.addOnCode': ['ambiguous_fixed_charge_override'],
    });
  });

  test('an approval checks coupons of a plan and an archived billing entity', async () => {
    const { coupon } = await deals.ok(
      deals.client.post('/coupons', {
        coupon: {
          name: 'Half',
          code: 'half',
          coupon_type: 'percentage',
          percentage_rate: 50,
          frequency: 'forever',
          expiration: 'no_expiration',
          applies_to: { plan_codes: ['basic'] },
        },
      }),
    );
    await deals.ok(
      deals.client.post('/applied_coupons', { applied_coupon: { external_customer_id: 'acme', coupon_code: 'half' } }),
    );
    await deals.ok(deals.client.post('/billing_entities', { billing_entity: { code: 'branch', name: 'Branch' } }));
    const version = await deals.quote({
      order_type: 'subscription_creation',
      billing_entity_code: 'branch',
      billing_items: {
        plans: [planItem(deals.planShown)],
        coupons: [{ id: coupon.svc_id, localId: 'c', type: 'coupon', payload: { code: 'half', type: 'percentage' } }],
      },
    });
    expect(version.billing_entity_code).toBe('branch');
    await deals.ok(deals.client.post('/billing_entities/branch/archive'));
    expect(await detailsOf(approve(version))).toEqual({
      'billing_items.coupons.0.id': ['plan_overlapping'],
      billing_entity_code: ['billing_entity_not_found'],
    });
  });

  test('an approval checks coupons, wallets and currencies', async () => {
    const coupon = async (code: string, fields: object) =>
      (
        await deals.ok(
          deals.client.post('/coupons', {
            coupon: { name: 'C', code, frequency: 'once', expiration: 'no_expiration', ...fields },
          }),
        )
      ).coupon;
    const ten = await coupon('ten', { coupon_type: 'fixed_amount', amount_cents: 10, amount_currency: 'USD' });
    const once = await coupon('once', { coupon_type: 'percentage', percentage_rate: 5, reusable: false });
    const item = ({ svc_id: id, code }: Shown, type: string) => ({
      id,
      localId: code,
      type: 'coupon',
      payload: { code, type },
    });
    expect(
      await faultsOf({
        order_type: 'subscription_creation',
        currency: 'EUR',
        billing_items: {
          plans: [planItem(deals.planShown)],
          coupons: [
            item(ten, 'percentage'),
            item(once, 'percentage'),
            item(once, 'percentage'),
            item({ svc_id: NOBODY, code: 'gone' }, 'percentage'),
          ],
          walletCredits: [
            walletItem({
              rateAmount: '0',
              expirationAt: '2026-01-01T00:00:00Z',
              appliesTo: { feeTypes: ['credit'], billableMetricCodes: ['gone'] },
              recurringTransactionRules: [{ trigger: 'interval' }],
            }),
            walletItem({ grantedCredits: '0.001' }),
            walletItem({ paidCredits: '90071992547409921' }),
          ],
        },
      }),
    ).toEqual({
      'billing_items.plans.0.overrides.amountCurrency': ['currencies_does_not_match'],
      'billing_items.coupons.0.payload.type': ['coupon_type_does_not_match'],
      'billing_items.coupons.0.overrides.amountCurrency': ['currencies_does_not_match'],
      'billing_items.coupons.2.id': ['coupon_is_not_reusable'],
      'billing_items.coupons.3.id': ['coupon_not_found'],
      'billing_items.walletCredits.0.payload.rateAmount': ['invalid_value'],
      'billing_items.walletCredits.0.payload.expirationAt': ['invalid_date'],
      'billing_items.walletCredits.0.payload.recurringTransactionRules.0': ['invalid_value'],
      'billing_items.walletCredits.0.payload.appliesTo.feeTypes': ['invalid_value'],
      'billing_items.walletCredits.0.payload.appliesTo.billableMetricCodes': ['billable_metric_not_found'],
      'billing_items.walletCredits.1.payload.grantedCredits': ['invalid_value'],
      'billing_items.walletCredits.2.payload.paidCredits': ['invalid_value'],
    });
  });

  test('an approved quote must end before its deal does', async () => {
    const quote = plans(planItem(deals.planShown, { endDate: '2026-06-01' }));
    expect(await faultsOf(quote, { expires_at: 'soon' })).toEqual({ expires_at: ['invalid_date'] });
    expect(await faultsOf(quote, { expires_at: '2026-03-10T11:59:59Z' })).toEqual({ expires_at: ['invalid_date'] });
    expect(await faultsOf(quote, { expires_at: '2026-06-01T00:00:00Z' })).toEqual({
      expires_at: ['after_deal_expiration'],
    });
    const version = await deals.quote(quote);
    const form = await deals.approve(version, { expires_at: '2026-05-31T23:00:00Z' });
    expect(form).toMatchObject({
      number: 'OF-2026-0001',
      status: 'generated',
      expires_at: '2026-05-31T23:00:00Z',
      signed_document_url: null,
    });
    const sign = (orderForm: object) =>
      detailsOf(deals.client.post(`/order_forms/${form.svc_id}/mark_as_signed`, { order_form: orderForm }));
    expect(await sign({ execute_at: '2026-04-01T00:00:00Z' })).toEqual({ execution_mode: ['value_is_mandatory'] });
    const mode = { execution_mode: 'order_only' };
    expect(await sign({ ...mode, execute_at: '2026-06-02T00:00:00Z' })).toEqual({
      execute_at: ['after_deal_expiration'],
    });
    expect(await sign({ ...mode, execute_at: '2026-03-01T00:00:00Z' })).toEqual({ execute_at: ['invalid_date'] });
    expect(await sign({ execution_mode: 'later' })).toEqual({ execution_mode: ['value_is_invalid'] });
  });
});

test('each state of a quote version allows only its own moves', async () => {
  const refused = async (path: string) => detailsOf(deals.client.post(path));
  const draft = await deals.quote(oneOff());
  const { quote_version: second } = await deals.ok(deals.client.post(`/quote_versions/${draft.svc_id}/clone`));
  expect(second).toMatchObject({ version: 2, status: 'draft', billing_items: oneOff().billing_items });
  const first = (await deals.client.get(`/quote_versions/${draft.svc_id}`)).body.quote_version;
  expect(first).toMatchObject({ status: 'voided', void_reason: 'superseded', voided_at: NOW });
  expect(await refused(`/quote_versions/${draft.svc_id}/approve`)).toEqual({ status: ['not_approvable'] });
  expect(await refused(`/quote_versions/${draft.svc_id}/void`)).toEqual({ status: ['not_voidable'] });
  const edited = deals.client.put(`/quote_versions/${draft.svc_id}`, { quote_version: { content: 'x' } });
  expect(await detailsOf(edited)).toEqual({ status: ['not_editable'] });

  const form = await deals.approve(second);
  expect(await refused(`/quote_versions/${second.svc_id}/void`)).toEqual({ status: ['not_voidable'] });
  expect(await refused(`/quote_versions/${draft.svc_id}/clone`)).toEqual({ status: ['not_clonable'] });
  const { order_form: voided } = await deals.ok(deals.client.post(`/order_forms/${form.svc_id}/void`));
  expect(voided).toMatchObject({ status: 'voided', void_reason: 'manual', voided_at: NOW });
  expect(await refused(`/order_forms/${form.svc_id}/void`)).toEqual({ status: ['not_voidable'] });
  expect(await refused(`/order_forms/${form.svc_id}/mark_as_signed`)).toEqual({ status: ['not_signable'] });
  const cascaded = (await deals.client.get(`/quote_versions/${second.svc_id}`)).body.quote_version;
  expect(cascaded).toMatchObject({ status: 'voided', void_reason: 'cascade_of_voided', approved_at: NOW });

  const { quote_version: third } = await deals.ok(deals.client.post(`/quote_versions/${second.svc_id}/clone`));
  expect(third).toMatchObject({ version: 3, approved_at: null, voided_at: null });
  const { quote_version: manual } = await deals.ok(deals.client.post(`/quote_versions/${third.svc_id}/void`));
  expect(manual).toMatchObject({ status: 'voided', void_reason: 'manual' });
  const { quote_versions: all } = (await deals.client.get(`/quotes/${draft.svc_quote_id}/versions`)).body;
  expect(all.map(({ version }: Shown) => version)).toEqual([3, 2, 1]);
});

test('approvals and clones at the same time leave one live version', async () => {
  const draft = await deals.quote(oneOff());
  const path = `/quote_versions/${draft.svc_id}`;
  const answers = await Promise.all(
    Array.from({ length: 20 }, (_, index) => deals.client.post(`${path}/${index % 2 ? 'approve' : 'clone'}`)),
  );
  expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200, 422]));
  const { quote_versions: versions } = (await deals.client.get(`/quotes/${draft.svc_quote_id}/versions`)).body;
  expect(versions.filter(({ status }: Shown) => status !== 'voided')).toHaveLength(1);
  const { total_count: forms } = (await deals.client.get('/order_forms')).body.meta;
  expect(forms).toBe(versions.filter(({ approved_at: at }: Shown) => at !== null).length);
});

test('a request that waits too long for a locked quote is refused with that reason', async () => {
  const order = await deals.order(oneOff());
  const [{ svc_id: quoteId, current_version: version }] = (await deals.client.get('/quotes')).body.quotes;
  const { client } = deals;
  const [changed, executed] = await service.sql.begin(async (tx) => {
    await tx`select lock_quote(${quoteId}::uuid)`;
    return Promise.all([
      client.post(`/quote_versions/${version.svc_id}/clone`),
      client.post(`/orders/${order.svc_id}/execute`, { order: { execution_mode: 'order_only' } }),
    ]);
  });
  expect(changed).toMatchObject({ status: 422, body: { error_details: { base: ['concurrency_conflict'] } } });
  expect(executed).toMatchObject({ status: 422, body: { code: 'lock_acquisition_failed' } });
  expect((await client.get(`/orders/${order.svc_id}`)).body.order).toMatchObject({ status: 'created' });
});

describe('signed documents', () => {
  const uri = (type: string, content: string | Buffer) =>
    `data:${type};base64,${Buffer.from(content).toString('base64')}`;
  const sign = (form: Shown, document: unknown) =>
    deals.client.post(`/order_forms/${form.svc_id}/mark_as_signed`, { order_form: { signed_document: document } });

  test('a signed document is kept and opens without a key', async () => {
    const form = await deals.approve(await deals.quote(oneOff()));
    const { order_form: signed } = await deals.ok(sign(form, uri('image/png', 'a picture')));
    expect(signed).toMatchObject({ status: 'signed', signed_at: NOW });
    expect((await deals.client.get(`/order_forms/${form.svc_id}`)).body.order_form.signed_document_url).not.toBeNull();
    const { pathname, search } = new URL(signed.signed_document_url);
    const file = await fetch(`${service.url}${pathname}${search}`);
    expect(file.headers.get('content-type')).toBe('image/png');
    expect(file.headers.get('content-disposition')).toContain('OF-2026-0001.png');
    expect(await file.text()).toBe('a picture');
  });

  test('a signed document is a PDF, JPEG or PNG below 10 MiB', async () => {
    const form = await deals.approve(await deals.quote(oneOff()));
    const fault = async (document: unknown) => (await detailsOf(sign(form, document))).signed_document;
    expect(await fault('a picture')).toEqual(['invalid_format']);
    expect(await fault(7)).toEqual(['invalid_format']);
    expect(await fault('data:image/png;base64,*')).toEqual(['invalid_format']);
    expect(await fault(uri('text/html', '<script>'))).toEqual(['invalid_content_type']);
    expect(await fault(uri('application/pdf', Buffer.alloc(10 * 1024 * 1024)))).toEqual(['file_too_large']);
    expect((await deals.client.get(`/order_forms/${form.svc_id}`)).body.order_form.status).toBe('generated');
  });
});

test('quotes are filtered and paged, newest first', async () => {
  await deals.ok(deals.client.post('/customers', { customer: { external_id: 'other', currency: 'USD' } }));
  const order = await deals.order(oneOff({ owners: ['ann@acme.test'] }), {
    order_form: { execution_mode: 'order_only' },
  });
  await deals.ok(deals.client.post(`/orders/${order.svc_id}/execute`));
  const form = await deals.approve(
    await deals.quote(oneOff({ external_customer_id: 'other', owners: ['bob@acme.test'] })),
    { expires_at: '2026-05-01T00:00:00Z' },
  );
  await deals.quote(plans(planItem(deals.planShown)));
  const owner = (await deals.client.get('/quotes?number[]=QT-2026-0001')).body.quotes[0];
  const ann = (await deals.client.get(`/quotes/${owner.svc_id}`)).body.quote.owners[0].svc_id;
  const other = (await deals.client.get('/customers/other')).body.customer.svc_id;
  const numbers = async (path: string) => {
    const { body, text, status } = await deals.client.get(path);
    expect(status, text).toBe(200);
    return (body.quotes ?? body.order_forms ?? body.orders).map(({ number }: Shown) => Number(number.slice(-4)));
  };
  expect(await numbers('/quotes')).toEqual([3, 2, 1]);
  expect(await numbers('/quotes?status[]=draft')).toEqual([3]);
  expect(await numbers('/quotes?status[]=approved&status[]=voided')).toEqual([2, 1]);
  expect(await numbers('/quotes?order_type[]=subscription_creation')).toEqual([3]);
  expect(await numbers('/quotes?external_customer_id[]=other')).toEqual([2]);
  expect(await numbers(`/quotes?owner_id[]=${ann}&owner_id[]=x`)).toEqual([1]);
  expect(await numbers('/quotes?from_date=2026-03-10&to_date=2026-03-10')).toEqual([3, 2, 1]);
  expect(await numbers('/quotes?to_date=2026-03-09')).toEqual([]);
  expect(await numbers('/quotes?to_date=9999-12-31')).toEqual([3, 2, 1]);
  expect(await numbers('/quotes?per_page=1&page=2')).toEqual([2]);
  expect(await numbers('/order_forms')).toEqual([2, 1]);
  expect(await numbers('/order_forms?search_term=of-2026-0002')).toEqual([2]);
  expect(await numbers('/order_forms?status[]=signed')).toEqual([1]);
  expect(await numbers(`/order_forms?customer_id[]=${other}`)).toEqual([2]);
  expect(await numbers('/order_forms?quote_number[]=QT-2026-0001')).toEqual([1]);
  expect(await numbers(`/order_forms?owner_id[]=${ann}`)).toEqual([1]);
  expect(await numbers(`/order_forms?number[]=${form.number}`)).toEqual([2]);
  expect(await numbers('/order_forms?expires_at_from=2026-04-30&expires_at_to=2026-05-01')).toEqual([2]);
  expect(await numbers('/order_forms?created_at_to=2026-03-09')).toEqual([]);
  for (const [query, found] of [
    ['status[]=executed&execution_mode[]=order_only&order_type[]=one_off', [1]],
    ['status[]=failed', []],
    ['search_term=0001', [1]],
    ['search_term=%25', []],
    [`customer_id[]=${other}`, []],
    ['order_form_number[]=OF-2026-0001&quote_number[]=QT-2026-0001', [1]],
    [`owner_id[]=${ann}`, [1]],
    ['executed_at_from=2026-03-10T12:00:00Z&executed_at_to=2026-03-10T12:00:00Z', [1]],
    ['executed_at_from=2026-03-11', []],
  ] as const)
    expect(await numbers(`/orders?${query}`), query).toEqual(found);
  for (const [path, field, code] of [
    ['/quotes?status[]=lost', 'status', 'value_is_invalid'],
    ['/quotes?order_type[]=lost', 'order_type', 'value_is_invalid'],
    ['/quotes?from_date=lost', 'from_date', 'invalid_date'],
    ['/order_forms?status[]=draft', 'status', 'value_is_invalid'],
    ['/order_forms?expires_at_to=lost', 'expires_at_to', 'invalid_date'],
    ['/orders?execution_mode[]=lost', 'execution_mode', 'value_is_invalid'],
    ['/orders?status[]=draft', 'status', 'value_is_invalid'],
  ] as const)
    expect(await detailsOf(deals.client.get(path)), path).toEqual({ [field]: [code] });
});

test('quotes are not visible to another organization', async () => {
  const order = await deals.order(oneOff());
  const form = (await deals.client.get('/order_forms')).body.order_forms[0];
  const stranger = await service.org();
  const lost = async (method: 'get' | 'post' | 'put', path: string, body?: object) => {
    const { status, body: answer } = method === 'get' ? await stranger.get(path) : await stranger[method](path, body);
    expect(status, path).toBe(404);
    return answer.resource;
  };
  expect(await lost('get', `/quotes/${form.svc_quote_id}`)).toBe('quote');
  expect(await lost('get', `/quotes/${form.svc_quote_id}/versions`)).toBe('quote');
  const version = `/quote_versions/${form.svc_quote_version_id}`;
  expect(await lost('get', version)).toBe('quote_version');
  expect(await lost('put', version, { quote_version: { content: 'mine' } })).toBe('quote_version');
  for (const action of ['approve', 'void', 'clone'])
    expect(await lost('post', `${version}/${action}`)).toBe('quote_version');
  expect(await lost('get', `/order_forms/${form.svc_id}`)).toBe('order_form');
  for (const action of ['mark_as_signed', 'void'])
    expect(await lost('post', `/order_forms/${form.svc_id}/${action}`)).toBe('order_form');
  expect(await lost('get', `/orders/${order.svc_id}`)).toBe('order');
  expect(await lost('post', `/orders/${order.svc_id}/execute`, {})).toBe('order');
  expect(await lost('get', '/quotes/nothing')).toBe('quote');
  for (const list of ['quotes', 'order_forms', 'orders'])
    expect((await stranger.get(`/${list}`)).body.meta.total_count).toBe(0);
});

test('every step of a quote is announced and kept in the audit trail', async () => {
  const receiver = await openHookReceiver();
  onTestFinished(() => receiver.close());
  await deals.ok(deals.client.post('/webhook_endpoints', { webhook_endpoint: { webhook_url: receiver.url } }));
  const draft = await deals.quote(oneOff({ content: 'Between us' }));
  await deals.ok(
    deals.client.put(`/quote_versions/${draft.svc_id}`, { quote_version: { billing_items: oneOff().billing_items } }),
  );
  await deals.ok(deals.client.post(`/quote_versions/${draft.svc_id}/clone`));
  const { quotes } = (await deals.client.get('/quotes')).body;
  const form = await deals.approve(quotes[0].current_version);
  const order = await deals.sign(form, {
    order_form: { signed_document: 'data:application/pdf;base64,JVBERg==', execution_mode: 'execute_in_svc' },
  });
  await deals.ok(deals.client.post(`/orders/${order.svc_id}/execute`));
  const ended = await deals.approve(await deals.quote(oneOff()));
  await deals.ok(deals.client.post(`/order_forms/${ended.svc_id}/void`));
  const sent = await service.sql<{ webhook_type: string; payload: string }[]>`
    select webhook_type, payload from webhook_events
    where organization_id = ${deals.organizationId} and webhook_type ~ '^(quote|order)' order by id`;
  expect(sent.map(({ webhook_type }) => webhook_type)).toEqual([
    'quote.created',
    'quote.voided',
    'quote.approved',
    'order_form.created',
    'order_form.signed',
    'order.created',
    'order.executed',
    'quote.created',
    'quote.approved',
    'order_form.created',
    'quote.voided',
    'order_form.voided',
  ]);
  expect(sent.flatMap(({ payload }) => violationsOf(JSON.parse(payload)))).toEqual([]);
  const logged = await service.sql<{ activity_type: string; resource_type: string; text: string }[]>`
    select activity_type, resource_type, activity_object::text || activity_object_changes::text as text
    from activity_logs
    where organization_id = ${deals.organizationId} and activity_type ~ '^(quote|order)' order by id`;
  expect(logged.map(({ activity_type }) => activity_type)).toEqual([
    'quote.created',
    'quote.updated',
    'quote.voided',
    'quote.version_created',
    'quote.approved',
    'order_form.created',
    'order_form.signed',
    'order_form.file_uploaded',
    'order.created',
    'order.executed',
    'quote.created',
    'quote.approved',
    'order_form.created',
    'quote.voided',
    'order_form.voided',
  ]);
  expect(new Set(logged.map(({ resource_type }) => resource_type))).toEqual(new Set(['Quote', 'OrderForm', 'Order']));
  expect(logged.some(({ text }) => text.includes('Between us'))).toBe(false);
});

test.each([
  ['findAllQuotes', 'quotes', {}],
  ['findAllOrderForms', 'order_forms', { owner_id: ['x'] }],
  ['findAllOrders', 'orders', {}],
])('%s takes at most 6 round trips', async (operation, root, query) => {
  await deals.order(oneOff());
  const { roundTrips, body } = await countStatements(service, deals.organizationId, operation, { now: NOW, query });
  expect(body[root]).toBeDefined();
  expect(roundTrips).toBeLessThanOrEqual(6);
});
