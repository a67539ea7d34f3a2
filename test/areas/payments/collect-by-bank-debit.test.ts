import { request } from 'undici';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { pollPayment } from '../../../src/areas/payments/collect-payments/charge-over-network.ts';
import { openRuntime, type Runtime } from '../../../src/platform/process/runtime.ts';
import { reactions } from '../../../src/reactions.ts';
import type { Client } from '../../support/client.ts';
import {
  type FakeGocardless,
  fakeGocardless,
  GOCARDLESS_TOKEN,
  GOCARDLESS_WEBHOOK_SECRET,
} from '../../support/fakes/gocardless.ts';
import { startService, type TestService, UNSCHEDULED } from '../../support/service.ts';
import { until } from '../../support/until.ts';
import { ok } from '../../support/words.ts';

// Bank debits by GoCardless, from the mandate to the chargeback: provider-connections.md#gocardless.
let service: TestService;
let gocardless: FakeGocardless;
let runtime: Runtime;
let client: Client & { organization: { organization_id: string } };

// biome-ignore lint/suspicious/noExplicitAny: tests look into bodies of every shape
type Loose = any;

beforeAll(async () => {
  gocardless = await fakeGocardless();
  service = await startService({ settings: { GOCARDLESS_API_URL: gocardless.url }, pools: UNSCHEDULED });
  runtime = openRuntime(service.config, 'test', undefined, { reactions });
});
afterAll(async () => {
  await runtime.close();
  await service.stop();
  await gocardless.close();
});

const connect = (fields: object = {}, by: Client = client) =>
  by.post('/payment_providers', {
    payment_provider: {
      type: 'gocardless',
      code: 'debits',
      name: 'Debits',
      access_token: GOCARDLESS_TOKEN,
      webhook_secret: GOCARDLESS_WEBHOOK_SECRET,
      environment: 'sandbox',
      ...fields,
    },
  });

let connection: Loose;
beforeEach(async () => {
  client = await service.org();
  connection = (await ok(connect())).payment_provider;
});

/** Sends events as GoCardless does; the status of the answer. */
async function tell(...events: Loose[]): Promise<number> {
  const { body, headers } = gocardless.post(events);
  const { pathname, search } = new URL(connection.inbound_url);
  const answer = await request(`${service.url}${pathname}${search}`, { method: 'POST', headers, body });
  await answer.body.dump();
  return answer.statusCode;
}

/** Waits until what has arrived is handled. */
const handled = () =>
  until(async () => {
    const events = (await ok(client.get('/inbound_events?per_page=100'))).inbound_events;
    return events.every(({ status }: Loose) => status === 'succeeded');
  });

const methods = async (): Promise<Loose[]> =>
  (await ok(client.get('/customers/acme/payment_methods'))).payment_methods.toSorted((a: Loose, b: Loose) =>
    a.provider_method_id.localeCompare(b.provider_method_id),
  );
const defaults = async () =>
  (await methods()).map(({ provider_method_id: id, is_default: isDefault }) => [id, isDefault]);

/** A mandate of the customer, signed on a page of its own, and told by its event. */
async function sign(fields: object = {}): Promise<Loose> {
  const before = new Set(gocardless.billingRequests.keys());
  const { customer } = await ok(client.post('/customers/acme/checkout_url', {}));
  expect(customer.checkout_url).toContain('https://pay-sandbox.test/flow');
  const page = [...gocardless.billingRequests.values()].find(({ id }) => !before.has(id));
  const mandate = gocardless.sign(page.id, fields);
  await tell(
    gocardless.event('mandates', 'created', { links: { mandate: mandate.id }, resource_metadata: mandate.metadata }),
  );
  await until(async () => (await methods()).find(({ provider_method_id: id }) => id === mandate.id));
  return mandate;
}

async function customer(): Promise<Loose> {
  const billing = { payment_provider: 'gocardless', payment_provider_code: 'debits', sync_with_provider: true };
  await ok(
    client.post('/customers', {
      customer: { external_id: 'acme', name: 'Acme', currency: 'GBP', billing_configuration: billing },
    }),
  );
  await until(async () => {
    const { customer: now } = await ok(client.get('/customers/acme'));
    return now.billing_configuration.provider_customer_id as string | undefined;
  });
  // The page that the service offers by itself has been opened.
  await until(async () => gocardless.billingRequests.size > 0);
  return sign();
}

