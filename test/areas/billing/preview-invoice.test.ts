import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { startService, type TestService } from '../../support/service.ts';
import { type Invoice, openStory, type Story } from '../../support/story.ts';
import { until } from '../../support/until.ts';

// Previews: previews.md. What is previewed is what later comes, and nothing is stored.
let service: TestService;
let story: Story;

beforeAll(async () => {
  service = await startService();
});
afterAll(() => service.stop());

beforeEach(async () => {
  story = await openStory(service, '2024-03-15T08:00:00Z');
  await story.client.post('/taxes', { tax: { name: 'VAT', code: 'vat', rate: '20', applied_to_organization: true } });
});

const ask = (body: object) => story.client.post('/invoices/preview', body);
const preview = async (body: object): Promise<Invoice> => {
  const { status, text, body: answer } = await ask(body);
  expect(status, text).toBe(200);
  return answer.invoice;
};

const ROWS = ['invoices', 'fees', 'subscriptions', 'customers', 'invoice_subscriptions', 'ledger_transactions'];
const countOf = async (table: string) => {
  const [row] = await service.sql<{ count: number }[]>`
    select count(*) from ${service.sql(table)} where organization_id = ${story.organizationId}`;
  return row!.count;
};

/** Rows there are once no work is owed: what a preview must not change. */
async function rowCounts() {
  await until(async () => (await countOf('after_steps')) === 0);
  return Promise.all(ROWS.map(async (table) => [table, await countOf(table)]));
}

/** What has to be the same: figures, windows, dates. */
const essence = (invoice: Invoice) => ({
  currency: invoice.currency,
  issuing_date: invoice.issuing_date,
  payment_due_date: invoice.payment_due_date,
  fees_amount_cents: invoice.fees_amount_cents,
  taxes_amount_cents: invoice.taxes_amount_cents,
  total_amount_cents: invoice.total_amount_cents,
  payment_status: invoice.payment_status,
  periods: invoice.billing_periods.map(periodEssence),
  taxes: invoice.applied_taxes.map((tax: Invoice) => [tax.tax_code, tax.amount_cents, tax.fees_amount_cents]),
  fees: invoice.fees.map((fee: Invoice) => [
    fee.item.type,
    fee.item.code,
    fee.amount_cents,
    fee.precise_amount,
    fee.taxes_amount_cents,
    fee.units,
    fee.events_count,
    fee.from_date,
    fee.to_date,
  ]),
});

/** Windows without length bill nothing: a preview opens them with the day, the run with its tick. */
function periodEssence({ svc_subscription_id: _id, external_subscription_id: _external, ...period }: Invoice) {
  const windows = ['charges', 'fixed_charges'].flatMap((kind) => {
    const [from, to] = [period[`${kind}_from_datetime`], period[`${kind}_to_datetime`]];
    return from === to ? [] : [[kind, from, to]];
  });
  const { subscription_from_datetime, subscription_to_datetime, svc_plan_id, invoicing_reason } = period;
  return { subscription_from_datetime, subscription_to_datetime, svc_plan_id, invoicing_reason, windows };
}

async function metered(fields: object = {}) {
  const metric = await story.metric('calls');
  await story.plan({
    amount_cents: 3100,
    charges: [
      {
        billable_metric_id: metric.svc_id,
        charge_model: 'standard',
        properties: { amount: '0.333' },
        min_amount_cents: 500,
      },
    ],
    ...fields,
  });
}
const call = (id: string) =>
  story.client.post('/events', { event: { transaction_id: id, external_subscription_id: 'sub', code: 'calls' } });

const ofAcme = (subscriptions: object = {}) => ({
  customer: { external_id: 'acme' },
  subscriptions: { external_ids: ['sub'], ...subscriptions },
});