async function bill(cents = 700): Promise<Loose> {
  await client.post('/add_ons', {
    add_on: { name: 'Setup', code: `s${cents}`, amount_cents: cents, amount_currency: 'GBP' },
  });
  const fees = [{ add_on_code: `s${cents}` }];
  return (await ok(client.post('/invoices', { invoice: { external_customer_id: 'acme', currency: 'GBP', fees } })))
    .invoice;
}

const read = async (made: Loose): Promise<Loose> => (await ok(client.get(`/invoices/${made.svc_id}`))).invoice;
const paymentOf = (made: Loose, status: string): Promise<Loose> =>
  until(async () =>
    (await ok(client.get(`/payments?invoice_id=${made.svc_id}`))).payments.find(
      (each: Loose) => each.payment_status === status,
    ),
  );
/** The payment of an invoice at GoCardless, once it is known here. */
async function debitOf(made: Loose): Promise<Loose> {
  const { provider_payment_id: id } = await paymentOf(made, 'processing');
  return gocardless.payments.get(id);
}

describe('connections', () => {
  test('show their settings and the last characters of their secrets, and move no real money', () => {
    expect(connection).toMatchObject({
      type: 'gocardless',
      status: 'connected',
      live: false,
      settings: { environment: 'sandbox' },
      access_token_last4: GOCARDLESS_TOKEN.slice(-4),
      webhook_secret_last4: GOCARDLESS_WEBHOOK_SECRET.slice(-4),
    });
    expect(connection.capabilities).toContain('mandate');
    expect(connection.capabilities).not.toContain('payment_page');
  });

  test.each([
    ['without token', { access_token: undefined }, { access_token: ['value_is_mandatory'] }],
    ['in an unknown environment', { environment: 'test' }, { environment: ['value_is_invalid'] }],
    ['that settles on something else', { settle_on: 'submitted' }, { settle_on: ['value_is_invalid'] }],
    ['with a secret of another type', { secret_key: 'sk_test_1' }, { secret_key: ['value_is_invalid'] }],
  ])('%s are refused', async (_, fields, details) => {
    const refused = await connect({ code: 'other', ...fields });
    expect([refused.status, refused.body.error_details]).toEqual([422, details]);
  });

  test('with an unknown token are refused with the words of GoCardless, and nothing is stored', async () => {
    const refused = await connect({ code: 'other', access_token: 'nonsense' });
    expect([refused.status, refused.body.error_details]).toEqual([
      422,
      { third_party: 'gocardless', thirdparty_error: 'access_token_not_found' },
    ]);
    expect((await client.get('/payment_providers/other')).status).toBe(404);
  });

  test('of a sandbox reach no live account', async () => {
    const sandbox = await service.org({ sandbox: true });
    for (const environment of ['live', undefined]) {
      const refused = await connect({ environment }, sandbox);
      expect(refused.body.error_details).toEqual({ environment: ['live_key_in_sandbox'] });
    }
    await ok(connect({}, sandbox));
  });

  test('have no page to pay one invoice', async () => {
    await customer();
    const made = await bill();
    const refused = await client.post(`/invoices/${made.svc_id}/payment_url`, {});
    expect(refused.body.error_details).toEqual({ base: ['invalid_payment_provider'] });
  });
});

describe('mandates', () => {
  test('become methods with their scheme and bank, and the newest one pays', async () => {
    const first = await customer();
    const second = await sign({ scheme: 'bacs', last4: '9921', bank: 'LLOYDS' });
    expect(await defaults()).toEqual([
      [first.id, false],
      [second.id, true],
    ]);
    const [row] = await service.sql`
      select method_type, details from payment_methods where provider_method_id = ${second.id}`;
    expect(row).toMatchObject({
      method_type: 'bank_debit',
      details: { scheme: 'bacs', bank: 'LLOYDS', last4: '9921' },
    });
  });

  test('that a later event repeats leave the default where it was put', async () => {
    const first = await customer();
    const second = await sign();
    const [id] = (await methods()).filter(({ provider_method_id: there }) => there === first.id);
    await ok(client.put(`/customers/acme/payment_methods/${id.svc_id}/set_as_default`, {}));
    await tell(gocardless.event('mandates', 'active', { links: { mandate: second.id } }));
    await handled();
    await until(async () => {
      const [owed] = await service.sql`
        select methods_owed_at from customers where organization_id = ${client.organization.organization_id}`;
      return owed!.methods_owed_at === null;
    });
    expect(await defaults()).toEqual([
      [first.id, true],
      [second.id, false],
    ]);
  });

  test.each(['cancelled', 'expired', 'failed', 'blocked'])(
    'that are %s pay no more; the newest other one does',
    async (action) => {
      const first = await customer();
      const second = await sign();
      await tell(gocardless.event('mandates', action, { links: { mandate: second.id } }));
      await until(async () => (await methods()).length === 1);
      expect(await defaults()).toEqual([[first.id, true]]);
    },
  );

  test('that are replaced stay the same method under another id, whichever event comes first', async () => {
    const mandate = await customer();
    const [before] = await methods();
    const newer = { ...mandate, id: `${mandate.id}N`, links: { ...mandate.links } };
    gocardless.mandates.set(newer.id, newer);
    Object.assign(mandate, { status: 'cancelled', links: { ...mandate.links, new_mandate: newer.id } });
    await tell(
      gocardless.event('mandates', 'created', { links: { mandate: newer.id }, resource_metadata: newer.metadata }),
    );
    await until(async () => (await methods())[0]?.provider_method_id === newer.id);
    await tell(gocardless.event('mandates', 'replaced', { links: { mandate: mandate.id, new_mandate: newer.id } }));
    await handled();
    const after = await methods();
    expect(after.map(({ svc_id, is_default }) => [svc_id, is_default])).toEqual([[before.svc_id, true]]);
  });
});