describe('previews equal to the cent to the later invoice', () => {
  test.each([
    [{ pay_in_advance: false }, {}, '2024-04-02T00:00:00Z'],
    [{ pay_in_advance: true }, {}, '2024-04-02T00:00:00Z'],
    [{ pay_in_advance: true }, { billing_time: 'anniversary' }, '2024-04-16T00:00:00Z'],
    [{ pay_in_advance: false, interval: 'yearly', bill_charges_monthly: true }, {}, '2024-04-02T00:00:00Z'],
    [{ pay_in_advance: false, trial_period: 5 }, {}, '2024-04-02T00:00:00Z'],
  ])(
    'a preview of the next period equals the later invoice: plan %j, subscription %j',
    async (plan, subscription, until) => {
      await story.customer({ timezone: 'America/New_York', net_payment_term: 30 });
      await metered(plan);
      await story.subscribe(subscription);
      const started = plan.pay_in_advance && !('trial_period' in plan) ? 1 : 0;
      await story.invoices(started);
      await story.advanceTo('2024-03-20T00:00:00Z');
      for (const id of ['1', '2', '3']) await call(id);
      const before = await rowCounts();
      const shown = await preview(ofAcme());
      expect(await rowCounts()).toEqual(before);
      expect(shown).toMatchObject({ status: 'draft', number: expect.stringMatching(/-DRAFT$/) });
      expect(shown).not.toHaveProperty('sequential_id');

      await story.advanceTo(until);
      const invoices = await story.invoices(started + 1);
      expect(essence(shown)).toEqual(essence(invoices.at(-1)));
      expect(invoices.at(-1).number).toMatch(new RegExp(`-00${started + 1}$`));
    },
  );

  test.each([
    ['in advance', '2024-03-15T09:00:00Z'],
    ['in arrears', '2024-04-02T00:00:00Z'],
  ])('a preview of a new subscription of a stored customer equals the later invoice %s', async (billed, until) => {
    const pay_in_advance = billed === 'in advance';
    await story.customer({ timezone: 'Asia/Tokyo' });
    await story.plan({ amount_cents: 3100, pay_in_advance });
    const shown = await preview({ customer: { external_id: 'acme' }, plan_code: 'plan', billing_time: 'calendar' });
    await story.subscribe();
    await story.advanceTo(until);
    const [invoice] = await story.invoices(1);
    expect(essence(shown)).toEqual(essence(invoice));
    expect(shown.fees_amount_cents).toBe(1700);
  });

  test.each([
    ['a start in advance', true, '2024-03-15T09:00:00Z'],
    ['a first period in arrears', false, '2024-04-02T00:00:00Z'],
  ])(
    'a preview with fixed charges and a minimum commitment equals the later invoice: %s',
    async (_name, pay_in_advance, until) => {
      await story.client.post('/add_ons', {
        add_on: { name: 'Seat', code: 'seat', amount_cents: 900, amount_currency: 'USD' },
      });
      await story.customer();
      await metered({
        pay_in_advance,
        minimum_commitment: { amount_cents: 90_000, invoice_display_name: 'At least' },
        fixed_charges: [true, false].map((inAdvance) => ({
          add_on_code: 'seat',
          code: `seat-${inAdvance}`,
          charge_model: 'standard',
          units: 3,
          pay_in_advance: inAdvance && pay_in_advance,
          prorated: true,
          properties: { amount: '10' },
        })),
      });
      const shown = await preview({ customer: { external_id: 'acme' }, plan_code: 'plan' });
      await story.subscribe();
      const stored = pay_in_advance ? undefined : await preview(ofAcme());
      await story.advanceTo(until);
      const [invoice] = await story.invoices(1);
      expect(essence(shown)).toEqual(essence(invoice));
      if (stored) expect(essence(stored)).toEqual(essence(invoice));
      const types = shown.fees.map((fee: Invoice) => fee.item.type);
      expect(types).toContain('fixed_charge');
      expect(types.includes('commitment')).toBe(!pay_in_advance);
    },
  );

  test('a preview of a termination equals the later invoice', async () => {
    await story.customer();
    await metered({ pay_in_advance: false });
    await story.subscribe();
    await call('1');
    const shown = await preview(ofAcme({ terminated_at: '2024-03-20T10:00:00Z' }));
    await story.advanceTo('2024-03-20T10:00:00Z');
    await story.client.delete('/subscriptions/sub');
    const [invoice] = await story.invoices(1);
    expect(essence(shown)).toEqual(essence(invoice));
  });

  test('a preview of an upgrade equals the later invoice', async () => {
    await story.customer();
    await metered({ pay_in_advance: false });
    await story.plan({ amount_cents: 9000, code: 'big', pay_in_advance: true });
    await story.subscribe();
    await story.advanceTo('2024-03-20T10:00:00Z');
    await call('1');
    const shown = await preview(ofAcme({ plan_code: 'big' }));
    await story.subscribe({ plan_code: 'big' });
    const [invoice] = await story.invoices(1);
    expect(shown.fees.map((fee: Invoice) => fee.item.code)).toContain('big');
    expect(essence(shown)).toEqual(essence(invoice));
    expect(shown.subscriptions).toHaveLength(2);
  });

  test('a preview of a downgrade, new or scheduled, equals the later invoice', async () => {
    await story.customer();
    await metered({ pay_in_advance: false });
    await story.plan({ amount_cents: 1000, code: 'small', pay_in_advance: true });
    await story.subscribe();
    await call('1');
    const asked = await preview(ofAcme({ plan_code: 'small' }));
    await story.subscribe({ plan_code: 'small' });
    const scheduled = await preview(ofAcme());
    await story.advanceTo('2024-04-02T00:00:00Z');
    const [invoice] = await story.invoices(1);
    expect(essence(scheduled)).toEqual(essence(invoice));
    expect(essence(asked)).toEqual(essence(invoice));
  });

  test('a preview of a subscription that ends before the period does equals the later invoice', async () => {
    await story.customer({ timezone: 'Europe/Paris' });
    await metered({ pay_in_advance: false });
    await story.subscribe({ ending_at: '2024-03-25T10:00:00Z' });
    const shown = await preview(ofAcme());
    await story.advanceTo('2024-04-02T00:00:00Z');
    const [invoice] = await story.invoices(1);
    expect(essence(shown)).toEqual(essence(invoice));
  });

  test('a preview of two subscriptions together equals the later invoice', async () => {
    await story.customer();
    await story.plan({ amount_cents: 1000 });
    await story.subscribe();
    await story.subscribe({ external_id: 'two' });
    const shown = await preview({
      customer: { external_id: 'acme' },
      subscriptions: { external_ids: ['sub', 'two'] },
    });
    await story.advanceTo('2024-04-02T00:00:00Z');
    const [invoice] = await story.invoices(1);
    expect(essence(shown)).toEqual(essence(invoice));
    expect(shown.fees).toHaveLength(2);
  });

  test('a preview of a subscription that starts later equals the later invoice', async () => {
    await story.customer();
    await story.plan({ amount_cents: 3000, pay_in_advance: true });
    await story.subscribe({ subscription_at: '2024-04-11T10:00:00Z' });
    const shown = await preview(ofAcme());
    await story.advanceTo('2024-04-12T00:00:00Z');
    const [invoice] = await story.invoices(1);
    expect(essence(shown)).toEqual(essence(invoice));
    expect(shown.fees_amount_cents).toBe(2000);
  });
});

describe('previews of records that are not stored', () => {
  test('a preview may be made for a customer that is not stored', async () => {
    await story.plan({ amount_cents: 3100, pay_in_advance: true });
    const before = await rowCounts();
    const shown = await preview({
      customer: { name: 'Jane', timezone: 'America/Los_Angeles', country: 'US' },
      plan_code: 'plan',
      billing_time: 'nonsense',
      subscription_at: '2024-04-01T03:00:00Z',
    });
    expect(shown.customer).toMatchObject({ name: 'Jane', timezone: 'America/Los_Angeles', country: 'US' });
    // Still March there: one day of 31.
    expect(shown).toMatchObject({ fees_amount_cents: 100, taxes_amount_cents: 20, total_amount_cents: 120 });
    expect(shown.issuing_date).toBe('2024-03-31');
    expect(await rowCounts()).toEqual(before);
  });

  test('a preview may change attributes of a stored customer, which keeps its own', async () => {
    await story.customer({ name: 'Acme' });
    await story.plan({ amount_cents: 3100, pay_in_advance: true });
    const shown = await preview({ customer: { external_id: 'acme', name: 'Other' }, plan_code: 'plan' });
    expect(shown.customer.name).toBe('Other');
    expect((await story.client.get('/customers/acme')).body.customer.name).toBe('Acme');
  });

  test('a preview may be issued by another billing entity', async () => {
    await story.plan({ amount_cents: 3100, pay_in_advance: true });
    await story.client.post('/billing_entities', {
      billing_entity: { code: 'second', name: 'Second', document_number_prefix: 'SEC' },
    });
    const shown = await preview({ customer: { name: 'Jane' }, plan_code: 'plan', billing_entity_code: 'second' });
    expect(shown).toMatchObject({ billing_entity_code: 'second', number: 'SEC-DRAFT' });
  });
});