describe('while a debit settles', () => {
  test('its invoice is pending, is not charged again, and the payment says when it is expected', async () => {
    await customer();
    const made = await bill();
    const debit = await debitOf(made);
    expect(debit).toMatchObject({
      amount: 700,
      currency: 'GBP',
      metadata: { payable_type: 'Invoice', payable_id: made.svc_id },
    });
    await tell(...gocardless.move(debit, 'submitted', 'confirmed'));
    await handled();
    expect(await paymentOf(made, 'processing')).toMatchObject({
      status: 'confirmed',
      expected_settlement_date: '2026-12-01',
    });
    expect(await read(made)).toMatchObject({ payment_status: 'pending', total_paid_amount_cents: 0 });
    const again = await client.post(`/invoices/${made.svc_id}/retry_payment`, {});
    expect(again.body.code).toBe('payment_processor_is_currently_handling_payment');
  });

  test('it is final with its payout', async () => {
    await customer();
    const made = await bill();
    await tell(...gocardless.move(await debitOf(made), 'submitted', 'confirmed', 'paid_out'));
    await paymentOf(made, 'succeeded');
    expect(await read(made)).toMatchObject({ payment_status: 'succeeded', total_paid_amount_cents: 700 });
  });

  test('what was read there is not undone by a report about an earlier instant', async () => {
    await customer();
    const made = await bill();
    const debit = await debitOf(made);
    const [late] = gocardless.move(debit, 'failed');
    debit.status = 'paid_out';
    const { svc_id: id } = await paymentOf(made, 'processing');
    const { organization_id } = client.organization;
    await pollPayment(runtime, { organization_id, payment_id: id } as never);
    await paymentOf(made, 'succeeded');
    await tell({ ...late, created_at: new Date(Date.now() - 60_000).toISOString() });
    await handled();
    expect(await read(made)).toMatchObject({ payment_status: 'succeeded', total_paid_amount_cents: 700 });
  });

  test('a connection that settles on the confirmation has it some days earlier', async () => {
    await ok(client.put('/payment_providers/debits', { payment_provider: { settle_on: 'confirmed' } }));
    await customer();
    const made = await bill();
    await tell(...gocardless.move(await debitOf(made), 'submitted', 'confirmed'));
    await paymentOf(made, 'succeeded');
    expect(await read(made)).toMatchObject({ payment_status: 'succeeded', total_paid_amount_cents: 700 });
  });

  test('a void cancels it there before it goes to the banks', async () => {
    await customer();
    const made = await bill();
    const debit = await debitOf(made);
    await ok(client.post(`/invoices/${made.svc_id}/void`, {}));
    await until(async () => debit.status === 'cancelled');
    expect(await paymentOf(made, 'failed')).toMatchObject({ status: expect.stringMatching(/^cancell?ed$/) });
  });

  test('after a void that came too late the money goes to the unapplied receipts', async () => {
    await customer();
    const made = await bill();
    const debit = await debitOf(made);
    debit.status = 'submitted';
    await ok(client.post(`/invoices/${made.svc_id}/void`, {}));
    await until(async () => gocardless.calls.includes(`POST /payments/${debit.id}/actions/cancel`));
    expect(debit.status).toBe('submitted');
    await tell(...gocardless.move(debit, 'confirmed', 'paid_out'));
    await paymentOf(made, 'succeeded');
    expect(await booked(made, 'unapplied_receipts')).toEqual([['payment_succeeded', 'credit', 700]]);
  });

  test('a failure that GoCardless will try again leaves the payment under way', async () => {
    await customer();
    const made = await bill();
    const debit = await debitOf(made);
    const [failed] = gocardless.move(debit, 'failed');
    await tell({ ...failed, details: { ...failed.details, will_attempt_retry: true } });
    await handled();
    expect(await read(made)).toMatchObject({ payment_status: 'pending' });
    await paymentOf(made, 'processing');
  });

  test('a body of 250 events is stored event by event', async () => {
    const events = Array.from({ length: 250 }, (_, n) =>
      gocardless.event('payments', 'submitted', { links: { payment: `PMX${n}` } }),
    );
    expect(await tell(...events)).toBe(200);
    const [row] = await service.sql`
      select count(*)::int as count from inbound_events where organization_id = ${client.organization.organization_id}`;
    expect(row!.count).toBe(250);
  });
});