describe('refused previews', () => {
  beforeEach(async () => {
    await story.customer();
    await story.plan({ amount_cents: 1000 });
    await story.plan({ amount_cents: 1000, code: 'euro', amount_currency: 'EUR' });
    await story.plan({ amount_cents: 1000, code: 'year', interval: 'yearly' });
    await story.client.post('/billing_entities', { billing_entity: { code: 'second', name: 'Second' } });
    await story.subscribe();
    await story.subscribe({ external_id: 'two' });
    await story.subscribe({ external_id: 'euro', plan_code: 'euro' });
    await story.subscribe({ external_id: 'year', plan_code: 'year' });
    await story.subscribe({ external_id: 'second', billing_entity_code: 'second' });
  });

  const two = (...external_ids: string[]) => ({ external_ids });
  const customer = { external_id: 'acme' };
  test.each([
    [{ customer, coupons: {} }, 400, 'coupons_must_be_an_array'],
    [{ customer, subscriptions: [] }, 400, 'subscriptions_must_be_an_object'],
    [{ plan_code: 'plan' }, 400, 'customer'],
    [{ customer: { external_id: 'who' }, plan_code: 'plan' }, 404, '"customer"'],
    [{ customer, plan_code: 'none' }, 404, '"plan"'],
    [{ customer }, 404, '"plan"'],
    [{ customer, plan_code: 'plan', billing_entity_code: 'none' }, 404, '"billing_entity"'],
    [{ customer, subscriptions: two('none') }, 404, '"subscription"'],
    [{ customer: { name: 'x' }, subscriptions: two('sub') }, 422, 'must_be_persisted'],
    [{ customer, subscriptions: two('sub', 'euro') }, 422, 'subscription_currencies_does_not_match'],
    [{ customer, subscriptions: two('sub', 'year') }, 422, 'billing_periods_does_not_match'],
    [{ customer, subscriptions: two('sub', 'second') }, 422, 'subscription_billing_entities_do_not_match'],
    [{ customer, subscriptions: { ...two('sub'), plan_code: 'none' } }, 404, '"plan"'],
    [
      { customer, subscriptions: { ...two('sub'), plan_code: 'plan' } },
      422,
      'new_plan_should_be_different_from_existing_plan',
    ],
    [
      { customer, subscriptions: { ...two('sub', 'two'), plan_code: 'year' } },
      422,
      'only_one_subscription_allowed_for_plan_change',
    ],
    [{ customer, subscriptions: { ...two('sub'), terminated_at: 'soon' } }, 422, 'invalid_timestamp'],
    [{ customer, subscriptions: { ...two('sub'), terminated_at: '2024-03-01T00:00:00Z' } }, 422, 'cannot_be_in_past'],
    [
      { customer, subscriptions: { ...two('sub', 'two'), terminated_at: '2024-04-01T00:00:00Z' } },
      422,
      'only_one_subscription_allowed_for_termination',
    ],
    [{ customer, plan_code: 'plan', coupons: [{ code: 'x' }] }, 404, 'coupon'],
  ])('a preview with %j is refused', async (body, status, code) => {
    const before = await rowCounts();
    const answer = await ask(body);
    expect(answer.status, answer.text).toBe(status);
    expect(answer.text).toContain(code);
    expect(await rowCounts()).toEqual(before);
  });
});