/** The entries of an account by the payments of an invoice, oldest first: rule, side and amount. */
async function booked(made: Loose, account: string): Promise<[string, string, number][]> {
  const { payments } = await ok(client.get(`/payments?invoice_id=${made.svc_id}`));
  const { ledger_entries: entries } = await ok(
    client.get(`/ledger/entries?payment_id=${payments[0].svc_id}&account_codes[]=${account}`),
  );
  return entries
    .toSorted((a: Loose, b: Loose) => a.sequence - b.sequence)
    .map(({ rule, side, amount_cents: cents }: Loose) => [rule, side, cents]);
}

describe('taken back', () => {
  // Golden case FI23.
  test('FI23 a debit of 700 that was paid out and charged back is due again, and its receipt says so', async () => {
    await customer();
    const made = await bill(700);
    const debit = await debitOf(made);
    await tell(...gocardless.move(debit, 'submitted', 'confirmed', 'paid_out'));
    await paymentOf(made, 'succeeded');
    await tell(...gocardless.move(debit, 'charged_back'));
    await paymentOf(made, 'failed');
    const invoice = await read(made);
    expect(invoice).toMatchObject({
      payment_status: 'failed',
      total_paid_amount_cents: 0,
      total_due_amount_cents: 700,
    });
    expect(invoice.fees.map(({ payment_status: status }: Loose) => status)).toEqual(['failed']);
    const { payment_receipts: receipts } = await ok(client.get(`/payment_receipts?invoice_id=${made.svc_id}`));
    expect(receipts).toHaveLength(1);
    expect(receipts[0].reversed_at).toMatch(/^\d{4}-\d\d-\d\dT/);
    expect(await booked(made, 'cash')).toEqual([
      ['payment_succeeded', 'debit', 700],
      ['payment_reversed', 'credit', 700],
    ]);
    expect(await booked(made, 'receivable')).toEqual([
      ['payment_succeeded', 'credit', 700],
      ['payment_reversed', 'debit', 700],
    ]);
  });

  test('a payout that is reported after the chargeback, but happened before it, brings nothing back', async () => {
    await customer();
    const made = await bill();
    const debit = await debitOf(made);
    const [paidOut, chargedBack] = gocardless.move(debit, 'paid_out', 'charged_back');
    await tell(chargedBack);
    await paymentOf(made, 'failed');
    await tell(paidOut);
    await handled();
    expect(await read(made)).toMatchObject({ payment_status: 'failed', total_paid_amount_cents: 0 });
  });

  test('a chargeback that the bank withdraws brings the money back', async () => {
    await customer();
    const made = await bill();
    const debit = await debitOf(made);
    await tell(...gocardless.move(debit, 'paid_out', 'charged_back'));
    await paymentOf(made, 'failed');
    await tell(...gocardless.move(debit, 'chargeback_cancelled'));
    await paymentOf(made, 'succeeded');
    expect(await read(made)).toMatchObject({ payment_status: 'succeeded', total_paid_amount_cents: 700 });
    const { payment_receipts: receipts } = await ok(client.get(`/payment_receipts?invoice_id=${made.svc_id}`));
    expect(receipts[0]).not.toHaveProperty('reversed_at');
  });

  test('a confirmed debit that counted as paid and fails later is due again', async () => {
    await ok(client.put('/payment_providers/debits', { payment_provider: { settle_on: 'confirmed' } }));
    await customer();
    const made = await bill();
    const debit = await debitOf(made);
    await tell(...gocardless.move(debit, 'submitted', 'confirmed'));
    await paymentOf(made, 'succeeded');
    await tell(...gocardless.move(debit, 'failed'));
    await paymentOf(made, 'failed');
    expect(await read(made)).toMatchObject({ payment_status: 'failed', total_paid_amount_cents: 0 });
  });
});

describe('a mandate', () => {
  /** The debit of a new invoice comes to these states. */
  async function moved(cents: number, ...states: string[]): Promise<void> {
    const made = await bill(cents);
    await tell(...gocardless.move(await debitOf(made), ...states));
    await paymentOf(made, 'failed');
  }

  test.each([
    ['two failures', ['failed'], ['failed'], false],
    ['a failure and a chargeback', ['failed'], ['paid_out', 'charged_back'], false],
    ['a failure and a debit that was called off', ['failed'], ['cancelled'], true],
  ])('after %s within 90 days: is it the default still?', async (_, first, second, isDefault) => {
    const older = await customer();
    const newer = await sign();
    await moved(700, ...first);
    await moved(800, ...second);
    expect(Object.fromEntries(await defaults())).toEqual({ [older.id]: !isDefault, [newer.id]: isDefault });
  });

  test('does not fail by a payment that we have given back', async () => {
    const { id } = await customer();
    await moved(700, 'failed');
    await service.sql`
      update payments set status = 'refunded' where organization_id = ${client.organization.organization_id}`;
    await moved(800, 'failed');
    expect(await defaults()).toEqual([[id, true]]);
  });

  test('of which two payments failed 91 days apart stays the default', async () => {
    const { id } = await customer();
    await moved(700, 'failed');
    await service.sql`
      update payments set updated_at = updated_at - interval '91 days'
      where organization_id = ${client.organization.organization_id}`;
    await moved(800, 'failed');
    expect(await defaults()).toEqual([[id, true]]);
    await moved(900, 'failed');
    expect(await defaults()).toEqual([[id, false]]);
    // Nothing is collected by it any more.
    const made = await bill(1000);
    await handled();
    expect((await ok(client.get(`/payments?invoice_id=${made.svc_id}`))).payments).toEqual([]);
  });
});

test.each([
  [191, ['timeout_too_short']],
  [192, undefined],
  [0, undefined],
])('a subscription that waits %d hours for a debit is refused: %j', async (timeout_hours, codes) => {
  await customer();
  const plan = { name: 'P', code: 'p', interval: 'monthly', amount_cents: 1000, amount_currency: 'GBP' };
  await ok(client.post('/plans', { plan: { ...plan, pay_in_advance: true } }));
  const subscription = { external_customer_id: 'acme', plan_code: 'p', external_id: 'sub' };
  const rules = { activation_rules: [{ type: 'payment', timeout_hours }] };
  const answer = await client.post('/subscriptions', { subscription: { ...subscription, ...rules } });
  expect([answer.status, answer.body.error_details?.activation_rules]).toEqual([codes ? 422 : 200, codes]);
});

test('a part of a debit is refunded, and its event ends the refund', async () => {
  await customer();
  const made = await bill(1200);
  await tell(...gocardless.move(await debitOf(made), 'submitted', 'confirmed', 'paid_out'));
  await paymentOf(made, 'succeeded');
  const { fees } = await read(made);
  const { credit_note: note } = await ok(
    client.post('/credit_notes', {
      credit_note: {
        invoice_id: made.svc_id,
        reason: 'other',
        refund_amount_cents: 500,
        items: [{ fee_id: fees[0].svc_id, amount_cents: 500 }],
      },
    }),
  );
  const refund = await until(async () =>
    [...gocardless.refunds.values()].find(({ metadata }) => metadata.credit_note_id === note.svc_id),
  );
  expect(refund).toMatchObject({ amount: 500, total_amount_confirmation: 500 });
  const status = async () => (await ok(client.get(`/credit_notes/${note.svc_id}`))).credit_note.refund_status;
  expect(await status()).toBe('pending');
  await tell(gocardless.event('refunds', 'paid', { links: { refund: refund.id }, resource_metadata: refund.metadata }));
  await until(async () => (await status()) === 'succeeded');
});

test('a debit that takes its days is no charge that nobody confirms: it is read, and not cancelled', async () => {
  await customer();
  const made = await bill();
  const { svc_id: payment_id, next_action } = await paymentOf(made, 'processing');
  expect(next_action).toEqual({});
  await service.sql`update payments set charged_at = now() - interval '96 hours' where id = ${payment_id}`;
  const before = gocardless.calls.length;
  await pollPayment(runtime, { organization_id: client.organization.organization_id, payment_id } as never);
  expect(gocardless.calls.slice(before)).toEqual([expect.stringMatching(/^GET \/payments\//)]);
  await paymentOf(made, 'processing');
});
